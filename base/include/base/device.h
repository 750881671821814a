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

/* What a profile says a device is. X(enumerator, name) */
#define HAC_DEVICE_KINDS(X)                                                                                  \
    X(CPU, "cpu")                                                                                            \
    X(GPU, "gpu")                                                                                            \
    X(FPGA, "fpga")                                                                                          \
    X(DSP, "dsp")                                                                                            \
    X(ARM, "arm")

#define HAC_DEVICE_KIND_ENUMERATOR(kind, name) HAC_DEVICE_KIND_##kind,
typedef enum hac_device_kind {
    HAC_DEVICE_KINDS(HAC_DEVICE_KIND_ENUMERATOR) HAC_DEVICE_KIND_END /* also: no kind of this list */
} hac_device_kind;

/* "cpu"; "unknown" of HAC_DEVICE_KIND_END and above. */
const char *hac_device_kind_name(hac_device_kind kind);

/* The kind with this name. HAC_DEVICE_KIND_END if there is none; NULL is allowed. */
hac_device_kind hac_device_kind_find(const char *name);

typedef enum hac_byte_order {
    HAC_BYTE_ORDER_NATIVE = 0, /* the order that the driver reports */
    HAC_BYTE_ORDER_LITTLE,
    HAC_BYTE_ORDER_BIG
} hac_byte_order;

#endif
