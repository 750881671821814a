/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of the seven templates of <hac/op.h>: filled by key, laid out in pool memory as the sub-operators
 * take them, and walked by key. docs/examples/vectors.c is a complete program.
 *
 *     hac_vector *x = NULL, *y = NULL;
 *     hac_vector_iterator *walk = NULL;
 *     hac_vector_entry entry;
 *     const hac_vector_shape shape = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, 1000, 1, 0};
 *
 *     if (hac_vector_new(&shape, &x, &err) != HAC_OK ||
 *         hac_vector_emit(x, 7, 0, hac_vector_f64(0.5), &err) != HAC_OK || // row 7, column 0
 *         hac_vector_finish(x, client, &err) != HAC_OK ||                  // it is in pool memory now
 *         hac_vector_room(&shape, client, &y, &err) != HAC_OK)             // for a task to write
 *         die(err.message);
 *     ... hac_vector_operand, hac_vector_buffer: into a call and a graph; hac_ops_submit or hac_ops_run
 *     if (hac_vector_iter(y, &walk, &err) != HAC_OK)
 *         die(err.message);
 *     while ((status = hac_vector_next(walk, &entry, &err)) == HAC_OK)
 *         printf("%" PRIu64 " %g\n", entry.row, entry.value.f64);
 *     if (status != HAC_NOT_FOUND) // that is the end
 *         die(err.message);
 *
 * The rules at the top of <hac/hac.h> hold here, too.
 */
#ifndef HAC_VECTOR_H
#define HAC_VECTOR_H

#include <hac/hac.h>
#include <hac/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hac_vector hac_vector;

/* What a vector is to be. Zeros at its end may be left out. */
typedef struct hac_vector_shape {
    hac_vector_template form;
    hac_vector_type type; /* SparseTextVector: STRING, and no other one has that */
    uint64_t rows;        /* hac_vector_new: 0: up to the greatest one that is emitted. A Var has one */
    uint64_t columns;     /* likewise; dense templates have at least one, those without columns one */
    uint64_t entries;     /* hac_vector_room only: of sparse and variable ones; of texts their bytes */
} hac_vector_shape;

/* One element. */
typedef struct hac_vector_value {
    hac_vector_type type; /* which member: */
    union {
        uint8_t boolean;
        int32_t i32;
        int64_t i64;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        const char *text; /* not NUL-terminated: */
    };
    uint64_t bytes; /* of text */
} hac_vector_value;

/* hac_vector_bool(1), hac_vector_f64(0.5), hac_vector_text("abc", 3) …: values of these types. */
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

/* An empty one, in ordinary memory. HAC_INVALID: there is no such vector. */
HAC_API HAC_MUST_USE hac_status hac_vector_new(const hac_vector_shape *shape, hac_vector **ret_vector,
                                               hac_error *err);

/*
 * Gives the element at (row, column) its value: the Emit(key, value) of every template. Keys may come in any
 * order. `value` is of the vector's type; text is copied.
 *
 *   FixValueVector, PVar    of equal keys the last one counts; where none is, the value is 0
 *   Var                     row 0; likewise
 *   SparseMatrix            of equal keys the last one counts; there are no others, and zeros stay
 *   SparseValueVector       likewise; column 0
 *   SparseTextVector        of equal keys the last one counts; where none is, the text is empty; column 0
 *   VariableLenVector       every value is one more of its row, in the order of `column`, of equal ones in
 *                           the order in which they came: it may always be 0, or say the place
 *
 * Until the layout an element takes 32 bytes of ordinary memory, a text its own and 8 more. What comes in
 * order and is large is better written where it is to lie: hac_vector_room, then hac_buffer_data of its
 * buffer at the operand's offsets.
 *
 * HAC_INVALID: a value of another type, a key outside of the shape, or a vector that is finished.
 */
HAC_API HAC_MUST_USE hac_status hac_vector_emit(hac_vector *vector, uint64_t row, uint64_t column,
                                                hac_vector_value value, hac_error *err);

/* Lays it out in a pool buffer of its own. It can be given to tasks and walked now, and takes no more
 * elements. When this fails it is as it was. HAC_REFUSED: over quota, or larger than can be. */
HAC_API HAC_MUST_USE hac_status hac_vector_finish(hac_vector *vector, hac_client *client, hac_error *err);

/* ---- with tasks ------------------------------------------------------------------------------------ */

/* One for a task to write: laid out, with undefined contents. */
HAC_API HAC_MUST_USE hac_status hac_vector_room(const hac_vector_shape *shape, hac_client *client,
                                                hac_vector **ret_vector, hac_error *err);

/* The sizes that a task has given back (hac_job_op_values), where data decides them. `entries` of dense ones
 * is ignored. HAC_REFUSED: there was no room for so much, and nothing was written: run it again with more. */
HAC_API HAC_MUST_USE hac_status hac_vector_resize(hac_vector *vector, uint64_t rows, uint64_t entries,
                                                  hac_error *err);

/* How it lies in its buffer, for a call; `span` is 0: the caller's to set. HAC_INVALID: it is not laid out.
 */
HAC_API HAC_MUST_USE hac_status hac_vector_operand(const hac_vector *vector, hac_op_operand *ret_operand,
                                                   hac_error *err);
/* Its buffer, which stays the vector's; a task's span is all of it. NULL: it has none (a view, or not yet).
 */
HAC_API hac_buffer *hac_vector_buffer(const hac_vector *vector);
/* Where its span begins, of a view, too; the operand's parts are counted from there. NULL: not laid out. */
HAC_API const void *hac_vector_data(const hac_vector *vector);

/*
 * A vector that lies in memory already, maybe beside others in one buffer: `operand` says how, `data` (at a
 * multiple of 64, as hac_buffer_data and hac_job_data are) is where its span begins. The memory stays the
 * caller's and must outlive the vector. HAC_INVALID: a part of it lies outside of the bytes.
 */
HAC_API HAC_MUST_USE hac_status hac_vector_view(const hac_op_operand *operand, const void *data,
                                                uint64_t bytes, hac_vector **ret_vector, hac_error *err);

/* Gives its buffer back, too: not while a job uses it. */
HAC_API void hac_vector_free(hac_vector *vector);

/* ---- walking --------------------------------------------------------------------------------------- */

typedef struct hac_vector_entry {
    uint64_t row, column;   /* VariableLenVector: column is the place in the row */
    hac_vector_value value; /* text is valid as long as the vector */
} hac_vector_entry;

typedef struct hac_vector_iterator hac_vector_iterator;

/* GetItr: walks a vector that is laid out, in ascending order of row, then column. What was emitted, when it
 * comes back by a walk, makes the same vector again. The vector must outlive the walk. */
HAC_API HAC_MUST_USE hac_status hac_vector_iter(const hac_vector *vector, hac_vector_iterator **ret_iterator,
                                                hac_error *err);

/* The next element. HAC_NOT_FOUND: there are no more. HAC_FAILED: what lies there is no such vector (offsets
 * or indices that do not ascend, or out of range): the memory is shared, whatever wrote it is not trusted. */
HAC_API HAC_MUST_USE hac_status hac_vector_next(hac_vector_iterator *iterator, hac_vector_entry *ret_entry,
                                                hac_error *err);
HAC_API void hac_vector_iter_free(hac_vector_iterator *iterator);

#ifdef __cplusplus
}
#endif
#endif
