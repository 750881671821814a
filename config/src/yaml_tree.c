/* SPDX-License-Identifier: Apache-2.0 */
#include "config/yaml_tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"

typedef struct reader {
    yaml_parser_t parser;
    const char *file;
    const char *text;
    size_t length;
    unsigned nodes;
    bool columns; /* messages give the column, too */
    hac_error *err;
} reader;

HAC_DEFINE_CLEANUP(hac_yaml_node *, hac_yaml_free)

void hac_yaml_free(hac_yaml_node *node)
{
    if (node == NULL)
        return;
    for (hac_yaml_node *child = node->first, *next; child != NULL; child = next) {
        next = child->next;
        hac_yaml_free(child);
    }
    free(node->key);
    free(node->text);
    free(node);
}

/* Messages ------------------------------------------------------------------------------------------ */

HAC_PRINTF(5, 0)
static hac_status fail_with(const char *file, unsigned line, unsigned column, hac_error *err, const char *fmt,
                            va_list args)
{
    enum { SHOWN = 160 }; /* a long path is shown without its beginning */
    char message[HAC_ERROR_MESSAGE_SIZE], place[16] = "";
    vsnprintf(message, sizeof message, fmt, args);
    if (column > 0)
        snprintf(place, sizeof place, ":%u", column);
    size_t length = strlen(file);
    if (length > SHOWN)
        return hac_fail(err, HAC_INVALID, "...%s:%u%s: %s", file + length - SHOWN, line, place, message);
    return hac_fail(err, HAC_INVALID, "%s:%u%s: %s", file, line, place, message);
}

hac_status hac_yaml_fail(const char *file, unsigned line, hac_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    hac_status status = fail_with(file, line, 0, err, fmt, args);
    va_end(args);
    return status;
}

hac_status hac_yaml_fail_at(const char *file, unsigned line, unsigned column, hac_error *err, const char *fmt,
                            ...)
{
    va_list args;
    va_start(args, fmt);
    hac_status status = fail_with(file, line, column, err, fmt, args);
    va_end(args);
    return status;
}

/* Sets a message of the reader itself, not of libyaml. */
HAC_PRINTF(3, 4)
static hac_status refuse(const reader *r, yaml_mark_t mark, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    hac_status status = fail_with(r->file, (unsigned)mark.line + 1,
                                  r->columns ? (unsigned)mark.column + 1 : 0, r->err, fmt, args);
    va_end(args);
    return status;
}

const char *hac_yaml_show(const char *text, char *buffer)
{
    enum { SHOWN = 40 };
    size_t length = strnlen(text, SHOWN + 1);
    bool cut = length > SHOWN;
    if (cut) {
        length = SHOWN;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--; /* do not cut within a UTF-8 sequence */
    }
    for (size_t i = 0; i < length; i++)
        buffer[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
    strcpy(buffer + length, cut ? "..." : "");
    return buffer;
}

const char *hac_yaml_path(const hac_yaml_node *node, char *buffer)
{
    buffer[0] = '\0';
    if (node->parent == NULL)
        return buffer;
    hac_yaml_path(node->parent, buffer);
    size_t used = strlen(buffer);
    char show[HAC_YAML_SHOW_SIZE];
    if (node->key == NULL)
        snprintf(buffer + used, HAC_YAML_PATH_SIZE - used, "[%zu]", node->index);
    else
        snprintf(buffer + used, HAC_YAML_PATH_SIZE - used, "%s%s", used > 0 ? "." : "",
                 hac_yaml_show(node->key, show));
    return buffer;
}

/* Events -------------------------------------------------------------------------------------------- */

static unsigned line_of(yaml_mark_t mark)
{
    return (unsigned)mark.line + 1;
}

static unsigned column_of(yaml_mark_t mark)
{
    return (unsigned)mark.column + 1;
}

static yaml_mark_t mark_at(const reader *r, size_t offset)
{
    yaml_mark_t mark = {.index = offset};
    for (size_t i = 0; i < offset && i < r->length; i++) {
        mark.column += ((unsigned char)r->text[i] & 0xC0) != 0x80;
        if (r->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

/* libyaml's marks count characters, not bytes. */
static bool is_tab(const reader *r, yaml_mark_t mark)
{
    size_t i = 0, column = 0;
    for (size_t line = 0; i < r->length && line < mark.line; i++)
        line += r->text[i] == '\n';
    for (; i < r->length && column < mark.column; i++)
        column += i + 1 == r->length || ((unsigned char)r->text[i + 1] & 0xC0) != 0x80;
    return i < r->length && r->text[i] == '\t';
}

static hac_status parser_failed(const reader *r)
{
    const yaml_parser_t *parser = &r->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return hac_fail_no_memory(r->err);
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR)
        return refuse(r, mark_at(r, parser->problem_offset), "%s; allowed: UTF-8 text", problem);
    yaml_mark_t mark = parser->problem_mark;
    if (parser->context != NULL && strcmp(parser->context, "while scanning an alias") == 0)
        return refuse(r, mark, "aliases are not allowed; put a text that begins with * in quotes");
    if (is_tab(r, mark))
        return refuse(r, mark, "a TAB cannot stand here; indent with spaces");
    if (parser->context != NULL)
        return refuse(r, mark, "%s, %s", problem, parser->context);
    return refuse(r, mark, "%s", problem);
}

static hac_status next_event(reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event))
        return parser_failed(r);
    return HAC_OK;
}

/* Refuses anchors and tags, which no node may have. */
static hac_status check_node(const reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    yaml_mark_t mark = event->start_mark;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        return refuse(r, mark, "aliases are not allowed; put a text that begins with * in quotes");
    }
    if (anchor != NULL)
        return refuse(r, mark, "anchors (&) are not allowed");
    if (tag != NULL)
        return refuse(r, mark, "tags (!) are not allowed");
    return HAC_OK;
}

