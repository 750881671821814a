/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "cli/output.h"
#include "config/yaml_tree.h"
#include "job_output.h"
#include "request/query_source.h"

HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)
HAC_DEFINE_CLEANUP(hac_sql *, hac_sql_free)

/* The words that begin a step, and the commands that they are. */
static const struct {
    const char *key, *command;
} kinds[] = {
    {"query", "query"}, {"sort", "sort"}, {"convert", "parquet convert"}, {"opsplit", "opsplit run"}};

#define N_KINDS (sizeof kinds / sizeof *kinds)

static const char prefix[] = "job:";

typedef struct pipeline_reader {
    const char *file;
    const char *receipt; /* where the receipt goes; NULL: nowhere */
    const hac_command *commands;
    hac_job_pipeline *pipeline;
    hac_error *err;
} pipeline_reader;

/* Fails at the key or value of a node; the message shows `word`. */
#define BAD(r, node, message, word)                                                                          \
    hac_yaml_fail_at((r)->file, (node)->key != NULL ? (node)->key_line : (node)->line,                       \
                     (node)->key != NULL ? (node)->key_column : (node)->column, (r)->err, message,           \
                     hac_yaml_show(word, (char[HAC_YAML_SHOW_SIZE]){0}))

/* ---- the elements of a command line ------------------------------------------------------------------- */

/* Takes ownership of `word`. */
static hac_status add(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *at, char *word,
                      bool refers)
{
    if (word == NULL)
        return hac_fail_no_memory(r->err);
    if (step->argc == HAC_STEP_ARGS_MAX) {
        free(word);
        return BAD(r, at, "step `%s` has too many options and inputs", step->name);
    }
    step->may_refer |= (uint64_t)refers << step->argc;
    step->argv[step->argc++] = word;
    return HAC_OK;
}

/* The text of a scalar, or of a list of scalars with commas between them; malloc'ed. NULL: it is neither. */
static char *value_of(const hac_yaml_node *node)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    if (node->kind == HAC_YAML_SCALAR)
        return strdup(node->text);
    for (const hac_yaml_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != HAC_YAML_SCALAR || node->kind != HAC_YAML_LIST) {
            hac_text_clear(&text);
            return NULL;
        }
        hac_text_addf(&text, "%s%s", item == node->first ? "" : ", ", item->text);
    }
    return hac_text_finish(&text, &all, NULL, NULL) == HAC_OK ? all : NULL;
}

static hac_status add_inputs(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node)
{
    hac_status status = HAC_OK;
    if (node->kind == HAC_YAML_SCALAR && !hac_yaml_is_null(node))
        return add(r, step, node, strdup(node->text), true);
    if (node->kind != HAC_YAML_LIST || node->count == 0)
        return BAD(r, node, "`%s` names the input, or a list of inputs", node->key);
    for (const hac_yaml_node *item = node->first; item != NULL && status == HAC_OK; item = item->next)
        status = item->kind == HAC_YAML_SCALAR ? add(r, step, item, strdup(item->text), true)
                                               : BAD(r, node, "an input of `%s` is no name", node->key);
    return status;
}

/* --input NAME=FILE of opsplit. */
static hac_status add_named_inputs(const pipeline_reader *r, hac_pipeline_step *step,
                                   const hac_yaml_node *node)
{
    hac_status status = HAC_OK;
    if (node->kind != HAC_YAML_MAP)
        return BAD(r, node, "`%s` is a map of inputs, NAME: FILE", node->key);
    for (const hac_yaml_node *item = node->first; item != NULL && status == HAC_OK; item = item->next) {
        char *word = NULL;
        if (item->kind != HAC_YAML_SCALAR)
            return BAD(r, item, "input `%s` is no name of a file", item->key);
        if (asprintf(&word, "--input=%s=%s", item->key, item->text) < 0)
            word = NULL;
        status = add(r, step, item, word, true);
    }
    return status;
}

