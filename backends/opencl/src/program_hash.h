/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of programs. Names of program files contain them; images and models record them. */
#ifndef OPENCL_PROGRAM_HASH_H
#define OPENCL_PROGRAM_HASH_H

#include <stdint.h>

#include "opencl/programs.h"

#define HAC_PROGRAM_OPTIONS "-cl-std=CL1.2 " /* for every program */

/* Continues `hash` with a text. */
uint64_t hac_hash_text(uint64_t hash, const char *text);

/* The hash of a program's source and options. */
uint64_t hac_program_hash(const hac_program_source *source);

#endif
