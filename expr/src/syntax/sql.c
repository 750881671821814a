/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "sql_refused.h"

static const struct {
    const char *name, *option, *begins; /* begins: the clause's first word */
    bool by;                            /* followed by BY */
} clauses[HAC_SQL_CLAUSES] = {
    [HAC_SQL_SELECT] = {"SELECT", "select", "select", false},
    [HAC_SQL_WHERE] = {"WHERE", "where", "where", false},
    [HAC_SQL_GROUP_BY] = {"GROUP BY", "group-by", "group", true},
    [HAC_SQL_HAVING] = {"HAVING", "having", "having", false},
    [HAC_SQL_ORDER_BY] = {"ORDER BY", "order-by", "order", true},
    [HAC_SQL_LIMIT_BY] = {"LIMIT BY", "limit-by", NULL, false},
    [HAC_SQL_WITH_SELECT] = {"SELECT of WITH", "with-select", NULL, false},
    [HAC_SQL_WITH_WHERE] = {"WHERE of WITH", "with-where", NULL, false},
};

const char *hac_sql_clause_name(hac_sql_clause clause)
{
    return clauses[clause].name;
}

const char *hac_sql_clause_option(hac_sql_clause clause)
{
    return clauses[clause].option;
}

/* ---- tokens ---- */

typedef struct sql_parser {
    hac_expr_source source; /* the statement, with blanks in place of its comments */
    char *text;
    hac_lexer lexer;
    hac_token token, next;
    hac_status status;
    hac_error *err;
    hac_sql_select *select;
    char *alias;              /* of the source */
    char *with;               /* the name behind WITH; NULL: none */
    hac_sql_text inner_where; /* of the SELECT of WITH */
    bool inside;              /* the SELECT of WITH */
    bool from;                /* there was a FROM */
    bool offset;              /* there was an OFFSET */
} sql_parser;

static size_t offset_of(const sql_parser *p, const char *at)
{
    return (size_t)(at - p->text);
}

#define fail_here(p, ...)                                                                                    \
    ((p)->status = hac_expr_fail(&(p)->source, offset_of((p), (p)->token.text), (p)->err, __VA_ARGS__), false)

static bool advance(sql_parser *p)
{
    p->token = p->next;
    if (p->status == HAC_OK)
        p->status = hac_lexer_next(&p->lexer, &p->next, p->err);
    return p->status == HAC_OK;
}

static bool advance_twice(sql_parser *p)
{
    if (!advance(p))
        return false;
    return advance(p);
}

static bool is_word(const sql_parser *p, const char *word)
{
    return hac_token_is_word(&p->token, word);
}

static bool is_symbol(const sql_parser *p, const char *symbol)
{
    return hac_token_is_symbol(&p->token, symbol);
}

static bool at_end(const sql_parser *p)
{
    return p->token.kind == HAC_TOKEN_END;
}

/* Fails if SQL that there is not stands here. */
static bool check_refused(sql_parser *p, hac_sql_place place)
{
    const char *instead = hac_sql_refused(place, &p->token, &p->next);
    return instead == NULL || fail_here(p, "%s", instead);
}

static bool unexpected(sql_parser *p, const char *expected)
{
    if (p->status != HAC_OK)
        return false;
    if (at_end(p))
        return fail_here(p, "expected %s, but the statement ends here", expected);
    return fail_here(p, "expected %s, found %.*s", expected, (int)(p->token.bytes < 64 ? p->token.bytes : 64),
                     p->token.text);
}

static char *copy(sql_parser *p, const char *from, size_t bytes)
{
    char *text = strndup(from, bytes);
    if (text == NULL)
        p->status = hac_fail_no_memory(p->err);
    return text;
}

/* The dot between the parts of a joined name, until it is known whether the first part is the source's alias.
 * No text in UTF-8 has this byte. */
#define JOINT '\xff'

/* Puts dots in the place of the joints of a name. */
static void dot_joints(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == JOINT)
            text[i] = '.';
}

/* Copies a name or a string without its quotes. */
static char *unquoted(sql_parser *p)
{
    char *text = copy(p, p->token.text, p->token.bytes);
    if (text != NULL && p->token.kind != HAC_TOKEN_NAME)
        text[hac_token_unquote(&p->token, text)] = '\0';
    if (text != NULL && p->token.kind == HAC_TOKEN_QUOTED)
        dot_joints(text, strlen(text));
    return text;
}