static hac_status add_option(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node)
{
    hac_option_id id = hac_option_find(node->key);
    char *word = NULL;
    if (id == HAC_OPT_COUNT || !hac_option_set_has(hac_options_for(step->command->options), id))
        return BAD(r, node, "`%s` is no option of this step's command", node->key);
    const hac_option *option = hac_option_get(id);
    if (option->section == HAC_SECTION_GLOBAL || id == HAC_OPT_DETACH || id == HAC_OPT_RECEIPT)
        return BAD(r, node, "`%s` is no option of a step; give it to `hacctl run`, or leave it out",
                   node->key);
    hac_autofree char *value = value_of(node);
    if (value == NULL)
        return BAD(r, node, "`%s` has a value that is neither a text nor a list of texts", node->key);
    bool yes = strcmp(value, "true") == 0, no = strcmp(value, "false") == 0;
    if (option->argument == NULL && !yes && !no)
        return BAD(r, node, "`%s` is true or false", node->key);
    if (option->argument == NULL && no)
        return HAC_OK;
    int n = option->argument == NULL ? asprintf(&word, "--%s", node->key)
                                     : asprintf(&word, "--%s=%s", node->key, value);
    return add(r, step, node, n < 0 ? NULL : word, false);
}

/* ---- a step ------------------------------------------------------------------------------------------- */

static const hac_yaml_node *field(const hac_yaml_node *map, const char *key)
{
    for (const hac_yaml_node *node = map->first; node != NULL; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

static const hac_command *find_command(const hac_command *commands, const char *name)
{
    while (commands->name != NULL && strcmp(commands->name, name) != 0)
        commands++;
    return commands->name != NULL ? commands : NULL;
}

/* The key of the step that names its command. */
static hac_status find_kind(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node,
                            const hac_yaml_node **ret)
{
    const hac_yaml_node *found = NULL;
    for (size_t i = 0; i < N_KINDS; i++) {
        const hac_yaml_node *key = field(node, kinds[i].key);
        if (key == NULL)
            continue;
        if (found != NULL)
            return BAD(r, key, "a step is one job, and `%s` is a second one", key->key);
        found = key;
        step->command = find_command(r->commands, kinds[i].command);
    }
    if (found == NULL || step->command == NULL)
        return BAD(r, node, "step `%s` is no job: it needs one of query, sort, convert, opsplit", node->key);
    *ret = found;
    return HAC_OK;
}

static bool is_kind(const hac_pipeline_step *step, const char *command)
{
    return strcmp(step->command->name, command) == 0;
}

/* Rows that stay with the daemon keep their types. */
static hac_status keep_result(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node)
{
    static const char *const unread[] = {"arrow", "markdown", "table"};
    const hac_yaml_node *form = field(node, "output-format");
    bool rows = is_kind(step, "query") || field(node, "key") != NULL;
    step->kept = true;
    if (form == NULL)
        return rows ? add(r, step, node, strdup("--output-format=parquet"), false) : HAC_OK;
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (form->kind == HAC_YAML_SCALAR && strcmp(form->text, unread[i]) == 0)
            return BAD(r, form,
                       "no step reads rows as `%s`; say csv, json, parquet or tsv, or give an `output`",
                       form->text);
    return HAC_OK;
}

/* Where the result goes. */
static hac_status add_output(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node)
{
    char *word = NULL;
    const hac_yaml_node *output = field(node, "output");
    if (output == NULL && (is_kind(step, "query") || is_kind(step, "sort")))
        return keep_result(r, step, node);
    if (output == NULL)
        return BAD(r, node, "step `%s` writes files: say where with `output`", node->key);
    if (output->kind != HAC_YAML_SCALAR || *output->text == '\0')
        return BAD(r, output, "`%s` is the name of a file, or - for standard output", output->key);
    r->pipeline->to_standard |= strcmp(output->text, "-") == 0;
    if (is_kind(step, "parquet convert"))
        return HAC_OK; /* OUT follows IN */
    if (asprintf(&word, "--output=%s", output->text) < 0)
        word = NULL;
    return add(r, step, output, word, false);
}

static bool is_name(const char *name)
{
    bool good = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c != '\0'; c++)
        good &= isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    return good;
}

static hac_status add_options(const pipeline_reader *r, hac_pipeline_step *step, const hac_yaml_node *node,
                              const hac_yaml_node *kind)
{
    hac_status status = HAC_OK;
    for (const hac_yaml_node *key = node->first; key != NULL && status == HAC_OK; key = key->next) {
        if (key == kind || strcmp(key->key, "output") == 0)
            continue;
        status = strcmp(key->key, "input") == 0 && is_kind(step, "opsplit run")
                     ? add_named_inputs(r, step, key)
                     : add_option(r, step, key);
    }
    return status;
}

static hac_status read_step(const pipeline_reader *r, const hac_yaml_node *node)
{
    const hac_yaml_node *kind = NULL;
    hac_pipeline_step *step = &r->pipeline->steps[r->pipeline->n_steps];
    if (r->pipeline->n_steps == HAC_PIPELINE_STEPS_MAX)
        return BAD(r, node, "step `%s` is one too many: 64 are possible", node->key);
    if (!is_name(node->key))
        return BAD(r, node, "`%s` is no name of a step: letters, digits, _ and -, beginning with a letter",
                   node->key);
    if (node->kind != HAC_YAML_MAP)
        return BAD(r, node, "step `%s` is no map", node->key);
    r->pipeline->n_steps++;
    step->name = strdup(node->key);
    step->line = node->key_line;
    step->column = node->key_column;
    if (step->name == NULL)
        return hac_fail_no_memory(r->err);
    hac_status status = find_kind(r, step, node, &kind);
    if (status == HAC_OK)
        status = add(r, step, node, strdup(step->command->name), false);
    if (status == HAC_OK)
        status = add_output(r, step, node);
    if (status == HAC_OK)
        status = add_options(r, step, node, kind);
    if (status == HAC_OK)
        status = add(r, step, node, strdup("--"), false);
    if (status == HAC_OK)
        status = add_inputs(r, step, kind);
    if (status == HAC_OK && is_kind(step, "parquet convert"))
        status = add(r, step, node, strdup(field(node, "output")->text), false);
    return status;
}

/* ---- references --------------------------------------------------------------------------------------- */

/* The length of NAME if the text begins with job:NAME, else 0. Numbers are jobs that are no steps. */
static size_t name_length(const char *text)
{
    const char *name = text + sizeof prefix - 1;
    size_t n = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0 || isdigit((unsigned char)*name))
        return 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_' || name[n] == '-')
        n++;
    return n;
}

