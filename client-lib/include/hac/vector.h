/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of the seven templates of <hac/op.h>. A program fills a vector by key, lays the vector out in pool
 * memory for the sub-operators, and walks its elements by key. docs/examples/vectors.c is a complete program.
 *
 *     hac_vector *x = NULL, *y = NULL;
 *     hac_vector_iterator *walk = NULL;
 *     hac_vector_entry entry;
 *     const hac_vector_shape shape = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 1000, 1, 0};
 *
 *     if (hac_vector_new(&shape, &x, &err) != HAC_OK ||
 *         hac_vector_emit(x, 7, 0, hac_vector_f64(0.5), &err) != HAC_OK || // row 7, column 0
 *         hac_vector_finish(x, client, &err) != HAC_OK ||                  // x is in pool memory now
 *         hac_vector_alloc(&shape, client, &y, &err) != HAC_OK)             // a task writes y
 *         die(err.message);
 *     ... put hac_vector_operand into a call, hac_vector_buffer into a graph; hac_ops_submit or hac_ops_run
 *     if (hac_vector_iter(y, &walk, &err) != HAC_OK)
 *         die(err.message);
 *     while ((status = hac_vector_next(walk, &entry, &err)) == HAC_OK)
 *         printf("%" PRIu64 " %g\n", entry.row, entry.value.f64);
 *     if (status != HAC_NOT_FOUND) // HAC_NOT_FOUND: no more elements
 *         die(err.message);
 *
 * The rules at the top of <hac/hac.h> apply to this header, too.
 */
#ifndef HAC_VECTOR_H
#define HAC_VECTOR_H

#include <hac/hac.h>
#include <hac/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hac_vector hac_vector;

/* The template, type and size of a vector. An initializer may omit trailing zeros. */
typedef struct hac_vector_shape {
    hac_vector_template form;
    hac_vector_type type; /* STRING for SparseTextVector, and only for SparseTextVector */
    /* Number of rows. hac_vector_new also takes 0: then the highest emitted row decides. A Var has 1 row. */
    uint64_t rows;
    /* Number of columns. hac_vector_new also takes 0: then the highest emitted column decides. A dense vector
     * has at least 1 column. A vector of a template without columns has 1. */
    uint64_t columns;
    /* For hac_vector_alloc only: number of elements of a sparse or variable-length vector; bytes of all
     * strings of a SparseTextVector. */
    uint64_t entries;
} hac_vector_shape;

/* One element. */
typedef struct hac_vector_value {
    hac_vector_type type; /* selects the member of the union */
    union {
        uint8_t boolean;
        int32_t i32;
        int64_t i64;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        const char *text; /* `bytes` bytes, not NUL-terminated */
    };
    uint64_t bytes; /* length of `text` */
} hac_vector_value;

/* Constructors of values, one for each type: hac_vector_bool(1), hac_vector_f64(0.5),
 * hac_vector_text("abc", 3), … */
#define HAC_VECTOR_VALUE_(name, c_type, member, element)                                                     \
    static inline hac_vector_value hac_vector_##name(c_type x)                                               \
    {                                                                                                        \
        hac_vector_value value;                                                                              \
        value.u64 = 0;                                                                                       \
        value.type = element;                                                                                \
        value.member = x;                                                                                    \
        value.bytes = 0;                                                                                     \
        return value;                                                                                        \
    }
HAC_VECTOR_VALUE_(bool, uint8_t, boolean, HAC_VECTOR_OF_BOOL)
HAC_VECTOR_VALUE_(i32, int32_t, i32, HAC_VECTOR_OF_I32)
HAC_VECTOR_VALUE_(i64, int64_t, i64, HAC_VECTOR_OF_I64)
HAC_VECTOR_VALUE_(u32, uint32_t, u32, HAC_VECTOR_OF_U32)
HAC_VECTOR_VALUE_(u64, uint64_t, u64, HAC_VECTOR_OF_U64)
HAC_VECTOR_VALUE_(f32, float, f32, HAC_VECTOR_OF_F32)
HAC_VECTOR_VALUE_(f64, double, f64, HAC_VECTOR_OF_F64)
#undef HAC_VECTOR_VALUE_
static inline hac_vector_value hac_vector_text(const char *text, uint64_t bytes)
{
    hac_vector_value value;
    value.type = HAC_VECTOR_OF_STRING;
    value.text = text;
    value.bytes = bytes;
    return value;
}

/* ---- filling --------------------------------------------------------------------------------------- */

/* Creates an empty vector in ordinary memory. HAC_INVALID: no vector can have this shape. */
HAC_API HAC_MUST_USE hac_status hac_vector_new(const hac_vector_shape *shape, hac_vector **ret_vector,
                                               hac_error *err);