/* ---- comments, and what else the lexer does not know ---- */

static char *skip_comment(char *at)
{
    if (at[0] == '-' && at[1] == '-')
        return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*')
        return NULL;
    char *end = strstr(at + 2, "*/");
    return end != NULL ? end + 2 : at + strlen(at);
}

/* Returns what follows the quotes. NULL: there is no closing one. */
static char *skip_quoted(char *at)
{
    char quote = *at++;
    for (; *at != '\0'; at++)
        if (*at == quote && *++at != quote) /* quotes in quotes are doubled */
            return at;
    return NULL;
}

static char *skip_part(char *at)
{
    if (*at == '"')
        return skip_quoted(at);
    while (hac_is_name_part(*at))
        at++;
    return at;
}

/* Skips the dot behind a part of a name, and the blanks around it. NULL: no dot follows. */
static char *skip_dot(char *at)
{
    at += strspn(at, " \t\r\n\v\f");
    return *at == '.' ? at + 1 + strspn(at + 1, " \t\r\n\v\f") : NULL;
}

/* Whether a part of a name begins here. FROM behind blanks is the clause: `"user". FROM` has a part too few.
 */
static bool begins_part(const char *at)
{
    bool clause = at[-1] != '.' && strncasecmp(at, "from", 4) == 0 && !hac_is_name_part(at[4]);
    return *at == '"' || (hac_is_name_start(*at) && !clause);
}

/* Returns the end of the name at `at`, whose parts may be in quotes: `a."b c"."d"`. `*quoted` becomes true
 * if one of them is. */
static char *end_of_name(char *at, bool *quoted)
{
    char *end = skip_part(at);
    *quoted = *at == '"';
    while (end != NULL) {
        char *next = skip_dot(end);
        if (next == NULL || !begins_part(next))
            break;
        char *behind = skip_part(next);
        if (behind == NULL)
            break;
        *quoted |= *next == '"';
        end = behind;
    }
    return end;
}

/* Writes the parts of the name to its begin, without their quotes. Returns the number of bytes. */
static size_t join_parts(char *at, const char *end, char joint)
{
    char *out = at, *part = at;
    for (;;) {
        char *behind = skip_part(part);
        bool quoted = *part == '"';
        size_t bytes = (size_t)(behind - part) - 2 * (size_t)quoted;
        memmove(out, part + quoted, bytes);
        out += bytes;
        if (behind >= end)
            return (size_t)(out - at);
        part = skip_dot(behind);
        *out++ = joint;
    }
}

/* `"user".id`, `user."id"` and `"user" . id` are the column `"user.id"`, or the column `"id"` of the source
 * `user`: joins the parts to one token in place. `t.*` is all columns of the one source: blanks `t.`. Returns
 * what follows the name at `at`. */
static char *skip_name(char *at)
{
    bool quoted;
    char *end = end_of_name(at, &quoted);
    if (end == NULL)
        return at + strlen(at);
    if (end[0] == '.' && end[1] == '*') {
        memset(at, ' ', (size_t)(end - at) + 1);
        return end + 1;
    }
    if (end == skip_part(at))
        return end;
    size_t bytes = join_parts(at, end, quoted ? JOINT : '.');
    if (quoted) {
        memmove(at + 1, at, bytes);
        at[0] = at[bytes + 1] = '"';
        bytes += 2;
    }
    memset(at + bytes, ' ', (size_t)(end - at) - bytes);
    return end;
}

/* Replaces comments, and a semicolon at the end, by blanks, so that all places stay. */
static void blank_comments(char *text)
{
    char *last = NULL;
    for (char *at = text; *at != '\0';) {
        char *end = skip_comment(at);
        if (end != NULL) {
            memset(at, ' ', (size_t)(end - at));
            at = end;
            continue;
        }
        if (strchr(" \t\r\n\v\f", *at) == NULL)
            last = at;
        if (*at == '"' || hac_is_name_start(*at))
            at = skip_name(at);
        else
            at = *at == '\'' ? skip_quoted(at) : at + 1;
        if (at == NULL)
            break;
    }
    if (last != NULL && *last == ';')
        *last = ' ';
}