/* Whether the step's input, of which it has only one, is a SQL statement. */
static bool is_sql(const hac_pipeline_step *step, const char *word)
{
    bool alone = (step->may_refer & (step->may_refer - 1)) == 0;
    return alone && is_kind(step, "query") && hac_query_source_is_sql(word);
}

/* Whether job:NAME at that place of a SQL statement is what it reads, and no other text. The parser tells: a
 * source begins with what is written there instead. */
static bool is_source(const char *sql, size_t at, size_t bytes)
{
    static const char mark = '\1';
    hac_autofree char *marked = strdup(sql);
    hac_cleanup(hac_sql_free_cleanup) hac_sql *read = NULL;
    const char *source;
    if (marked == NULL)
        return false;
    marked[at] = mark;
    if (hac_sql_read(marked, &read, NULL) != HAC_OK)
        return false;
    for (size_t i = 0; (source = hac_sql_source(read, i)) != NULL; i++)
        if (*source == mark && strlen(source) == bytes)
            return true;
    return false;
}

/* The name of an input in an element of argv: what follows --input=NAME= of opsplit, else all of it. */
static const char *input_in(const hac_pipeline_step *step, const char *word)
{
    static const char option[] = "--input=";
    if (!is_kind(step, "opsplit run") || strncmp(word, option, sizeof option - 1) != 0)
        return word;
    return strchr(word + sizeof option - 1, '=') + 1;
}

/* Finds the next job:NAME from `from` on, which is in the element `word` of argv: a whole input, or a whole
 * source of a SQL statement. *ret_length is the length of NAME. NULL: there is none. */
