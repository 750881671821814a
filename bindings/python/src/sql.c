/* SPDX-License-Identifier: Apache-2.0 */
#include "sql.h"

#include <string.h>

typedef struct sql_object {
    PyObject_HEAD hac_sql *sql;
} sql_object;

bool hacpy_sql_of(const hacpy_state *state, PyObject *object, hac_sql **ret)
{
    *ret = NULL;
    if (object == Py_None)
        return true;
    int is_sql = PyObject_IsInstance(object, (PyObject *)state->sql_type);
    if (is_sql == 0)
        PyErr_SetString(PyExc_TypeError, "a Sql or None is wanted");
    if (is_sql == 1)
        *ret = ((sql_object *)object)->sql;
    return is_sql == 1;
}

static PyObject *sql_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"text", NULL};
    const char *text;
    hac_sql *sql = NULL;
    hac_error err = HAC_ERROR_NONE;
    hacpy_state *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTupleAndKeywords(args, keywords, "s:Sql", names, &text))
        return NULL;
    if (hac_sql_read(text, &sql, &err) != HAC_OK)
        return hacpy_raise(state, &err);
    sql_object *self = PyObject_New(sql_object, type);
    if (self == NULL)
        hac_sql_free(sql);
    else
        self->sql = sql;
    return (PyObject *)self;
}

static void sql_dealloc(PyObject *object)
{
    hac_sql_free(((sql_object *)object)->sql);
    hacpy_free_object(object);
}

static PyObject *sql_sources(PyObject *object, void *ignored)
{
    (void)ignored;
    const char *source;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && (source = hac_sql_source(((sql_object *)object)->sql, i)) != NULL;
         i++) {
        PyObject *text = PyUnicode_DecodeFSDefault(source);
        if (text == NULL || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *sql_format(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromLong(hac_sql_format(((sql_object *)object)->sql));
}

static PyGetSetDef members[] = {
    {"sources", sql_sources, NULL, "What follows FROM.", NULL},
    {"format", sql_format, NULL, "The number of the input format that FROM names; 0: none.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int hacpy_add_sql_type(PyObject *module, hacpy_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Sql(text)\n--\n\nA SELECT statement, split into the texts of a query."},
        {Py_tp_new, (void *)sql_new},
        {Py_tp_dealloc, (void *)sql_dealloc},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "hac._hac.Sql",
                               .basicsize = sizeof(sql_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};
    state->sql_type = hacpy_add_type(module, &spec);
    return state->sql_type != NULL ? 0 : -1;
}