/* ---- clauses ---- */

/* Whether the token begins a clause: no expression goes on with it. */
static bool begins_clause(const sql_parser *p)
{
    for (size_t i = 0; i < HAC_SQL_CLAUSES; i++)
        if (clauses[i].begins != NULL && is_word(p, clauses[i].begins) &&
            (!clauses[i].by || hac_token_is_word(&p->next, "by")))
            return true;
    return is_word(p, "from") || is_word(p, "limit") || is_word(p, "offset") || is_word(p, "union");
}

/* The SELECT of WITH ends with ')'. */
static bool ends_inner(const sql_parser *p)
{
    return p->inside && is_symbol(p, ")");
}

/* Skips the words of `is [not] distinct from`, whose FROM begins no clause. */
static bool skip_is(sql_parser *p)
{
    if (!advance(p) || (is_word(p, "not") && !advance(p)))
        return false;
    return !is_word(p, "distinct") || !hac_token_is_word(&p->next, "from") || advance_twice(p);
}

/* Skips the tokens of a clause, up to the next clause. */
static bool skip_clause(sql_parser *p)
{
    unsigned depth = 0;
    while (!at_end(p)) {
        if (depth == 0 && begins_clause(p) && !is_word(p, "select"))
            return true;
        if (!check_refused(p, HAC_SQL_IN_CLAUSE))
            return false;
        if (depth == 0 && ends_inner(p))
            return true;
        if (is_symbol(p, "("))
            depth++;
        if (is_symbol(p, ")") && depth-- == 0)
            return fail_here(p, "')' without its '('");
        if (!(is_word(p, "is") ? skip_is(p) : advance(p)))
            return false;
    }
    return true;
}

static size_t character_of(const sql_parser *p, const char *at)
{
    size_t characters = 1;
    for (const char *c = p->text; c < at; c++)
        characters += ((unsigned char)*c & 0xc0) != 0x80;
    return characters;
}

/* Takes the text of a clause, from behind its words on. */
static bool take_clause(sql_parser *p, hac_sql_clause clause)
{
    hac_sql_text *ret = &p->select->clauses[clause];
    const char *first = p->token.text;
    if (ret->text != NULL)
        return fail_here(p, "a second %s", clauses[clause].name);
    if (!skip_clause(p))
        return false;
    size_t bytes = (size_t)(p->token.text - first);
    while (bytes > 0 && strchr(" \t\r\n\v\f", first[bytes - 1]) != NULL)
        bytes--;
    if (bytes == 0) {
        char expected[64];
        snprintf(expected, sizeof expected, "what %s takes", clauses[clause].name);
        return unexpected(p, expected);
    }
    if (bytes > HAC_EXPRESSION_MAX)
        return fail_here(p, "%s is longer than %d bytes", clauses[clause].name, HAC_EXPRESSION_MAX);
    ret->character = character_of(p, first);
    return (ret->text = copy(p, first, bytes)) != NULL;
}

static bool take_count(sql_parser *p, const char *of, uint64_t *ret)
{
    char digits[24] = "";
    size_t n = p->token.bytes;
    if (p->token.kind != HAC_TOKEN_NUMBER || n >= sizeof digits || strspn(p->token.text, "0123456789") < n)
        return unexpected(p, of);
    memcpy(digits, p->token.text, n);
    *ret = n > 19 ? UINT64_MAX - 1 : strtoull(digits, NULL, 10);
    return advance(p);
}

/* OFFSET n, OFFSET n ROWS */
static bool take_offset(sql_parser *p)
{
    uint64_t n;
    if (p->offset)
        return fail_here(p, "a second OFFSET");
    p->offset = true;
    if (!advance(p) || !take_count(p, "a number of rows behind OFFSET", &n))
        return false;
    p->select->offset = n;
    return is_word(p, "rows") || is_word(p, "row") ? advance(p) : true;
}

