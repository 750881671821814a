/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

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
    PyObject *exception = PyObject_CallFunction(state->error_of, "is", (int)err->code, err->message);
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
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
