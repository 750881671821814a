/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/partial.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "expr/aggregate.h"
#include "language/functions.h"
#include "syntax/lexer.h"

#define ITEMS_MAX  256
#define TOKENS_MAX 4096

/* The tokens of a text. The expression of an item is tokens [first, end). */
typedef struct tokens {
    hac_token list[TOKENS_MAX + 1]; /* the last token is HAC_TOKEN_END */
    size_t n;
} tokens;

typedef struct item {
    const tokens *of;
    size_t first, end;
    const char *text; /* the text of the expression */
    size_t bytes;
    char *name;     /* the name of the column */
    bool named;     /* the item has `as` */
    bool direction; /* the item has asc or desc */
    bool descending;
} item;

typedef struct items {
    tokens tokens;
    item list[ITEMS_MAX];
    size_t n;
} items;

typedef struct work {
    items keys, having, select, order, limit_by;
    hac_partial *partial;
    hac_text values[HAC_PARTIAL_VALUES]; /* the calls that are columns "#0", "#1" … of the parts */
    hac_text part_select, select_out, part_group_by, group_by_out, having_out, order_out, limit_by_out;
} work;

static hac_status unsupported(hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED, "this query cannot be split into two steps");
}

/* ---- items ---- */

static hac_status read_tokens(const hac_expr_source *source, tokens *ret, hac_error *err)
{
    hac_lexer lexer = {source, source->text};
    for (ret->n = 0; ret->n < TOKENS_MAX; ret->n++) {
        hac_status status = hac_lexer_next(&lexer, &ret->list[ret->n], err);
        if (status != HAC_OK || ret->list[ret->n].kind == HAC_TOKEN_END)
            return status;
    }
    return unsupported(err);
}

static bool is_name(const hac_token *token)
{
    return token->kind == HAC_TOKEN_NAME || token->kind == HAC_TOKEN_QUOTED;
}

/* A name without its quotes, in memory of malloc. */
static char *name_of(const hac_token *token)
{
    if (token->kind == HAC_TOKEN_NAME)
        return strndup(token->text, token->bytes);
    char *name = malloc(token->bytes + 1);
    if (name != NULL)
        name[hac_token_unquote(token, name)] = '\0';
    return name;
}

/* Whether a word or a number of the item refers to the whole list, or orders nulls: a number as the place of
 * a column, `all`, `* exclude (…)`, `nulls first`. */
static bool is_special(const hac_token *t, size_t n)
{
    if (n == 1 && (t->kind == HAC_TOKEN_NUMBER || hac_token_is_word(t, "all")))
        return true;
    for (size_t i = 0; i < n; i++)
        if (hac_token_is_word(&t[i], "nulls") ||
            (i == 1 && hac_token_is_symbol(&t[0], "*") && t[i].kind == HAC_TOKEN_NAME))
            return true;
    return false;
}

/* Adds the item of tokens [first, end), and takes `as name`, asc and desc off its expression. */
static hac_status finish_item(items *list, size_t first, size_t end, hac_error *err)
{
    if (first == end || list->n == ITEMS_MAX)
        return unsupported(err);
    const hac_token *t = list->tokens.list;
    if (is_special(t + first, end - first))
        return unsupported(err);
    item *i = &list->list[list->n];
    *i = (item){.of = &list->tokens, .first = first};
    if (end - first > 1 &&
        (hac_token_is_word(&t[end - 1], "asc") || hac_token_is_word(&t[end - 1], "desc"))) {
        i->direction = true;
        i->descending = hac_token_is_word(&t[--end], "desc");
    }
    if (end - first > 2 && hac_token_is_word(&t[end - 2], "as") && is_name(&t[end - 1])) {
        i->named = true;
        i->name = name_of(&t[end - 1]);
        end -= 2;
    }
    i->end = end;
    i->text = t[first].text;
    i->bytes = (size_t)(t[end - 1].text + t[end - 1].bytes - i->text);
    if (!i->named) /* the name of a column is the column, without quotes */
        i->name = end - first == 1 && is_name(&t[first]) ? name_of(&t[first]) : strndup(i->text, i->bytes);
    list->n++;
    return i->name != NULL ? HAC_OK : hac_fail_no_memory(err);
}

static hac_status read_items(const char *text, items *ret, hac_error *err)
{
    hac_expr_source source = {"", text != NULL ? text : "", NULL};
    hac_status status = read_tokens(&source, &ret->tokens, err);
    size_t first = 0, depth = 0;
    for (size_t i = 0; i < ret->tokens.n && status == HAC_OK; i++) {
        const hac_token *t = &ret->tokens.list[i];
        depth += hac_token_is_symbol(t, "(");
        depth -= hac_token_is_symbol(t, ")") && depth > 0;
        if (depth > 0 || !hac_token_is_symbol(t, ","))
            continue;
        status = finish_item(ret, first, i, err);
        first = i + 1;
    }
    return status == HAC_OK && ret->tokens.n > 0 ? finish_item(ret, first, ret->tokens.n, err) : status;
}