/* LIMIT n, LIMIT ALL, LIMIT n BY a, b */
static bool take_limit(sql_parser *p)
{
    uint64_t n = UINT64_MAX;
    if (!advance(p))
        return false;
    if (is_word(p, "all"))
        return advance(p);
    if (!take_count(p, "a number of rows behind LIMIT", &n))
        return false;
    if (is_symbol(p, ","))
        return fail_here(p, "LIMIT a, b is LIMIT b OFFSET a; write that");
    if (is_symbol(p, "%") || is_word(p, "percent"))
        return fail_here(p, "LIMIT takes a number of rows, not a percentage");
    if (is_word(p, "by")) {
        p->select->limit_each = n;
        return advance(p) && take_clause(p, HAC_SQL_LIMIT_BY);
    }
    if (p->select->limit != UINT64_MAX)
        return fail_here(p, "a second LIMIT");
    p->select->limit = n;
    return true;
}

/* ---- FROM ---- */

/* Functions of other databases that name a file and its format. */
static const char *const readers[][2] = {
    {"read_csv", "csv"},         {"read_csv_auto", "csv"},    {"read_parquet", "parquet"},
    {"read_json", "jsonl"},      {"read_json_auto", "jsonl"}, {"read_ndjson", "jsonl"},
    {"parquet_scan", "parquet"}, {"read_text", "lines"},
};

const char *const *hac_sql_reader(size_t index)
{
    return index < sizeof readers / sizeof *readers ? readers[index] : NULL;
}

/* Adds the file of the token. `format` is what its function says, or NULL. */
static bool add_source(sql_parser *p, const char *format)
{
    hac_sql_select *select = p->select;
    const char *before = select->format;
    if (select->n_sources > 0 && (before != NULL) != (format != NULL))
        return fail_here(p, "the files of UNION ALL have one format; name it for all of them, or for none");
    if (select->n_sources > 0 && format != NULL && strcmp(before, format) != 0)
        return fail_here(p, "the files of UNION ALL have one format, and these are %s and %s", before,
                         format);
    char **sources = reallocarray(select->sources, select->n_sources + 1, sizeof *sources);
    char *source = sources != NULL ? unquoted(p) : NULL;
    select->sources = sources != NULL ? sources : select->sources;
    if (source == NULL) {
        p->status = hac_fail_no_memory(p->err);
        return false;
    }
    select->sources[select->n_sources++] = source;
    select->format = format;
    return advance(p);
}

/* `, name = value`, from the comma on. */
static bool take_reader_option(sql_parser *p)
{
    if (!advance(p))
        return false;
    const char *own = NULL, *name = hac_sql_reader_option(&p->token, &own);
    if (name != NULL && own != NULL)
        return fail_here(p, "options of the input stand behind the statement: for %s write %s", name, own);
    if (name == NULL)
        return fail_here(p, "options of the input are those of the command: --delimiter, --no-header, "
                            "--schema; see `hacctl query --help`");
    bool given = hac_token_is_symbol(&p->next, "=") && advance_twice(p);
    bool wanted = is_word(p, "true") || p->token.kind == HAC_TOKEN_NUMBER || is_word(p, "1");
    if (!given || !wanted)
        return p->status == HAC_OK && fail_here(p, "%s = true is what hac does in any case", name);
    return advance(p);
}

static bool take_reader(sql_parser *p)
{
    const char *format = NULL;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (is_word(p, readers[i][0]))
            format = readers[i][1];
    if (format == NULL)
        return check_refused(p, HAC_SQL_CALLS) && unexpected(p, "a file, as in FROM 'sales.csv'");
    if (!advance_twice(p))
        return false;
    if (p->token.kind != HAC_TOKEN_STRING)
        return unexpected(p, "a file in single quotes");
    if (!add_source(p, format))
        return false;
    while (is_symbol(p, ","))
        if (!take_reader_option(p))
            return false;
    return is_symbol(p, ")") ? advance(p) : unexpected(p, "')'");
}

/* FROM t, behind WITH t AS (…). */
static bool take_with_name(sql_parser *p)
{
    hac_autofree char *name = unquoted(p);
    if (name == NULL)
        return false;
    if (p->token.kind == HAC_TOKEN_STRING || strcasecmp(name, p->with) != 0)
        return fail_here(p, "behind WITH %s AS (…) the source is that: write FROM %s", p->with, p->with);
    return advance(p);
}

