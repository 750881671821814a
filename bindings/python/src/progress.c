/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 128 };

/* Copied whole under the lock: hacd's texts live as long as the callback. */
typedef struct news {
    bool queued;
    double fraction, items_per_second, eta_seconds;
    char stage[TEXT_MAX], device[TEXT_MAX], note[TEXT_MAX];
} news;

struct hacpy_progress {
    pthread_mutex_t lock; /* of `last` */
    news last;
    bool heard;
    int references; /* atomic */
};

typedef struct progress_object {
    PyObject_HEAD hacpy_progress *progress;
} progress_object;

/* ---- the record ---- */

hacpy_progress *hacpy_progress_ref(hacpy_progress *progress)
{
    __atomic_add_fetch(&progress->references, 1, __ATOMIC_RELAXED);
    return progress;
}

void hacpy_progress_unref(hacpy_progress *progress)
{
    if (progress == NULL || __atomic_sub_fetch(&progress->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

static void copy(char to[TEXT_MAX], const char *text)
{
    snprintf(to, TEXT_MAX, "%s", text != NULL ? text : "");
}

void hacpy_progress_note(void *context, hac_job *job, const hac_progress *progress)
{
    hacpy_progress *own = context;
    (void)job;
    news now = {.queued = progress->state == HAC_JOB_QUEUED,
                .fraction = progress->fraction,
                .items_per_second = progress->items_per_second,
                .eta_seconds = progress->eta_seconds};
    copy(now.stage, progress->stage);
    copy(now.device, progress->device);
    copy(now.note, progress->note);
    pthread_mutex_lock(&own->lock);
    own->last = now;
    own->heard = true;
    pthread_mutex_unlock(&own->lock);
}

/* ---- the object ---- */

static PyObject *progress_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    if (!PyArg_ParseTuple(args, ":Progress"))
        return NULL;
    hacpy_progress *progress = calloc(1, sizeof(*progress));
    if (progress == NULL || pthread_mutex_init(&progress->lock, NULL) != 0) {
        free(progress);
        return PyErr_NoMemory();
    }
    progress->references = 1;
    progress_object *self = PyObject_New(progress_object, type);
    if (self == NULL)
        hacpy_progress_unref(progress);
    else
        self->progress = progress;
    return (PyObject *)self;
}

static void progress_dealloc(PyObject *object)
{
    hacpy_progress_unref(((progress_object *)object)->progress);
    hacpy_free_object(object);
}

static PyObject *progress_read(PyObject *object, PyObject *ignored)
{
    hacpy_progress *progress = ((progress_object *)object)->progress;
    (void)ignored;
    pthread_mutex_lock(&progress->lock);
    const news last = progress->last;
    const bool heard = progress->heard;
    pthread_mutex_unlock(&progress->lock);
    if (!heard)
        Py_RETURN_NONE;
    PyObject *stage = hacpy_text(last.queued ? "queued" : last.stage);
    PyObject *device = stage != NULL ? hacpy_text(last.device) : NULL;
    PyObject *note = device != NULL ? hacpy_text(last.note) : NULL;
    PyObject *all = note != NULL ? Py_BuildValue("dOOddO", last.fraction, stage, device,
                                                 last.items_per_second, last.eta_seconds, note)
                                 : NULL;
    Py_XDECREF(stage);
    Py_XDECREF(device);
    Py_XDECREF(note);
    return all;
}

hacpy_progress *hacpy_progress_of(const hacpy_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->progress_type))
        return ((progress_object *)object)->progress;
    PyErr_Format(PyExc_TypeError, "progress is a Progress, not %R", object);
    return NULL;
}

static PyMethodDef methods[] = {
    {"read", progress_read, METH_NOARGS,
     "read($self)\n--\n\nThe fraction that is done, the stage, the device that reported last, items a "
     "second, "
     "seconds left (< 0: unknown) and a note. None: hacd has said nothing yet."},
    {NULL, NULL, 0, NULL},
};

int hacpy_add_progress_type(PyObject *module, hacpy_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Progress()\n--\n\nWhat hacd says about the job whose option `progress` this is."},
        {Py_tp_new, (void *)progress_new},
        {Py_tp_dealloc, (void *)progress_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "hac._hac.Progress",
                               .basicsize = sizeof(progress_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};
    state->progress_type = hacpy_add_type(module, &spec);
    return state->progress_type != NULL ? 0 : -1;
}