/* ---- what a name is ---- */

static bool is_call(const tokens *t, size_t i)
{
    return t->list[i].kind == HAC_TOKEN_NAME && hac_token_is_symbol(&t->list[i + 1], "(");
}

static const hac_function *function_of(const hac_token *token)
{
    char name[32];
    if (token->bytes >= sizeof name)
        return NULL;
    for (size_t i = 0; i < token->bytes; i++)
        name[i] =
            (char)(token->text[i] >= 'A' && token->text[i] <= 'Z' ? token->text[i] + 32 : token->text[i]);
    name[token->bytes] = '\0';
    return hac_function_find(name);
}

static bool has_aggregates(const items *list)
{
    for (size_t i = 0; i + 1 < list->tokens.n; i++) {
        const hac_function *f = is_call(&list->tokens, i) ? function_of(&list->tokens.list[i]) : NULL;
        if (f != NULL && f->section == HAC_SECTION_AGGREGATE)
            return true;
    }
    return false;
}

static const item *find_named(const items *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return &list->list[i];
    return NULL;
}

static bool same_text(const item *a, const item *b)
{
    return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

static const item *find_key(const work *w, const item *like)
{
    for (size_t i = 0; i < w->keys.n; i++)
        if (same_text(&w->keys.list[i], like))
            return &w->keys.list[i];
    return NULL;
}

/* ---- aggregates ---- */

/* The index of the part's column with that call, which may be new. */
static hac_status add_value(work *w, const char *function, const item *argument, hac_partial_use use,
                            size_t *ret, hac_error *err)
{
    hac_text call = HAC_TEXT_NONE;
    hac_text_addf(&call, "%s(", function);
    hac_text_add_bytes(&call, argument->text, argument->bytes);
    hac_text_add(&call, ")");
    size_t n = w->partial->n_values, i = 0;
    while (i < n &&
           (w->values[i].bytes != call.bytes || memcmp(w->values[i].data, call.data, call.bytes) != 0))
        i++;
    if (i == HAC_PARTIAL_VALUES || call.broken) {
        hac_status status = call.broken ? hac_fail_no_memory(err) : unsupported(err);
        hac_text_clear(&call);
        return status;
    }
    if (i < n)
        hac_text_clear(&call);
    else
        w->values[w->partial->n_values++] = call;
    if (use > w->partial->uses[i])
        w->partial->uses[i] = use;
    *ret = i;
    return HAC_OK;
}

/* The index of the token behind the call's closing parenthesis; 0: the parenthesis is missing. */
static size_t end_of_call(const tokens *t, size_t open)
{
    size_t depth = 0;
    for (size_t i = open; i < t->n; i++) {
        depth += hac_token_is_symbol(&t->list[i], "(");
        depth -= hac_token_is_symbol(&t->list[i], ")");
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

static hac_status rewrite_aggregate(work *w, const hac_aggregate_info *info, const tokens *t, size_t at,
                                    size_t end, hac_text *out, hac_error *err)
{
    item argument = {.text = t->list[at + 1].text + 1};
    argument.bytes = (size_t)(t->list[end - 1].text - argument.text);
    size_t sum = 0;
    if (hac_token_is_word(&t->list[at + 2], "distinct"))
        return unsupported(err);
    if (info->merged_by == NULL)
        return unsupported(err);
    hac_partial_use use =
        info == hac_aggregate_info_of(HAC_AGGREGATE_SUM) ? HAC_PARTIAL_SUM : HAC_PARTIAL_EXACT;
    hac_status status = add_value(w, info->name, &argument, use, &sum, err);
    if (status == HAC_OK)
        hac_text_addf(out, "%s(\"#%zu\")", info->merged_by, sum);
    return status;
}

/* ---- expressions of the whole ---- */

/* A token outside of aggregates may be a key, an output that --order-by, --having or --limit-by names, or
 * something that does not depend on rows. */
static hac_status rewrite_token(const work *w, const item *in, const hac_token *token, hac_text *out,
                                hac_error *err)
{
    static const char *const words[] = {"null", "true", "false", "and", "or", "not", "is"};
    if (!is_name(token)) {
        hac_text_add_bytes(out, token->text, token->bytes);
        return HAC_OK;
    }
    hac_autofree char *name = name_of(token);
    if (name == NULL)
        return hac_fail_no_memory(err);
    const item *key = find_named(&w->keys, name);
    bool later = in->of == &w->order.tokens || in->of == &w->having.tokens || in->of == &w->limit_by.tokens;
    bool output = later && find_named(&w->select, name) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (hac_token_is_word(token, words[i])) {
            hac_text_add(out, words[i]);
            return HAC_OK;
        }
    if (key == NULL && !output)
        return unsupported(err);
    hac_text_add_name(out, name);
    return HAC_OK;
}

static hac_status rewrite(work *w, const item *in, hac_text *out, hac_error *err)
{
    const tokens *t = in->of;
    const item *key = find_key(w, in);
    hac_status status = HAC_OK;
    if (key != NULL) {
        hac_text_add_name(out, key->name);
        return HAC_OK;
    }
    if (hac_token_is_symbol(&t->list[in->first], "*")) /* all columns */
        return unsupported(err);
    for (size_t i = in->first; i < in->end && status == HAC_OK; i++) {
        const hac_function *f = is_call(t, i) ? function_of(&t->list[i]) : NULL;
        hac_text_add(out, i > in->first ? " " : "");
        if (f != NULL && f->section == HAC_SECTION_AGGREGATE) {
            size_t end = end_of_call(t, i + 1);
            status = end == 0 ? unsupported(err)
                              : rewrite_aggregate(w, hac_aggregate_info_of(f->k), t, i, end, out, err);
            i = end - 1;
        } else if (f != NULL) {
            hac_text_add_bytes(out, t->list[i].text, t->list[i].bytes);
        } else {
            status = is_call(t, i) ? unsupported(err) : rewrite_token(w, in, &t->list[i], out, err);
        }
    }
    return status;
}

/* ---- the texts ---- */

static bool names_it(const item *what, const char *name)
{
    return what->end - what->first == 1 && is_name(&what->of->list[what->first]) &&
           strcmp(what->name, name) == 0;
}

/* A key could refer to a name of --select. Whether it does depends on the columns, which are not known here.
 * */
static hac_status check_names(const work *w, hac_error *err)
{
    for (size_t i = 0; i < w->keys.n; i++) {
        const item *key = &w->keys.list[i];
        hac_autofree char *text = strndup(key->text, key->bytes);
        if (text == NULL)
            return hac_fail_no_memory(err);
        if (key->name[0] == '#' || find_named(&w->keys, key->name) != key)
            return unsupported(err);
        for (size_t s = 0; s < w->select.n; s++) {
            const item *other = &w->select.list[s];
            if (key->named && !other->named && names_it(other, key->name))
                continue; /* the name of the key itself, or an error that the query reports */
            bool alike = strcmp(other->name, key->name) == 0 || strcmp(other->name, text) == 0;
            if (alike && !(other->named ? false : same_text(other, key)))
                return unsupported(err);
        }
    }
    return HAC_OK;
}

/* --having is one expression, without a name or a direction. */
static hac_status write_having(work *w, hac_error *err)
{
    const item *condition = &w->having.list[0];
    if (w->having.n > 1 || condition->named || condition->direction)
        return unsupported(err);
    return rewrite(w, condition, &w->having_out, err);
}

static hac_status write_groups(work *w, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < w->keys.n; i++) {
        const item *key = &w->keys.list[i];
        hac_text_add(&w->part_group_by, i > 0 ? ", " : "");
        hac_text_add_bytes(&w->part_group_by, key->text, key->bytes);
        hac_text_add(&w->part_group_by, " as ");
        hac_text_add_name(&w->part_group_by, key->name);
        hac_text_add(&w->group_by_out, i > 0 ? ", " : "");
        hac_text_add_name(&w->group_by_out, key->name);
    }
    for (size_t i = 0; i < w->select.n && status == HAC_OK; i++) {
        const item *s = &w->select.list[i];
        hac_text_add(&w->select_out, i > 0 ? ", " : "");
        status = rewrite(w, s, &w->select_out, err);
        if (find_key(w, s) != NULL && !s->named)
            continue;
        hac_text_add(&w->select_out, " as ");
        hac_text_add_name(&w->select_out, s->name);
    }
    if (status == HAC_OK && w->having.n > 0)
        status = write_having(w, err);
    for (size_t i = 0; i < w->order.n && status == HAC_OK; i++) {
        hac_text_add(&w->order_out, i > 0 ? ", " : "");
        status = rewrite(w, &w->order.list[i], &w->order_out, err);
        hac_text_add(&w->order_out, w->order.list[i].descending ? " desc" : "");
    }
    for (size_t i = 0; i < w->limit_by.n && status == HAC_OK; i++) {
        hac_text_add(&w->limit_by_out, i > 0 ? ", " : "");
        status = w->limit_by.list[i].direction || w->limit_by.list[i].named
                     ? unsupported(err)
                     : rewrite(w, &w->limit_by.list[i], &w->limit_by_out, err);
    }
    for (size_t i = 0; i < w->partial->n_values; i++) {
        hac_text_add(&w->part_select, i > 0 ? ", " : "");
        hac_text_add_bytes(&w->part_select, w->values[i].data, w->values[i].bytes);
        hac_text_addf(&w->part_select, " as \"#%zu\"", i);
    }
    return status;
}

/* Whether the items are names: of columns of the parts. */
static bool all_names(const items *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const item *o = &list->list[i];
        if (o->end - o->first != 1 || !is_name(&o->of->list[o->first]))
            return false;
    }
    return true;
}

/* The whole orders and limits rows by columns of the parts. */
static hac_status write_rows(work *w, const hac_partial_texts *texts, hac_error *err)
{
    w->partial->rows = true;
    if (!all_names(&w->order) || !all_names(&w->limit_by))
        return unsupported(err);
    hac_text_add(&w->part_select, texts->select != NULL ? texts->select : "*");
    hac_text_add(&w->select_out, "*");
    hac_text_add(&w->limit_by_out, w->limit_by.n > 0 ? texts->limit_by : "");
    hac_text_add(&w->order_out, w->order.n > 0 ? texts->order_by : "");
    if (w->order.n > 0 && (w->partial->part_order_by = strdup(texts->order_by)) == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

static hac_status take(hac_text *text, char **ret, hac_error *err)
{
    if (text->bytes == 0 && !text->broken)
        return HAC_OK;
    return hac_text_finish(text, ret, NULL, err);
}

static hac_status take_texts(work *w, hac_error *err)
{
    hac_status status = take(&w->part_group_by, &w->partial->part_group_by, err);
    if (status == HAC_OK)
        status = take(&w->part_select, &w->partial->part_select, err);
    if (status == HAC_OK)
        status = take(&w->group_by_out, &w->partial->group_by, err);
    if (status == HAC_OK)
        status = take(&w->having_out, &w->partial->having, err);
    if (status == HAC_OK)
        status = take(&w->select_out, &w->partial->select, err);
    if (status == HAC_OK)
        status = take(&w->limit_by_out, &w->partial->limit_by, err);
    return status == HAC_OK ? take(&w->order_out, &w->partial->order_by, err) : status;
}

static void items_clear(items *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->list[i].name);
}

static void work_free(work *w)
{
    if (w == NULL)
        return;
    items_clear(&w->keys);
    items_clear(&w->having);
    items_clear(&w->select);
    items_clear(&w->order);
    items_clear(&w->limit_by);
    for (size_t i = 0; i < HAC_PARTIAL_VALUES; i++)
        hac_text_clear(&w->values[i]);
    hac_text_clear(&w->part_select);
    hac_text_clear(&w->select_out);
    hac_text_clear(&w->part_group_by);
    hac_text_clear(&w->group_by_out);
    hac_text_clear(&w->having_out);
    hac_text_clear(&w->order_out);
    hac_text_clear(&w->limit_by_out);
    free(w);
}
HAC_DEFINE_CLEANUP(work *, work_free)

static hac_status read_texts(work *w, const hac_partial_texts *texts, hac_error *err)
{
    hac_status status = read_items(texts->group_by, &w->keys, err);
    if (status == HAC_OK)
        status = read_items(texts->having, &w->having, err);
    if (status == HAC_OK)
        status = read_items(texts->select, &w->select, err);
    if (status == HAC_OK)
        status = read_items(texts->limit_by, &w->limit_by, err);
    return status == HAC_OK ? read_items(texts->order_by, &w->order, err) : status;
}

static bool asks_groups(const work *w)
{
    return w->keys.n > 0 || w->having.n > 0 || has_aggregates(&w->select) || has_aggregates(&w->order) ||
           has_aggregates(&w->limit_by);
}

hac_status hac_partial_make(const hac_partial_texts *texts, hac_partial *ret, hac_error *err)
{
    hac_cleanup(work_free_cleanup) work *w = calloc(1, sizeof *w);
    *ret = (hac_partial){.rows = false};
    if (w == NULL)
        return hac_fail_no_memory(err);
    w->partial = ret;
    hac_status status = read_texts(w, texts, err);
    if (status != HAC_OK)
        return status;
    if (!asks_groups(w)) {
        status = write_rows(w, texts, err);
    } else {
        status = check_names(w, err);
        if (status == HAC_OK)
            status = write_groups(w, err);
    }
    return status == HAC_OK ? take_texts(w, err) : status;
}

void hac_partial_clear(hac_partial *partial)
{
    free(partial->part_group_by);
    free(partial->part_select);
    free(partial->part_order_by);
    free(partial->group_by);
    free(partial->having);
    free(partial->select);
    free(partial->order_by);
    free(partial->limit_by);
    *partial = (hac_partial){.rows = false};
}