static bool take_alias(sql_parser *p)
{
    bool as = is_word(p, "as");
    if (as && !advance(p))
        return false;
    bool name = p->token.kind == HAC_TOKEN_NAME || p->token.kind == HAC_TOKEN_QUOTED;
    if (!as && (!name || begins_clause(p) || hac_sql_refused(HAC_SQL_IN_CLAUSE, &p->token, &p->next) != NULL))
        return true;
    if (!name)
        return unexpected(p, "a name of the source");
    return (p->alias = unquoted(p)) != NULL && advance(p);
}

static bool take_from(sql_parser *p)
{
    if (!advance(p))
        return false;
    bool name = p->token.kind == HAC_TOKEN_STRING || p->token.kind == HAC_TOKEN_NAME ||
                p->token.kind == HAC_TOKEN_QUOTED;
    if (name && p->with != NULL && !p->inside) {
        if (!take_with_name(p))
            return false;
    } else if (hac_token_is_symbol(&p->next, "(") && p->token.kind == HAC_TOKEN_NAME) {
        if (!take_reader(p))
            return false;
    } else if (name) {
        if (!add_source(p, NULL))
            return false;
    } else {
        return check_refused(p, HAC_SQL_FOLLOWS) && unexpected(p, "a file, as in FROM 'sales.csv'");
    }
    if (is_symbol(p, "/") || is_symbol(p, "-") || is_symbol(p, "*"))
        return fail_here(p, "a file's name goes in single quotes: FROM 'data/sales.csv'");
    return check_refused(p, HAC_SQL_FOLLOWS) && take_alias(p) && check_refused(p, HAC_SQL_FOLLOWS);
}

/* ---- the statement ---- */

#define ONLY_ROWS                                                                                            \
    "%s goes behind WITH t AS (SELECT * FROM 'a.csv' UNION ALL SELECT * FROM 'b.csv') SELECT … FROM t"

/* What may not stand here, though a SELECT may have it. */
static bool check_rows_only(sql_parser *p)
{
    for (size_t i = HAC_SQL_GROUP_BY; i <= HAC_SQL_HAVING; i++)
        if (p->select->union_character != 0 && is_word(p, clauses[i].begins))
            return fail_here(p, ONLY_ROWS, clauses[i].name);
    bool known = is_word(p, "from") || is_word(p, "where") || is_word(p, "union");
    if (p->inside && begins_clause(p) && !known)
        return fail_here(
            p,
            "the SELECT of WITH computes columns and chooses rows: it has FROM, WHERE and UNION ALL, and no "
            "groups and order; write these behind it, or write its result with -o PART.parquet and query "
            "that");
    return true;
}

static bool take_any(sql_parser *p)
{
    if (!check_refused(p, HAC_SQL_IN_CLAUSE) || !check_rows_only(p))
        return false;
    if (is_word(p, "limit"))
        return take_limit(p);
    if (is_word(p, "offset"))
        return take_offset(p);
    if (is_word(p, "from")) {
        if (p->from)
            return fail_here(p, "a second FROM");
        p->from = true;
        return take_from(p);
    }
    for (size_t i = HAC_SQL_WHERE; i < HAC_SQL_CLAUSES; i++)
        if (clauses[i].begins != NULL && is_word(p, clauses[i].begins) && begins_clause(p)) {
            if (!advance(p) || (clauses[i].by && !advance(p)))
                return false;
            return take_clause(p, (hac_sql_clause)i);
        }
    return unexpected(p, "WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, UNION ALL or the end");
}

/* DISTINCT and ALL of SELECT. */
static bool take_distinct(sql_parser *p)
{
    if (is_word(p, "distinct") && hac_token_is_word(&p->next, "on"))
        return fail_here(p, "there is no DISTINCT ON; write GROUP BY a with arg_min(b, c)");
    if (is_word(p, "distinct") && p->inside)
        return fail_here(p, "DISTINCT goes behind WITH: WITH t AS (SELECT …) SELECT DISTINCT … FROM t");
    p->select->distinct = is_word(p, "distinct");
    return is_word(p, "distinct") || is_word(p, "all") ? advance(p) : true;
}

/* Whether the token is a column's name behind the alias and a dot. */
static bool has_alias(const hac_token *token, const char *alias)
{
    bool quoted = token->kind == HAC_TOKEN_QUOTED;
    size_t n = alias != NULL ? strlen(alias) : 0;
    const char *name = token->text + quoted;
    return n > 0 && token->bytes > n + 1 + 2 * (size_t)quoted && name[n] == (quoted ? JOINT : '.') &&
           strncasecmp(name, alias, n) == 0;
}

