/* SPDX-License-Identifier: Apache-2.0 */
#include "npy_header.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { HEADER_MAX = 4096 }; /* that of a one-dimensional array of numbers has 128 bytes */

static const struct {
    const char *descr;
    hac_type type;
} types[] = {{"<u4", HAC_TYPE_U32}, {"<i4", HAC_TYPE_I32}, {"<f4", HAC_TYPE_F32},
             {"<u8", HAC_TYPE_U64}, {"<i8", HAC_TYPE_I64}, {"<f8", HAC_TYPE_F64}};

static hac_status fail_damaged(const char *name, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "%.200s: its .npy header is damaged", name);
}

/* ---- the header: a dictionary as Python writes it, with these three keys in any order ---- */

typedef struct npy_fields {
    const char *descr, *order, *shape; /* where the values begin, in the header */
} npy_fields;

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* Behind a value: text in quotes, a word, or what brackets enclose. NULL: there is none. */
static const char *skip_value(const char *at)
{
    if (*at == '\'') {
        const char *end = strchr(at + 1, '\'');
        return end == NULL ? NULL : end + 1;
    }
    if (*at == '(' || *at == '[') { /* of a list of fields, the first bracket is enough: it is refused */
        const char *end = strchr(at, *at == '(' ? ')' : ']');
        return end == NULL ? NULL : end + 1;
    }
    size_t word = strspn(at, "TrueFalse");
    return word == 0 ? NULL : at + word;
}

static const char **field_named(npy_fields *fields, const char *at, const char **ret_behind)
{
    const struct {
        const char *key;
        const char **field;
    } keys[] = {
        {"'descr':", &fields->descr}, {"'fortran_order':", &fields->order}, {"'shape':", &fields->shape}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(at, keys[i].key, strlen(keys[i].key)) == 0) {
            *ret_behind = skip_blanks(at + strlen(keys[i].key));
            return keys[i].field;
        }
    return NULL;
}

static bool read_fields(const char *at, npy_fields *ret)
{
    *ret = (npy_fields){NULL, NULL, NULL};
    if (*at++ != '{')
        return false;
    for (at = skip_blanks(at); *at != '}';) {
        const char *value = NULL, **field = field_named(ret, at, &value);
        const char *behind = field == NULL || *field != NULL ? NULL : skip_value(value);
        if (behind == NULL)
            return false;
        *field = value;
        at = skip_blanks(behind);
        if (*at != ',' && *at != '}')
            return false;
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    at = skip_blanks(at + 1);
    return at[*at == '\n'] == '\0' && ret->descr != NULL && ret->order != NULL && ret->shape != NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0 && strspn(text + strlen(with), " ,}") > 0;
}

static hac_status take_type(const char *descr, const char *name, hac_npy_array *ret, hac_error *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (descr[0] == '\'' && strncmp(descr + 1, types[i].descr, 3) == 0 && descr[4] == '\'')
            ret->type = types[i].type;
    if (ret->type != HAC_TYPE_NONE)
        return HAC_OK;
    return hac_fail(
        err, HAC_FAILED,
        "%.200s: an array of NumPy of type %.16s; u32, i32, f32, u64, i64 and f64, little-endian, can be "
        "sorted: numpy.save('FILE', a.astype('<f8'))",
        name, descr);
}

static hac_status take_shape(const char *shape, const char *name, hac_npy_array *ret, hac_error *err)
{
    char *end = NULL;
    errno = 0;
    bool digit = shape[0] == '(' && shape[1] >= '0' && shape[1] <= '9';
    unsigned long long items = digit ? strtoull(shape + 1, &end, 10) : 0;
    if (!digit || strncmp(end, ",)", 2) != 0 || errno != 0)
        return hac_fail(err, HAC_FAILED,
                        "%.200s: an array of NumPy of shape %.32s; one-dimensional arrays can be sorted: "
                        "numpy.save('FILE', a.ravel())",
                        name, shape);
    ret->items = items;
    return HAC_OK;
}

hac_status hac_npy_header_read(int fd, const char *name, hac_npy_array *ret, hac_error *err)
{
    unsigned char data[HEADER_MAX + 1];
    ssize_t n = pread(fd, data, HEADER_MAX, 0);
    *ret = (hac_npy_array){.is_npy = n >= 12 && memcmp(data, "\x93NUMPY", 6) == 0};
    if (!ret->is_npy)
        return HAC_OK;
    bool wide = data[6] >= 2; /* version 1 counts the header's bytes in 16 bits, later ones in 32 */
    uint64_t begin = wide ? 12 : 10, bytes = data[8] | (uint64_t)data[9] << 8;
    if (wide)
        bytes |= (uint64_t)data[10] << 16 | (uint64_t)data[11] << 24;
    npy_fields fields;
    if (begin + bytes > (uint64_t)n || data[6] < 1 || data[6] > 3 || data[7] != 0)
        return fail_damaged(name, err);
    data[begin + bytes] = '\0';
    ret->offset = begin + bytes;
    if (strlen((const char *)data + begin) != bytes || !read_fields((const char *)data + begin, &fields))
        return fail_damaged(name, err);
    if (!begins(fields.order, "True") && !begins(fields.order, "False"))
        return fail_damaged(name, err);
    hac_status status = take_type(fields.descr, name, ret, err);
    return status == HAC_OK ? take_shape(fields.shape, name, ret, err) : status;
}