/* Copies a scalar that holds no NUL. */
static hac_status copy_scalar(const reader *r, const yaml_event_t *event, char **ret)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length) != NULL)
        return refuse(r, event->start_mark, "a text holds a NUL character");
    char *copy = strndup(value, length);
    if (copy == NULL)
        return hac_fail_no_memory(r->err);
    *ret = copy;
    return HAC_OK;
}

/* Tree ---------------------------------------------------------------------------------------------- */

static hac_status new_node(reader *r, const yaml_event_t *event, hac_yaml_node **ret)
{
    if (++r->nodes > HAC_YAML_NODES_MAX)
        return refuse(r, event->start_mark, "too many values; allowed: at most %d in a file",
                      HAC_YAML_NODES_MAX);
    hac_yaml_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return hac_fail_no_memory(r->err);
    node->kind = event->type == YAML_SCALAR_EVENT           ? HAC_YAML_SCALAR
                 : event->type == YAML_SEQUENCE_START_EVENT ? HAC_YAML_LIST
                                                            : HAC_YAML_MAP;
    node->line = node->key_line = line_of(event->start_mark);
    node->column = node->key_column = column_of(event->start_mark);
    *ret = node;
    return HAC_OK;
}

static hac_status check_duplicate(const reader *r, const hac_yaml_node *node)
{
    char path[HAC_YAML_PATH_SIZE];
    for (const hac_yaml_node *other = node->parent->first; other != NULL; other = other->next)
        if (strcmp(other->key, node->key) == 0)
            return hac_yaml_fail_at(r->file, node->key_line, r->columns ? node->key_column : 0, r->err,
                                    "key `%s`: given twice, first in line %u; allowed: once",
                                    hac_yaml_path(node, path), other->key_line);
    return HAC_OK;
}

/* Reads the key of a map's entry into `node`, and the event of its value. */
static hac_status read_key(reader *r, const yaml_event_t *key, hac_yaml_node *node, yaml_event_t *value)
{
    hac_status status = check_node(r, key);
    if (status == HAC_OK && key->type != YAML_SCALAR_EVENT)
        return refuse(r, key->start_mark, "a key must be a word");
    if (status == HAC_OK)
        status = copy_scalar(r, key, &node->key);
    if (status != HAC_OK)
        return status;
    node->key_line = line_of(key->start_mark);
    node->key_column = column_of(key->start_mark);
    status = check_duplicate(r, node);
    return status != HAC_OK ? status : next_event(r, value);
}

static hac_status read_value(reader *r, const yaml_event_t *event, unsigned depth, hac_yaml_node *node);