static const char *next_reference(const hac_pipeline_step *step, const char *word, const char *from,
                                  size_t *ret_length)
{
    const bool sql = is_sql(step, word);
    const char *input = input_in(step, word);
    for (const char *at = strstr(from, prefix); at != NULL; at = strstr(at + 1, prefix)) {
        size_t n = name_length(at), bytes = sizeof prefix - 1 + n;
        bool whole = sql ? is_source(word, (size_t)(at - word), bytes) : at == input && at[bytes] == '\0';
        if (n == 0 || !whole)
            continue;
        *ret_length = n;
        return at;
    }
    return NULL;
}

static size_t find_step(const hac_job_pipeline *pipeline, const char *name, size_t length)
{
    size_t i = 0;
    while (i < pipeline->n_steps &&
           (strlen(pipeline->steps[i].name) != length || memcmp(pipeline->steps[i].name, name, length) != 0))
        i++;
    return i;
}

/* The step reads the result of the step of that name. */
static hac_status add_need(const pipeline_reader *r, hac_pipeline_step *step, const char *name, size_t length)
{
    const hac_job_pipeline *p = r->pipeline;
    size_t needed = find_step(p, name, length);
    if (needed == p->n_steps)
        return hac_yaml_fail_at(r->file, step->line, step->column, r->err,
                                "step `%.40s`: there is no step `%.*s`", step->name,
                                (int)(length < 40 ? length : 40), name);
    if (!p->steps[needed].kept)
        return hac_yaml_fail_at(r->file, step->line, step->column, r->err,
                                "step `%.40s` reads the result of `%.40s`, which goes to its `output`; "
                                "read that file, or take `output` to another step",
                                step->name, p->steps[needed].name);
    step->needs |= UINT64_C(1) << needed;
    return HAC_OK;
}

/* Where a statement is wrong, its sources are not known. */
static hac_status check_sql(const pipeline_reader *r, const hac_pipeline_step *step, const char *word)
{
    hac_cleanup(hac_sql_free_cleanup) hac_sql *sql = NULL;
    hac_status status = is_sql(step, word) ? hac_sql_read(word, &sql, r->err) : HAC_OK;
    if (status != HAC_OK)
        hac_error_prefix(r->err, "%s:%u:%u: step `%s`", r->file, step->line, step->column, step->name);
    return status;
}

static hac_status find_needs(const pipeline_reader *r, hac_pipeline_step *step)
{
    size_t n = 0;
    for (size_t i = 0; i < step->argc; i++) {
        const char *word = step->argv[i];
        if ((step->may_refer >> i & 1) == 0)
            continue;
        hac_status status = check_sql(r, step, word);
        for (const char *at = next_reference(step, word, word, &n); at != NULL && status == HAC_OK;
             at = next_reference(step, word, at + 1, &n))
            status = add_need(r, step, at + sizeof prefix - 1, n);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

typedef struct step_order {
    uint64_t done, begun; /* bit masks of steps */
    size_t n;
} step_order;

/* Appends the step after the steps that it needs, and those that they need. The depth is that of the chain of
 * steps, at most their number. */
static hac_status append_step(const pipeline_reader *r, step_order *order, size_t step)
{
    hac_job_pipeline *p = r->pipeline;
    const hac_pipeline_step *own = &p->steps[step];
    hac_status status = HAC_OK;
    if ((order->done >> step & 1) != 0)
        return HAC_OK;
    if ((order->begun >> step & 1) != 0)
        return hac_yaml_fail_at(r->file, own->line, own->column, r->err,
                                "step `%.40s` needs its own result, in the end", own->name);
    order->begun |= UINT64_C(1) << step;
    for (size_t i = 0; i < p->n_steps && status == HAC_OK; i++)
        if ((own->needs >> i & 1) != 0)
            status = append_step(r, order, i);
    if (status != HAC_OK)
        return status;
    order->done |= UINT64_C(1) << step;
    p->order[order->n++] = step;
    return HAC_OK;
}

/* The order of the file, except that a step comes after those that it needs: they are taken forward. */
static hac_status find_order(const pipeline_reader *r)
{
    step_order order = {.n = 0};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < r->pipeline->n_steps && status == HAC_OK; i++)
        status = append_step(r, &order, i);
    return status;
}

/* A result that nobody reads would only be dropped. */
static hac_status check_use(const pipeline_reader *r)
{
    const hac_job_pipeline *p = r->pipeline;
    uint64_t used = 0;
    for (size_t i = 0; i < p->n_steps; i++)
        used |= p->steps[i].needs;
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kept && (used >> i & 1) == 0)
            return hac_yaml_fail_at(r->file, p->steps[i].line, p->steps[i].column, r->err,
                                    "no step reads the result of `%.40s`; say `output: FILE`, or `output: -`",
                                    p->steps[i].name);
    return HAC_OK;
}

