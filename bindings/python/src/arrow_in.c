/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_in.h"

static void *pointer_of(PyObject *capsule, const char *name)
{
    if (PyCapsule_CheckExact(capsule) && PyCapsule_IsValid(capsule, name))
        return PyCapsule_GetPointer(capsule, name);
    PyErr_Format(PyExc_TypeError, "a capsule named \"%s\" is wanted, not %R", name, capsule);
    return NULL;
}

static bool check_released(bool there, const char *what)
{
    if (!there)
        PyErr_Format(PyExc_ValueError, "the %s has been released: somebody else has consumed it", what);
    return there;
}

bool hacpy_array_of(PyObject *schema_capsule, PyObject *array_capsule, const struct ArrowSchema **ret_schema,
                    const struct ArrowArray **ret_array)
{
    const struct ArrowSchema *schema = pointer_of(schema_capsule, "arrow_schema");
    const struct ArrowArray *array = schema != NULL ? pointer_of(array_capsule, "arrow_array") : NULL;
    if (array == NULL || !check_released(schema->release != NULL, "Arrow schema") ||
        !check_released(array->release != NULL, "Arrow array"))
        return false;
    *ret_schema = schema;
    *ret_array = array;
    return true;
}

/* ---- streams ---- */

bool hacpy_take_stream(PyObject *capsule, hacpy_stream *ret)
{
    struct ArrowArrayStream *stream = pointer_of(capsule, "arrow_array_stream");
    if (stream == NULL || !check_released(stream->release != NULL, "Arrow stream"))
        return false;
    ret->stream = *stream;
    stream->release = NULL;
    return true;
}

static int unlocked_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    hacpy_stream *own = stream->private_data;
    hacpy_link_unlock(own->link);
    int number = own->stream.get_schema(&own->stream, ret);
    (void)hacpy_link_lock(own->link);
    return number;
}

static int unlocked_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    hacpy_stream *own = stream->private_data;
    hacpy_link_unlock(own->link);
    int number = own->stream.get_next(&own->stream, ret);
    (void)hacpy_link_lock(own->link);
    return number;
}

static const char *unlocked_error(struct ArrowArrayStream *stream)
{
    hacpy_stream *own = stream->private_data;
    return own->stream.get_last_error(&own->stream);
}

static void unlocked_release(struct ArrowArrayStream *stream)
{
    hacpy_stream *own = stream->private_data;
    hacpy_link_unlock(own->link);
    own->stream.release(&own->stream);
    (void)hacpy_link_lock(own->link);
    stream->release = NULL;
}

struct ArrowArrayStream hacpy_unlocked_stream(hacpy_stream *own)
{
    return (struct ArrowArrayStream){.get_schema = unlocked_schema,
                                     .get_next = unlocked_next,
                                     .get_last_error = unlocked_error,
                                     .release = unlocked_release,
                                     .private_data = own};
}
