/* SPDX-License-Identifier: Apache-2.0 */
/* Makes docs/opsplit-library.md from the tables. */
#include <string.h>

#include "opsplit/logic.h"

static const char head[] =
    "# The library of sub-operators\n"
    "\n"
    "<!-- Generated from base/include/base/op_catalog.def and opsplit/src/library/templates.c by "
    "`cmake --build . --target hac_opsplit_docs`; do not edit. -->\n"
    "\n"
    "All pieces that an OP of a logic file can have. [flows/opsplit.md](flows/opsplit.md) explains the "
    "language, "
    "[opsplit.schema.json](opsplit.schema.json) describes it for editors.\n"
    "\n"
    "## Vector templates\n"
    "\n"
    "| Template | Holds | Is split | As a `value` |\n"
    "|---|---|---|---|\n";

static const char elements[] = "\n"
                               "Elements are `bool`, `i32`, `i64`, `u32`, `u64`, `f32` and `f64`; those of a "
                               "SparseTextVector are `string`. There are no nulls.\n"
                               "\n"
                               "## Map interfaces\n"
                               "\n"
                               "| `operation` | What an OP walks |\n"
                               "|---|---|\n";

static const char list_head[] = "\n"
                                "## Sub-operators\n"
                                "\n"
                                "| Sub-operator | What it does | Codelets | Runs on | Cost counts |\n"
                                "|---|---|---|---|---|\n";

static const char arguments_head[] = "\n"
                                     "*Rows* and *columns* are letters. Arguments with the same letter have "
                                     "the same number of rows or columns. `*` is "
                                     "a number that only the data gives, `=` the number of the counterpart "
                                     "in `in`. Every piece may also have `device`: "
                                     "a processor type (cpu, gpu, fpga, dsp, arm) or the name of a device. "
                                     "Expressions with `exp`, `sin`, `pow` … or "
                                     "with strings run on a CPU, if there is one.\n";

static const char *const element_texts[HAC_ELEMENT_END] = {
    [HAC_ELEMENT_VALUE] = "numbers or bool",
    [HAC_ELEMENT_NUMBER] = "numbers",
    [HAC_ELEMENT_INTEGER] = "whole numbers",
    [HAC_ELEMENT_FLOAT] = "f32 or f64",
    [HAC_ELEMENT_LINEAR] = "i64, f32 or f64",
    [HAC_ELEMENT_ANY] = "any",
    [HAC_ELEMENT_TEXT] = "string",
    [HAC_ELEMENT_BOOL] = "bool",
    [HAC_ELEMENT_U32] = "u32",
    [HAC_ELEMENT_U64] = "u64",
    [HAC_ELEMENT_I64] = "i64",
    [HAC_ELEMENT_F64] = "f64",
    [HAC_ELEMENT_TOTAL] =
        "sums: i64, u64 or f64; min, max, largest: i64, u64 or the float itself; count: u64",
    [HAC_ELEMENT_KEYED] = "f64 for floats and for mean, else i64",
};

static const char *const kind_texts[HAC_ARGUMENT_KIND_END] = {
    [HAC_ARGUMENT_VECTOR] = "vector",
    [HAC_ARGUMENT_VECTORS] = "vector, or a list",
    [HAC_ARGUMENT_EXPRESSION] = "expression of rows",
    [HAC_ARGUMENT_SCALAR] = "number, or expression of Vars",
    [HAC_ARGUMENT_EXTENT] = "whole number, Var, or a vector with as many rows",
    [HAC_ARGUMENT_INTEGER] = "whole number",
    [HAC_ARGUMENT_TRUTH] = "`true` or `false` (the default)",
    [HAC_ARGUMENT_RESULT] = "result",
    [HAC_ARGUMENT_RESULTS] = "result, or a list",
    [HAC_ARGUMENT_ASSIGNMENTS] = "expression",
};

static void add_words(hac_text *out, const char *words)
{
    bool first = true;
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        hac_text_addf(out, "%s`%.*s`%s", first ? "" : ", ", (int)length, words,
                      first ? " (the default)" : "");
        words += length;
        words += strspn(words, " ");
        first = false;
    }
}