/* Reads one child of `parent`, which begins with `event`, and puts it at *at. */
static hac_status read_child(reader *r, yaml_event_t *event, unsigned depth, hac_yaml_node *parent,
                             hac_yaml_node **at)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *node = NULL;
    hac_cleanup(yaml_event_delete) yaml_event_t value = {0};
    const yaml_event_t *start = event;
    if (parent->count == HAC_YAML_CHILDREN_MAX)
        return refuse(r, event->start_mark, "too many entries; allowed: at most %d in a map or list",
                      HAC_YAML_CHILDREN_MAX);
    hac_status status = new_node(r, event, &node);
    if (status != HAC_OK)
        return status;
    node->parent = parent;
    node->index = parent->count;
    if (parent->kind == HAC_YAML_MAP) {
        status = read_key(r, event, node, &value);
        start = &value;
    }
    if (status == HAC_OK)
        status = read_value(r, start, depth, node);
    if (status != HAC_OK)
        return status;
    *at = hac_steal_ptr(node);
    parent->count++;
    return HAC_OK;
}

static hac_status read_children(reader *r, unsigned depth, hac_yaml_node *node)
{
    hac_yaml_node **at = &node->first;
    for (;;) {
        hac_cleanup(yaml_event_delete) yaml_event_t event = {0};
        hac_status status = next_event(r, &event);
        if (status != HAC_OK)
            return status;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            return HAC_OK;
        status = read_child(r, &event, depth + 1, node, at);
        if (status != HAC_OK)
            return status;
        at = &(*at)->next;
    }
}

/* Where the text of a scalar begins if the file has it character by character; else 0. */
static unsigned text_column(const yaml_event_t *event)
{
    const yaml_mark_t *start = &event->start_mark, *end = &event->end_mark;
    unsigned quote = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    size_t characters = 0;
    for (size_t i = 0; i < event->data.scalar.length; i++)
        characters += (event->data.scalar.value[i] & 0xC0) != 0x80;
    bool as_written = start->line == end->line && end->column - start->column == characters + 2 * quote;
    return as_written ? column_of(*start) + quote : 0;
}

/* Fills `node` from the value that begins with `event`; recursion ends at HAC_YAML_DEPTH_MAX. */
static hac_status read_value(reader *r, const yaml_event_t *event, unsigned depth, hac_yaml_node *node)
{
    hac_status status = check_node(r, event);
    if (status != HAC_OK)
        return status;
    node->line = line_of(event->start_mark);
    node->column = column_of(event->start_mark);
    if (depth > HAC_YAML_DEPTH_MAX)
        return refuse(r, event->start_mark, "nested too deep; allowed: %d levels", HAC_YAML_DEPTH_MAX);
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = HAC_YAML_SCALAR;
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        node->text_column = text_column(event);
        return copy_scalar(r, event, &node->text);
    }
    node->kind = event->type == YAML_MAPPING_START_EVENT ? HAC_YAML_MAP : HAC_YAML_LIST;
    return read_children(r, depth, node);
}

/* Documents ----------------------------------------------------------------------------------------- */

/* Reads the root node of the document that begins with `start`. */
static hac_status read_root(reader *r, const yaml_event_t *start, hac_yaml_node **ret)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_cleanup(yaml_event_delete) yaml_event_t event = {0};
    if (start->type == YAML_DOCUMENT_START_EVENT &&
        start->data.document_start.tag_directives.start != start->data.document_start.tag_directives.end)
        return refuse(r, start->start_mark, "%%TAG is not allowed");
    hac_status status = new_node(r, start, &root);
    if (status != HAC_OK)
        return status;
    if (start->type == YAML_DOCUMENT_START_EVENT) {
        status = next_event(r, &event);
        if (status == HAC_OK)
            status = read_value(r, &event, 1, root);
        if (status != HAC_OK)
            return status;
    }
    if (hac_yaml_is_null(root))
        root->kind = HAC_YAML_MAP;
    if (root->kind != HAC_YAML_MAP)
        return hac_yaml_fail_at(r->file, root->line, r->columns ? root->column : 0, r->err,
                                "the file holds a %s; allowed: keys with values",
                                root->kind == HAC_YAML_LIST ? "list" : "single value");
    *ret = hac_steal_ptr(root);
    return HAC_OK;
}

/* Refuses a second document. */
static hac_status read_end(reader *r)
{
    for (;;) {
        hac_cleanup(yaml_event_delete) yaml_event_t event = {0};
        hac_status status = next_event(r, &event);
        if (status != HAC_OK)
            return status;
        if (event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT)
            return HAC_OK;
        if (event.type != YAML_DOCUMENT_END_EVENT)
            return refuse(r, event.start_mark, "a second document begins; allowed: one in a file");
    }
}

