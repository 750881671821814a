/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerations about devices and the memory of tasks. Profiles, plans, messages and executors use these
 * numbers. */
#ifndef BASE_DEVICE_H
#define BASE_DEVICE_H

/* What a task, or its kernels, do with a range of memory. */
typedef enum hac_access { HAC_READ = 1, HAC_WRITE = 2, HAC_READ_WRITE = 3 } hac_access;

/* The style of kernels that a profile asks for. */
typedef enum hac_style_choice {
    HAC_STYLE_AUTO = 0, /* GPUs: simt; all other devices: block */
    HAC_STYLE_CHOICE_BLOCK,
    HAC_STYLE_CHOICE_SIMT
} hac_style_choice;

typedef enum hac_byte_order {
    HAC_BYTE_ORDER_NATIVE = 0, /* the order that the driver reports */
    HAC_BYTE_ORDER_LITTLE,
    HAC_BYTE_ORDER_BIG
} hac_byte_order;

#endif
