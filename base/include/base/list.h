/* SPDX-License-Identifier: Apache-2.0 */
/* Doubly linked lists whose links are members of what is listed. A head is a link that points to itself. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hac_link {
    struct hac_link *next, *previous;
} hac_link;

static inline void hac_list_init(hac_link *head)
{
    head->next = head->previous = head;
}

static inline bool hac_list_empty(const hac_link *head)
{
    return head->next == head;
}

static inline void hac_list_append(hac_link *head, hac_link *link)
{
    link->previous = head->previous;
    link->next = head;
    head->previous->next = link;
    head->previous = link;
}

/* Takes a link out of its list; does nothing to one that is in none (initialised or zero). */
static inline void hac_list_remove(hac_link *link)
{
    if (link->next == NULL)
        return;
    link->next->previous = link->previous;
    link->previous->next = link->next;
    hac_list_init(link);
}

#define hac_container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Walks a list whose current element may be removed on the way. */
#define hac_list_for_each(element, head, type, member)                                                       \
    for (hac_link *element##_at = (head)->next, *element##_next = element##_at->next;                        \
         element##_at != (head) && ((element) = hac_container_of(element##_at, type, member), true);         \
         element##_at = element##_next, element##_next = element##_at->next)

/* The same from its end. */
#define hac_list_for_each_back(element, head, type, member)                                                  \
    for (hac_link *element##_at = (head)->previous, *element##_next = element##_at->previous;                \
         element##_at != (head) && ((element) = hac_container_of(element##_at, type, member), true);         \
         element##_at = element##_next, element##_next = element##_at->previous)

#endif
