/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a check, and the problems and notes that it reports. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *hac_logic_alloc(hac_logic_checker *c, size_t bytes)
{
    void *memory = hac_arena_alloc(c->arena, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        (void)hac_logic_no_memory(c);
    return memory;
}

hac_status hac_logic_no_memory(hac_logic_checker *c)
{
    c->no_memory = true;
    return hac_fail_no_memory(c->err);
}

char *hac_logic_copy(hac_logic_checker *c, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = hac_logic_alloc(c, bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

char *hac_logic_print(hac_logic_checker *c, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = bytes >= 0 ? hac_logic_alloc(c, (size_t)bytes + 1) : NULL;
    if (text != NULL)
        vsnprintf(text, (size_t)bytes + 1, fmt, again);
    va_end(again);
    return text;
}

void *hac_logic_grow(hac_logic_checker *c, hac_grow *list, size_t size)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        void *data = hac_logic_alloc(c, capacity * size);
        if (data == NULL)
            return NULL;
        if (list->n > 0)
            memcpy(data, list->data, list->n * size);
        list->data = data;
        list->capacity = capacity;
    }
    return (char *)list->data + list->n++ * size;
}

hac_logic_position hac_logic_at(const hac_yaml_node *node)
{
    return (hac_logic_position){node->line, node->column};
}

hac_logic_position hac_logic_key_at(const hac_yaml_node *node)
{
    return (hac_logic_position){node->key_line, node->key_column};
}

hac_status hac_logic_problem_text(hac_logic_checker *c, const char *message)
{
    if (c->quiet > 0 || c->problems.n >= HAC_LOGIC_PROBLEMS_MAX)
        return HAC_INVALID;
    char *text = hac_logic_copy(c, message);
    for (size_t i = 0; text != NULL && i < c->problems.n; i++)
        if (strcmp(((char **)c->problems.data)[i], text) == 0)
            return HAC_INVALID; /* a user's OP may be used twice */
    char **entry = text != NULL ? hac_logic_grow(c, &c->problems, sizeof *entry) : NULL;
    if (entry == NULL)
        return HAC_NO_MEMORY;
    *entry = text;
    return HAC_INVALID;
}

static hac_status report(hac_logic_checker *c, hac_logic_position at, const char *message)
{
    hac_error place = HAC_ERROR_NONE;
    (void)hac_yaml_fail_at(c->scope->file, at.line, at.column, &place, "%s", message);
    return hac_logic_problem_text(c, place.message);
}

hac_status hac_logic_problem(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return report(c, hac_logic_at(node), message);
}

hac_status hac_logic_problem_key(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return report(c, hac_logic_key_at(node), message);
}

hac_status hac_logic_problem_in(hac_logic_checker *c, const hac_yaml_node *node, size_t character,
                                const char *message)
{
    hac_logic_position at = hac_logic_at(node);
    if (character == 0)
        return report(c, at, message);
    if (node->text_column == 0)
        return hac_logic_problem(c, node, "character %zu: %s", character, message);
    at.column = node->text_column + (unsigned)character - 1;
    return report(c, at, message);
}

void hac_logic_note(hac_logic_checker *c, const hac_yaml_node *node, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    hac_error place = HAC_ERROR_NONE;
    va_list args;
    if (c->quiet > 0 || c->notes.n >= HAC_LOGIC_PROBLEMS_MAX)
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    (void)hac_yaml_fail_at(c->scope->file, node->key_line, node->key_column, &place, "%s", message);
    char *text = hac_logic_copy(c, place.message);
    char **entry = text != NULL ? hac_logic_grow(c, &c->notes, sizeof *entry) : NULL;
    if (entry != NULL)
        *entry = text;
}