/* Replaces `t.` before a column's name by blanks, if t is the source's alias (NULL: it has none), and the
 * other joints of names by dots. */
static void drop_alias(const char *alias, char *text)
{
    hac_expr_source source = {.option = "", .text = text};
    hac_lexer lexer = {&source, text};
    hac_token token = {.kind = HAC_TOKEN_NAME};
    while (token.kind != HAC_TOKEN_END && hac_lexer_next(&lexer, &token, NULL) == HAC_OK) {
        bool quoted = token.kind == HAC_TOKEN_QUOTED;
        char *at = text + (token.text - text);
        if ((token.kind == HAC_TOKEN_NAME || quoted) && has_alias(&token, alias)) {
            size_t bytes = strlen(alias) + 1;
            memset(at, ' ', bytes + quoted);
            if (quoted)
                at[bytes] = '"';
        }
        if (quoted)
            dot_joints(at, token.bytes);
    }
}

static void drop_aliases(sql_parser *p)
{
    const char *alias = p->alias != NULL || p->inside ? p->alias : p->with;
    for (size_t i = 0; i < HAC_SQL_WITH_SELECT; i++)
        if (p->select->clauses[i].text != NULL)
            drop_alias(alias, p->select->clauses[i].text);
    free(p->alias);
    p->alias = NULL;
}

/* `FROM 'file'` alone, and before SELECT, is allowed. */
static bool take_select(sql_parser *p)
{
    p->from = is_word(p, "from");
    if (p->from && !take_from(p))
        return false;
    if (is_word(p, "select")) {
        if (!advance(p) || !take_distinct(p) || !take_clause(p, HAC_SQL_SELECT))
            return false;
    } else if (!p->from) {
        return check_refused(p, HAC_SQL_BEGINS) && unexpected(p, "SELECT");
    } else {
        p->select->clauses[HAC_SQL_SELECT] = (hac_sql_text){.text = copy(p, "*", 1), .character = 1};
    }
    return p->status == HAC_OK;
}

/* Whether the texts have the same tokens, whose case counts in quotes only. Both were read before. */
static bool same_text(const hac_sql_text *a, const hac_sql_text *b)
{
    if (a->text == NULL || b->text == NULL)
        return a->text == b->text;
    hac_expr_source one = {.option = "", .text = a->text}, other = {.option = "", .text = b->text};
    hac_lexer x = {&one, a->text}, y = {&other, b->text};
    hac_token s, t;
    do {
        if (hac_lexer_next(&x, &s, NULL) != HAC_OK || hac_lexer_next(&y, &t, NULL) != HAC_OK)
            return false;
        bool exact = s.kind == HAC_TOKEN_QUOTED || s.kind == HAC_TOKEN_STRING;
        int (*differ)(const char *, const char *, size_t) = exact ? strncmp : strncasecmp;
        if (s.kind != t.kind || s.bytes != t.bytes || differ(s.text, t.text, s.bytes) != 0)
            return false;
    } while (s.kind != HAC_TOKEN_END);
    return true;
}

/* Whether one of the items is `*` or columns(…), whose columns are in the order of the file. */
static bool has_star(const hac_sql_text *select)
{
    hac_expr_source source = {.option = "", .text = select->text};
    hac_lexer lexer = {&source, select->text};
    hac_token token = {.kind = HAC_TOKEN_SYMBOL, .text = ",", .bytes = 1};
    while (token.kind != HAC_TOKEN_END) {
        bool begins = hac_token_is_symbol(&token, ",");
        if (hac_lexer_next(&lexer, &token, NULL) != HAC_OK)
            return false;
        if ((begins && hac_token_is_symbol(&token, "*")) || hac_token_is_word(&token, "columns"))
            return true;
    }
    return false;
}

static bool has_only_rows(const hac_sql_select *select)
{
    for (size_t i = HAC_SQL_GROUP_BY; i < HAC_SQL_CLAUSES; i++)
        if (select->clauses[i].text != NULL)
            return false;
    return !select->distinct && select->limit == UINT64_MAX && select->limit_each == UINT64_MAX &&
           select->offset == 0;
}

