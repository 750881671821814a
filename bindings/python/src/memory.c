/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

typedef struct memory_object {
    PyObject_HEAD hacpy_held *held;
    void *data;
    Py_ssize_t bytes;
    int read_only;
} memory_object;

PyObject *hacpy_memory_new(const hacpy_state *state, hacpy_held *held)
{
    memory_object *self = PyObject_New(memory_object, state->memory_type);
    if (self == NULL) {
        hacpy_held_unref(held);
        return NULL;
    }
    self->held = held;
    self->data = hac_buffer_data(held->buffer);
    self->bytes = (Py_ssize_t)hac_buffer_bytes(held->buffer);
    self->read_only = 0;
    return (PyObject *)self;
}

PyObject *hacpy_memory_part(const hacpy_state *state, hacpy_held *held, const void *data, uint64_t bytes)
{
    memory_object *self = PyObject_New(memory_object, state->memory_type);
    if (self == NULL)
        return NULL;
    self->held = hacpy_held_ref(held);
    self->data = (void *)(uintptr_t)data;
    self->bytes = (Py_ssize_t)bytes;
    self->read_only = 1;
    return (PyObject *)self;
}

static void memory_dealloc(PyObject *object)
{
    memory_object *self = (memory_object *)object;
    hacpy_held_unref(self->held);
    hacpy_free_object(object);
}

static int memory_get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    memory_object *self = (memory_object *)object;
    return PyBuffer_FillInfo(view, object, self->data, self->bytes, self->read_only, flags);
}

int hacpy_add_memory_type(PyObject *module, hacpy_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Memory of hacd's pool, shared with the devices. A writable buffer of bytes."},
        {Py_tp_dealloc, (void *)memory_dealloc},
        {Py_bf_getbuffer, (void *)memory_get_buffer},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "hac._hac.Memory",
                               .basicsize = sizeof(memory_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};
    state->memory_type = hacpy_add_type(module, &spec);
    return state->memory_type != NULL ? 0 : -1;
}