char *hac_pipeline_resolve(const hac_job_pipeline *pipeline, const hac_pipeline_step *step, size_t index)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    size_t n = 0;
    const char *from = step->argv[index], *at = NULL;
    if ((step->may_refer >> index & 1) == 0)
        return strdup(from);
    while ((at = next_reference(step, step->argv[index], from, &n)) != NULL) {
        size_t needed = find_step(pipeline, at + sizeof prefix - 1, n);
        hac_text_add_bytes(&text, from, (size_t)(at - from) + sizeof prefix - 1);
        if (needed < pipeline->n_steps)
            hac_text_addf(&text, "%llu", (unsigned long long)pipeline->steps[needed].job);
        from = at + sizeof prefix - 1 + n;
    }
    hac_text_add(&text, from);
    return hac_text_finish(&text, &all, NULL, NULL) == HAC_OK ? all : NULL;
}

/* ---- files that would be overwritten ------------------------------------------------------------------ */

/* The value of an option "--NAME=" of the step; NULL: it has none. */
static const char *value_in(const hac_pipeline_step *step, const char *option)
{
    for (size_t i = 1; i < step->argc && strcmp(step->argv[i], "--") != 0; i++)
        if (strncmp(step->argv[i], option, strlen(option)) == 0)
            return step->argv[i] + strlen(option);
    return NULL;
}

enum { STEP_OUTPUTS = 2 };

/* What the step writes; NULL: nothing. */
static const char *output_of(const hac_pipeline_step *step, size_t which)
{
    if (which == 1)
        return value_in(step, "--trace=");
    return is_kind(step, "parquet convert") ? step->argv[step->argc - 1] : value_in(step, "--output=");
}

static hac_status check_pair(const pipeline_reader *r, const hac_pipeline_step *step, const char *path,
                             const hac_pipeline_step *other, const char *other_path)
{
    /* what steps write to standard output follows one another */
    if (!hac_job_output_same_file(path, other_path) || hac_output_descriptor(path) >= 0)
        return HAC_OK;
    return hac_yaml_fail_at(r->file, step->line, step->column, r->err,
                            "step `%.40s` would overwrite %.200s, which step `%.40s` writes", step->name,
                            path, other->name);
}

/* Compares an output of a step with the pipeline's file, the receipt, and the outputs of steps before it. */
static hac_status check_output(const pipeline_reader *r, size_t step, size_t which)
{
    const hac_pipeline_step *steps = r->pipeline->steps;
    const char *path = output_of(&steps[step], which);
    hac_status status = HAC_OK;
    if (path == NULL)
        return HAC_OK;
    if (hac_job_output_same_file(path, r->file))
        return hac_yaml_fail_at(r->file, steps[step].line, steps[step].column, r->err,
                                "step `%.40s` would overwrite the pipeline itself", steps[step].name);
    if (hac_job_output_same_file(path, r->receipt))
        return hac_yaml_fail_at(r->file, steps[step].line, steps[step].column, r->err,
                                "step `%.40s` and --receipt would both go to %.200s; name another file for "
                                "one of them",
                                steps[step].name, path);
    for (size_t i = 0; i < step * STEP_OUTPUTS + which && status == HAC_OK; i++) {
        const hac_pipeline_step *other = &steps[i / STEP_OUTPUTS];
        status = check_pair(r, &steps[step], path, other, output_of(other, i % STEP_OUTPUTS));
    }
    return status;
}