static void add_forms(hac_text *out, unsigned forms)
{
    bool first = true;
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        if ((forms >> i & 1) != 0) {
            hac_text_addf(out, "%s%s", first ? "" : ", ",
                          hac_vector_template_get((hac_vector_template)i)->name);
            first = false;
        }
}

static void add_elements(hac_text *out, const hac_subop_argument *a)
{
    if (a->elements == HAC_ELEMENT_SAME)
        hac_text_addf(out, "as `%s`", a->same);
    else
        hac_text_add(out, element_texts[a->elements]);
}

static bool has_shape(hac_argument_kind kind)
{
    return kind == HAC_ARGUMENT_VECTOR || kind == HAC_ARGUMENT_VECTORS || kind == HAC_ARGUMENT_RESULT ||
           kind == HAC_ARGUMENT_RESULTS || kind == HAC_ARGUMENT_EXPRESSION;
}

static void add_argument(hac_text *out, const hac_subop_argument *a)
{
    bool shape = has_shape(a->kind), needed = (a->flags & HAC_ARGUMENT_REQUIRED) != 0;
    bool some = (a->flags & (HAC_ARGUMENT_ONE_OF | HAC_ARGUMENT_EITHER)) != 0;
    hac_text_addf(out, "| `%s` | ", a->name);
    if (a->kind == HAC_ARGUMENT_WORD)
        add_words(out, a->words);
    else
        hac_text_add(out, kind_texts[a->kind]);
    hac_text_addf(out, " | %s | ", needed ? "yes" : some ? "one of these" : "");
    add_forms(out, a->forms);
    hac_text_add(out, " | ");
    if (shape || a->kind == HAC_ARGUMENT_SCALAR)
        add_elements(out, a);
    hac_text_addf(out, " | %s | %s | %s |\n", shape && a->rows != NULL ? a->rows : "",
                  shape && a->columns != NULL ? a->columns : "", a->text != NULL ? a->text : "");
}

static void add_codelets(hac_text *out, const hac_subop_info *s)
{
    if (s->codelets[0] == '\0') {
        hac_text_add(out, s->walk == HAC_WALK_CONTROL ? "control flow" : "work of the client");
        return;
    }
    hac_text_addf(out, "`%s`", s->codelets);
}

static void add_subop(hac_text *out, const hac_subop_info *s)
{
    hac_text_addf(out, "\n### %s\n\n%c%s.\n", s->name, s->text[0] - 'a' + 'A', s->text + 1);
    if (s->arguments[0].name != NULL)
        hac_text_add(out, "\n| Argument | Takes | Needed | Templates | Elements | Rows | Columns | |\n"
                          "|---|---|---|---|---|---|---|---|\n");
    for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++)
        if ((a->flags & HAC_ARGUMENT_MADE) == 0)
            add_argument(out, a);
    hac_text_addf(out, "\n```yaml\n%s\n```\n", s->example);
}

void hac_library_reference(hac_text *ret)
{
    hac_text_add(ret, head);
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++) {
        const hac_vector_template_info *t = hac_vector_template_get((hac_vector_template)i);
        hac_text_addf(ret, "| `%s` | %s | %s | %s%s%s |\n", t->name, t->holds, t->split,
                      t->value[0] == '{' ? "`" : "", t->value, t->value[0] == '{' ? "`" : "");
    }
    hac_text_add(ret, elements);
    for (int i = HAC_OPERATION_NONE + 1; i < HAC_OPERATION_END; i++)
        hac_text_addf(ret, "| `%s` | %s |\n", hac_operation_name((hac_operation)i),
                      hac_operation_text((hac_operation)i));
    hac_text_add(ret, list_head);
    for (int i = HAC_SUBOP_NONE + 1; i < HAC_SUBOP_END; i++) {
        const hac_subop_info *s = hac_subop_get((hac_subop_id)i);
        hac_text_addf(ret, "| [`%s`](#%s) | %s | ", s->name, s->name, s->text);
        add_codelets(ret, s);
        hac_text_addf(ret, " | %s | %s |\n", s->kinds, s->unit);
    }
    hac_text_add(ret, arguments_head);
    for (int i = HAC_SUBOP_NONE + 1; i < HAC_SUBOP_END; i++)
        add_subop(ret, hac_subop_get((hac_subop_id)i));
}
