/* `memoize_last` and `memoize_last_call` of policykit/manifests/memoize.py, without a frame of the interpreter for
   a result that is known. */

#include "compiled.h"

#include <structmember.h>

/* A function, its last arguments and what it returned for them. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function, *arguments, *result, *doc;
} Last;

static int are_last(const Last *self, PyObject *const *arguments, Py_ssize_t count) {
    if (!self->arguments || PyTuple_GET_SIZE(self->arguments) != count)
        return 0;
    for (Py_ssize_t at = 0; at < count; at++)
        if (PyTuple_GET_ITEM(self->arguments, at) != arguments[at])
            return 0;
    return 1;
}

static PyObject *call(PyObject *last, PyObject *const *arguments, size_t flags, PyObject *names) {
    Last *self = (Last *)last;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int is_plain = !names || !PyTuple_GET_SIZE(names);
    if (is_plain && are_last(self, arguments, count))
        return Py_NewRef(self->result);
    PyObject *result = PyObject_Vectorcall(self->function, arguments, flags, names);
    if (!result || !is_plain)
        return result;
    PyObject *kept = PyTuple_New(count);
    if (!kept) {
        Py_DECREF(result);
        return NULL;
    }
    for (Py_ssize_t at = 0; at < count; at++)
        PyTuple_SET_ITEM(kept, at, Py_NewRef(arguments[at]));
    PyObject *arguments_before = self->arguments, *result_before = self->result;
    self->arguments = kept;
    self->result = Py_NewRef(result);
    Py_XDECREF(arguments_before);
    Py_XDECREF(result_before);
    return result;
}

static PyObject *Last_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    PyObject *function;
    if (!PyArg_ParseTuple(arguments, "O", &function))
        return NULL;
    Last *self = (Last *)type->tp_alloc(type, 0);
    if (self) {
        self->call = call;
        self->function = Py_NewRef(function);
        self->doc = PyObject_GetAttrString(function, "__doc__");
    }
    return (PyObject *)self;
}

static int Last_traverse(PyObject *last, visitproc visit, void *arg) {
    Last *self = (Last *)last;
    Py_VISIT(self->function);
    Py_VISIT(self->arguments);
    Py_VISIT(self->result);
    return 0;
}

static int Last_clear(PyObject *last) {
    Last *self = (Last *)last;
    Py_CLEAR(self->function);
    Py_CLEAR(self->arguments);
    Py_CLEAR(self->result);
    Py_CLEAR(self->doc);
    return 0;
}

static void Last_dealloc(PyObject *last) {
    PyObject_GC_UnTrack(last);
    Last_clear(last);
    Py_TYPE(last)->tp_free(last);
}

static PyMemberDef Last_members[] = {
    {"__doc__", T_OBJECT, offsetof(Last, doc), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Last, function), READONLY, NULL},
    {NULL},
};

static PyTypeObject LastType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "policykit._compiled.Last",
    .tp_basicsize = sizeof(Last),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Last, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = Last_new,
    .tp_dealloc = Last_dealloc,
    .tp_traverse = Last_traverse,
    .tp_clear = Last_clear,
    .tp_members = Last_members,
};

int add_memoize(PyObject *module) {
    return PyModule_AddType(module, &LastType);
}