/* A result may replace its input, as on a command line; a receipt may not. */
static hac_status check_input(const pipeline_reader *r, const hac_pipeline_step *step, const char *input)
{
    if (!hac_job_output_same_file(input, r->receipt))
        return HAC_OK;
    return hac_fail(r->err, HAC_INVALID,
                    "--receipt names %.200s, an input of step `%.40s`, which it would overwrite", input,
                    step->name);
}

/* The files that the input stands for. What is not there, a step before may write. */
static hac_status check_files_of(const pipeline_reader *r, const hac_pipeline_step *step, const char *input,
                                 hac_query_source *unused)
{
    (void)unused;
    hac_cleanup(hac_query_source_clear) hac_query_source files = {.n_paths = 0};
    hac_status status = check_input(r, step, input);
    if (hac_query_source_add(&files, step->command->name, input, HAC_FILES_PATTERNS, NULL) != HAC_OK)
        return status;
    for (size_t i = 0; i < files.n_paths && status == HAC_OK; i++)
        status = check_input(r, step, files.paths[i]);
    return status;
}

/* What is done with an input of a step. */
typedef hac_status input_function(const pipeline_reader *r, const hac_pipeline_step *step, const char *input,
                                  hac_query_source *files);

static hac_status with_word(const pipeline_reader *r, const hac_pipeline_step *step, const char *word,
                            input_function *function, hac_query_source *files)
{
    hac_cleanup(hac_sql_free_cleanup) hac_sql *sql = NULL;
    const char *source;
    hac_status status = HAC_OK;
    if (!is_sql(step, word))
        return function(r, step, input_in(step, word), files);
    if (hac_sql_read(word, &sql, r->err) != HAC_OK)
        return HAC_INVALID;
    for (size_t i = 0; status == HAC_OK && (source = hac_sql_source(sql, i)) != NULL; i++)
        status = function(r, step, source, files);
    return status;
}

static hac_status with_inputs(const pipeline_reader *r, const hac_pipeline_step *step,
                              input_function *function, hac_query_source *files)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < step->argc && status == HAC_OK; i++)
        if ((step->may_refer >> i & 1) != 0)
            status = with_word(r, step, step->argv[i], function, files);
    return status;
}

static hac_status check_inputs(const pipeline_reader *r, const hac_pipeline_step *step)
{
    static const char *const options[] = {"--with=", "--centroids="};
    hac_status status = with_inputs(r, step, check_files_of, NULL);
    for (size_t i = 0; i < sizeof options / sizeof *options && status == HAC_OK; i++)
        status = check_input(r, step, value_in(step, options[i]));
    return status;
}

static hac_status check_files(const pipeline_reader *r)
{
    hac_status status = HAC_OK;
    if (hac_job_output_same_file(r->receipt, r->file))
        return hac_fail(r->err, HAC_INVALID, "--receipt names %.200s, the pipeline, which it would overwrite",
                        r->file);
    for (size_t i = 0; i < r->pipeline->n_steps * STEP_OUTPUTS && status == HAC_OK; i++)
        status = check_output(r, i / STEP_OUTPUTS, i % STEP_OUTPUTS);
    for (size_t i = 0; i < r->pipeline->n_steps && r->receipt != NULL && status == HAC_OK; i++)
        status = check_inputs(r, &r->pipeline->steps[i]);
    return status;
}

/* ---- results that stay -------------------------------------------------------------------------------- */

static hac_status add_file(const pipeline_reader *r, const hac_pipeline_step *step, const char *input,
                           hac_query_source *files)
{
    (void)r;
    return hac_query_source_add(files, step->command->name, input, HAC_FILES_PATTERNS, NULL);
}

/* Rows that this process reads do not stay with the daemon. An input that is not there yet is the result of a
 * step, or a file that one writes, which is neither compressed nor a pipe. */