/* Takes FROM and WHERE, which SELECT has in any place. */
static bool take_member(sql_parser *p)
{
    if (!take_select(p))
        return false;
    while (is_word(p, "from") || is_word(p, "where"))
        if (!take_any(p))
            return false;
    drop_aliases(p);
    return p->from || unexpected(p, "FROM and a file, as in FROM 'sales.csv'");
}

/* UNION ALL of the same SELECT over several files is that SELECT over all of them. */
static bool take_union(sql_parser *p)
{
    hac_sql_text *const texts = p->select->clauses;
    hac_sql_text select = texts[HAC_SQL_SELECT], where = texts[HAC_SQL_WHERE];
    size_t character = character_of(p, p->token.text);
    if (!hac_token_is_word(&p->next, "all"))
        return fail_here(p, "UNION drops rows that are repeated; write UNION ALL");
    if (p->with != NULL && !p->inside)
        return fail_here(p, "write UNION ALL inside of WITH");
    if (!has_only_rows(p->select))
        return fail_here(p, ONLY_ROWS, "what makes groups, orders or limits rows");
    if (!advance_twice(p))
        return false;
    bool by_name = is_word(p, "by") && hac_token_is_word(&p->next, "name");
    if (by_name && !advance_twice(p))
        return false;
    const char *first = p->token.text;
    drop_aliases(p);
    texts[HAC_SQL_SELECT] = texts[HAC_SQL_WHERE] = (hac_sql_text){.text = NULL};
    bool good = take_member(p);
    bool alike = same_text(&select, &texts[HAC_SQL_SELECT]) && same_text(&where, &texts[HAC_SQL_WHERE]) &&
                 !p->select->distinct;
    free(texts[HAC_SQL_SELECT].text);
    free(texts[HAC_SQL_WHERE].text);
    texts[HAC_SQL_SELECT] = select;
    texts[HAC_SQL_WHERE] = where;
    p->select->union_character = character;
    p->select->by_position |= !by_name && has_star(&select);
    if (good && !alike)
        p->status = hac_expr_fail(&p->source, offset_of(p, first), p->err,
                                  "UNION ALL is of SELECTs that differ in their files only");
    return p->status == HAC_OK;
}

static bool take_query(sql_parser *p)
{
    if (!take_select(p))
        return false;
    while (p->status == HAC_OK && !at_end(p) && !ends_inner(p))
        if (!(is_word(p, "union") ? take_union(p) : take_any(p)))
            return false;
    drop_aliases(p);
    return p->from ? p->status == HAC_OK : unexpected(p, "FROM and a file, as in FROM 'sales.csv'");
}

static bool take_symbol(sql_parser *p, const char *symbol, const char *expected)
{
    return is_symbol(p, symbol) ? advance(p) : unexpected(p, expected);
}

/* The clauses of the SELECT of WITH make room for those of the other one. */
static void keep_inner(sql_parser *p)
{
    hac_sql_text *texts = p->select->clauses, none = {.text = NULL};
    bool rows_only = strcmp(texts[HAC_SQL_SELECT].text, "*") == 0;
    if (rows_only) {
        free(texts[HAC_SQL_SELECT].text);
        p->inner_where = texts[HAC_SQL_WHERE];
    } else {
        texts[HAC_SQL_WITH_SELECT] = texts[HAC_SQL_SELECT];
        texts[HAC_SQL_WITH_WHERE] = texts[HAC_SQL_WHERE];
    }
    texts[HAC_SQL_SELECT] = texts[HAC_SQL_WHERE] = none;
}

/* WITH t AS (SELECT … FROM 'file' WHERE …): the rows of the query's source. */
static bool take_with(sql_parser *p)
{
    if (!advance(p))
        return false;
    if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED)
        return unexpected(p, "a name behind WITH");
    if ((p->with = unquoted(p)) == NULL || !advance(p))
        return false;
    if (!is_word(p, "as"))
        return unexpected(p, "AS (SELECT …)");
    p->inside = true;
    if (!advance(p) || !take_symbol(p, "(", "'('") || !take_query(p) || !take_symbol(p, ")", "')'"))
        return false;
    p->inside = false;
    if (is_symbol(p, ","))
        return fail_here(p, "WITH has one name; write other results with -o PART.parquet, and query these");
    p->select->union_character = 0;
    keep_inner(p);
    return true;
}

