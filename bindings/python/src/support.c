/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <string.h>

hacpy_state *hacpy_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

hacpy_state *hacpy_state_of_object(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

PyObject *hacpy_raise(const hacpy_state *state, const hac_error *err)
{
    PyObject *message = hacpy_text(err->message);
    PyObject *exception =
        message != NULL ? PyObject_CallFunction(state->error_of, "iN", (int)err->code, message) : NULL;
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

PyObject *hacpy_text(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

void hacpy_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyTypeObject *hacpy_add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}