static hac_status check_kept(const pipeline_reader *r, const hac_pipeline_step *step)
{
    hac_cleanup(hac_query_source_clear) hac_query_source files = {.n_paths = 0};
    const char *parse = value_in(step, "--parse=");
    hac_input_format format = parse != NULL ? hac_format_named(parse, strlen(parse)) : HAC_INPUT_NONE;
    bool rows = is_kind(step, "query") || value_in(step, "--key=") != NULL;
    if (!step->kept || !rows || with_inputs(r, step, add_file, &files) != HAC_OK)
        return HAC_OK;
    if (hac_query_source_choose(&files, step->command->name, format, NULL) != HAC_OK || !files.splits)
        return HAC_OK; /* the command says what is wrong */
    bool standard = strcmp(files.paths[0], "-") == 0;
    return hac_yaml_fail_at(r->file, step->line, step->column, r->err,
                            "step `%.40s`: hacctl reads %.200s%s itself, so the result cannot stay with the "
                            "daemon; say `output: FILE`",
                            step->name, standard ? "standard input" : files.paths[0],
                            files.n_paths > 1 ? " and more files" : "");
}

/* ---- the file ----------------------------------------------------------------------------------------- */

static hac_status read_root(const pipeline_reader *r, const hac_yaml_node *root)
{
    const hac_yaml_node *steps = field(root, "steps"), *name = field(root, "name");
    hac_status status = HAC_OK;
    for (const hac_yaml_node *key = root->first; key != NULL; key = key->next)
        if (key != steps && key != name)
            return BAD(r, key, "unknown key `%s`; a pipeline has `name` and `steps`", key->key);
    if (steps == NULL || steps->kind != HAC_YAML_MAP || steps->count == 0)
        return hac_yaml_fail_at(r->file, root->line, root->column, r->err,
                                "a pipeline needs `steps`: a map of named steps");
    if (name != NULL && name->kind != HAC_YAML_SCALAR)
        return BAD(r, name, "`%s` is a text", name->key);
    r->pipeline->name = strdup(name != NULL ? name->text : r->file);
    if (r->pipeline->name == NULL)
        return hac_fail_no_memory(r->err);
    for (const hac_yaml_node *step = steps->first; step != NULL && status == HAC_OK; step = step->next)
        status = read_step(r, step);
    for (size_t i = 0; i < r->pipeline->n_steps && status == HAC_OK; i++)
        status = find_needs(r, &r->pipeline->steps[i]);
    if (status == HAC_OK)
        status = find_order(r);
    if (status == HAC_OK)
        status = check_use(r);
    for (size_t i = 0; i < r->pipeline->n_steps && status == HAC_OK; i++)
        status = check_kept(r, &r->pipeline->steps[i]);
    return status == HAC_OK ? check_files(r) : status;
}

hac_status hac_pipeline_read(const hac_command *commands, const char *path, const char *receipt,
                             hac_job_pipeline **ret, hac_error *err)
{
    hac_autofree char *text = NULL;
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    size_t length = 0;
    hac_status status = hac_yaml_read_file(path, &text, &length, err);
    if (status == HAC_OK)
        status = hac_yaml_parse_columns(path, text, length, &root, err);
    if (status != HAC_OK)
        return status;
    hac_job_pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (pipeline == NULL)
        return hac_fail_no_memory(err);
    hac_error own = HAC_ERROR_NONE;
    const pipeline_reader r = {path, receipt, commands, pipeline, err != NULL ? err : &own};
    status = read_root(&r, root);
    if (status == HAC_OK)
        *ret = pipeline;
    else
        hac_pipeline_free(pipeline);
    return status;
}

void hac_pipeline_free(hac_job_pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    for (size_t i = 0; i < pipeline->n_steps; i++) {
        for (size_t a = 0; a < pipeline->steps[i].argc; a++)
            free(pipeline->steps[i].argv[a]);
        free(pipeline->steps[i].name);
        hac_job_free(pipeline->steps[i].result);
    }
    free(pipeline->name);
    free(pipeline);
}