/* A row must fulfil both conditions. */
static bool join_conditions(sql_parser *p)
{
    hac_sql_text *outer = &p->select->clauses[HAC_SQL_WHERE], *inner = &p->inner_where;
    if (inner->text == NULL || outer->text == NULL) {
        if (inner->text != NULL)
            *outer = *inner;
        inner->text = NULL;
        return true;
    }
    char *text = NULL;
    int before = asprintf(&text, "(%s) and (", inner->text);
    free(text);
    if (before < 0 || asprintf(&text, "(%s) and (%s)", inner->text, outer->text) < 0) {
        p->status = hac_fail_no_memory(p->err);
        return false;
    }
    size_t characters = 1;
    for (int i = 0; i < before; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    free(outer->text);
    *outer = (hac_sql_text){text, inner->character - 1, characters, outer->character};
    return true;
}

static bool parse_statement(sql_parser *p)
{
    if (is_word(p, "with") && !take_with(p))
        return false;
    return take_query(p) && join_conditions(p);
}

hac_status hac_sql_select_parse(const char *text, hac_sql_select *ret, hac_error *err)
{
    hac_error unused;
    *ret = (hac_sql_select){.limit = UINT64_MAX, .limit_each = UINT64_MAX};
    hac_autofree char *own = strdup(text);
    if (own == NULL)
        return hac_fail_no_memory(err);
    blank_comments(own);
    sql_parser p = {.source = {.option = "SQL", .text = own},
                    .text = own,
                    .next = {.kind = HAC_TOKEN_END, .text = own},
                    .err = err != NULL ? err : &unused,
                    .select = ret};
    p.lexer = (hac_lexer){&p.source, own};
    if (advance_twice(&p))
        (void)parse_statement(&p);
    if (p.status != HAC_OK)
        dot_joints(p.err->message, strlen(p.err->message));
    free(p.alias);
    free(p.with);
    free(p.inner_where.text);
    return p.status;
}

void hac_sql_select_clear(hac_sql_select *select)
{
    for (size_t i = 0; i < HAC_SQL_CLAUSES; i++)
        free(select->clauses[i].text);
    for (size_t i = 0; i < select->n_sources; i++)
        free(select->sources[i]);
    free(select->sources);
    *select = (hac_sql_select){.limit = UINT64_MAX, .limit_each = UINT64_MAX};
}

/* ---- messages of the compiler ---- */

/* Replaces the names of options inside of a message: "add it to --group-by". */
static void reword_options(char *message, size_t size)
{
    char said[HAC_ERROR_MESSAGE_SIZE], option[32];
    for (size_t i = 0; i < HAC_SQL_CLAUSES; i++) {
        snprintf(option, sizeof option, "--%s", clauses[i].option);
        for (char *at = strstr(message, option); at != NULL; at = strstr(message, option)) {
            snprintf(said, sizeof said, "%s", at + strlen(option));
            snprintf(at, size - (size_t)(at - message), "%s%s", clauses[i].name, said);
        }
    }
}

/* The place in the statement of a character of the text. */
static size_t place_of(const hac_sql_text *text, size_t character)
{
    bool second = text->second_from > 0 && character >= text->second_from;
    return second ? text->second + character - text->second_from : text->character + character - 1;
}

void hac_sql_select_reword(const hac_sql_select *select, hac_error *err)
{
    char said[HAC_ERROR_MESSAGE_SIZE];
    if (err == NULL || err->code != HAC_INVALID)
        return;
    snprintf(said, sizeof said, "%s", err->message);
    for (size_t i = 0; i < HAC_SQL_CLAUSES; i++) {
        char option[48];
        snprintf(option, sizeof option, "--%s: character ", clauses[i].option);
        if (select->clauses[i].text == NULL || strncmp(said, option, strlen(option)) != 0)
            continue;
        char *rest;
        size_t at = strtoul(said + strlen(option), &rest, 10);
        (void)hac_fail(err, err->code, "SQL: character %zu%s", place_of(&select->clauses[i], at), rest);
        break;
    }
    reword_options(err->message, sizeof err->message);
}