/*
 * Sets the element at (row, column). This is Emit(key, value) of every template. Keys may come in any order.
 * `value` must have the vector's type. The library copies strings.
 *
 *   FixValueVector, PVar    a later value replaces an earlier value of the same key; missing elements are 0
 *   Var                     as PVar; row must be 0
 *   SparseMatrix            a later value replaces an earlier value of the same key; only emitted elements
 *                           are stored, including zeros
 *   SparseValueVector       as SparseMatrix; column must be 0
 *   SparseTextVector        a later string replaces an earlier string of the same key; missing strings are
 *                           empty; column must be 0
 *   VariableLenVector       appends a value to the row. The row's values are sorted by `column`; values with
 *                           the same `column` keep the order of the calls. `column` may be 0 in all calls.
 *
 * Until hac_vector_finish, an element takes 32 bytes of ordinary memory, and a string takes its length plus 8
 * bytes. A program with much data that is already in order should write into pool memory directly: call
 * hac_vector_alloc, then write to hac_buffer_data of the vector's buffer at the operand's offsets.
 *
 * HAC_INVALID: `value` has another type, the key is outside the shape, or the vector is finished.
 */
HAC_API HAC_MUST_USE hac_status hac_vector_emit(hac_vector *vector, uint64_t row, uint64_t column,
                                                hac_vector_value value, hac_error *err);

/* Lays the vector out in its own pool buffer. Afterwards tasks can use the vector and iterators can walk it,
 * but it takes no more elements. On failure the vector is unchanged. HAC_REFUSED: the vector exceeds the
 * quota or the maximum size. */
HAC_API HAC_MUST_USE hac_status hac_vector_finish(hac_vector *vector, hac_client *client, hac_error *err);

/* ---- with tasks ------------------------------------------------------------------------------------ */

/* Creates a vector for a task to write: it is laid out, and its contents are undefined. */
HAC_API HAC_MUST_USE hac_status hac_vector_alloc(const hac_vector_shape *shape, hac_client *client,
                                                 hac_vector **ret_vector, hac_error *err);

/* Sets the sizes that a task reported with hac_job_op_values, for a vector whose size depends on the data.
 * A dense vector ignores `entries`. HAC_REFUSED: the vector was too small, so the task wrote nothing. Run the
 * task again with a larger vector. */
HAC_API HAC_MUST_USE hac_status hac_vector_resize(hac_vector *vector, uint64_t rows, uint64_t entries,
                                                  hac_error *err);

/* Describes the vector's layout in its buffer, for a call. `span` is 0, and the caller sets it.
 * HAC_INVALID: the vector is not laid out. */
HAC_API HAC_MUST_USE hac_status hac_vector_operand(const hac_vector *vector, hac_op_operand *ret_operand,
                                                   hac_error *err);
/* The vector's buffer. The vector keeps the ownership. A task's span covers the whole buffer. NULL: the
 * vector is a view, or is not laid out. */
HAC_API hac_buffer *hac_vector_buffer(const hac_vector *vector);
/* The start of the vector's span, also for a view. The operand's offsets count from this address. NULL: the
 * vector is not laid out. */
HAC_API const void *hac_vector_data(const hac_vector *vector);

/*
 * Creates a vector on memory that already contains one. Several vectors may share one buffer. `operand`
 * describes the layout. `data` is the start of the span, aligned to 64 bytes as hac_buffer_data and
 * hac_job_data are. The caller keeps the memory, which must outlive the vector. HAC_INVALID: a part of the
 * vector lies outside `bytes`.
 */
HAC_API HAC_MUST_USE hac_status hac_vector_view(const hac_op_operand *operand, const void *data,
                                                uint64_t bytes, hac_vector **ret_vector, hac_error *err);

/* Frees the vector and its buffer. No job may be using the buffer. */
HAC_API void hac_vector_free(hac_vector *vector);

/* ---- walking --------------------------------------------------------------------------------------- */

/* An element and its place. */
typedef struct hac_vector_entry {
    uint64_t row, column;   /* VariableLenVector: `column` is the index in the row */
    hac_vector_value value; /* a string is valid as long as the vector */
} hac_vector_entry;

typedef struct hac_vector_iterator hac_vector_iterator;

/* GetItr: creates an iterator over a vector that is laid out. The iterator returns elements in ascending
 * order of row, then column. Emitting these elements into a new vector gives an equal vector. The vector must
 * outlive the iterator. */
HAC_API HAC_MUST_USE hac_status hac_vector_iter(const hac_vector *vector, hac_vector_iterator **ret_iterator,
                                                hac_error *err);

/* Returns the next element. HAC_NOT_FOUND: there are no more elements. HAC_FAILED: the memory does not
 * contain a valid vector, because offsets or indices do not ascend or are out of range. The iterator checks
 * them because the memory is shared and its writer is not trusted. */
HAC_API HAC_MUST_USE hac_status hac_vector_next(hac_vector_iterator *iterator, hac_vector_entry *ret_entry,
                                                hac_error *err);
HAC_API void hac_vector_iter_free(hac_vector_iterator *iterator);

#ifdef __cplusplus
}
#endif
#endif