static hac_status read_stream(reader *r, hac_yaml_node **ret)
{
    hac_cleanup(hac_yaml_free_cleanup) hac_yaml_node *root = NULL;
    hac_cleanup(yaml_event_delete) yaml_event_t stream = {0};
    hac_cleanup(yaml_event_delete) yaml_event_t document = {0};
    hac_status status = next_event(r, &stream);
    if (status == HAC_OK)
        status = next_event(r, &document);
    if (status == HAC_OK)
        status = read_root(r, &document, &root);
    if (status == HAC_OK)
        status = read_end(r);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(root);
    return status;
}

static hac_status parse(const char *file, const char *text, size_t length, bool columns, hac_yaml_node **ret,
                        hac_error *err)
{
    if (length > HAC_YAML_BYTES_MAX)
        return hac_yaml_fail_at(file, 1, columns, err, "the file is too large; allowed: at most 256KiB");
    reader r = {.file = file, .text = text, .length = length, .columns = columns, .err = err};
    if (!yaml_parser_initialize(&r.parser))
        return hac_fail_no_memory(err);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    /* Without this a byte order mark would switch libyaml to UTF-16. */
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    hac_status status = read_stream(&r, ret);
    yaml_parser_delete(&r.parser);
    return status;
}

hac_status hac_yaml_parse(const char *file, const char *text, size_t length, hac_yaml_node **ret,
                          hac_error *err)
{
    return parse(file, text, length, false, ret, err);
}

hac_status hac_yaml_parse_columns(const char *file, const char *text, size_t length, hac_yaml_node **ret,
                                  hac_error *err)
{
    return parse(file, text, length, true, ret, err);
}

bool hac_yaml_is_null(const hac_yaml_node *node)
{
    if (node->kind != HAC_YAML_SCALAR)
        return false;
    return node->plain && (strcmp(node->text, "") == 0 || strcmp(node->text, "~") == 0 ||
                           strcasecmp(node->text, "null") == 0);
}

const hac_yaml_node *hac_yaml_get(const hac_yaml_node *map, const char *path)
{
    const hac_yaml_node *at = map;
    while (at != NULL && *path != '\0') {
        if (at->kind != HAC_YAML_MAP)
            return NULL;
        size_t length = strcspn(path, ".");
        const hac_yaml_node *child = at->first;
        while (child != NULL && (strncmp(child->key, path, length) != 0 || child->key[length] != '\0'))
            child = child->next;
        at = child;
        path += length + (path[length] == '.');
    }
    return at;
}

/* Files --------------------------------------------------------------------------------------------- */

/* Whether only a change of the file can help. Other reasons may pass, so trying again makes sense. */
static hac_status open_failed(int why)
{
    if (why == ENOENT)
        return HAC_NOT_FOUND;
    return why == EACCES || why == EPERM || why == ELOOP || why == ENOTDIR ? HAC_INVALID : HAC_IO;
}

hac_status hac_yaml_read_file(const char *path, char **ret_text, size_t *ret_length, hac_error *err)
{
    hac_autoclose int fd = hac_open_read(path);
    if (fd < 0)
        return hac_fail_errno(err, open_failed(errno), errno, "%s: cannot open", path);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "%s: cannot stat", path);
    if (!S_ISREG(st.st_mode))
        return hac_fail(err, HAC_INVALID, "%s: not a regular file", path);
    hac_autofree char *text = malloc(HAC_YAML_BYTES_MAX + 1);
    if (text == NULL)
        return hac_fail_no_memory(err);
    uint64_t length = 0;
    int errnum = hac_pread_all(fd, text, HAC_YAML_BYTES_MAX + 1, 0, &length, HAC_FAILPOINT_NAME("yaml.read"));
    if (errnum != 0)
        return hac_fail_errno(err, HAC_IO, errnum, "%s: cannot read", path);
    if (length > HAC_YAML_BYTES_MAX)
        return hac_fail(err, HAC_INVALID, "%s: the file is too large; allowed: at most 256KiB", path);
    *ret_text = hac_steal_ptr(text);
    *ret_length = (size_t)length;
    return HAC_OK;
}
