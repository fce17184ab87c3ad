/* Named tuples as C has them: `install` gives a type of policykit/namedtuple.py fields that are read where they
   stand, which the interpreter of CPython does without a call, and a constructor that fills them without a frame.
   What the arguments lack or have too much the constructor in Python tells. */

#include "compiled.h"

#include <structmember.h>

/* What the constructor of a type needs; types and strings live as long as the process. */
typedef struct {
    PyTypeObject *type;
    PyObject *fields, *defaults; /* tuples; the defaults are those of the last fields */
} Constructor;

static Constructor *constructors;
static size_t room, used; /* room is a power of two */

static Constructor *slot(PyTypeObject *type) {
    size_t at = ((uintptr_t)type >> 5) & (room - 1);
    while (constructors[at].type && constructors[at].type != type)
        at = (at + 1) & (room - 1);
    return &constructors[at];
}

static int remember(PyTypeObject *type, PyObject *fields, PyObject *defaults) {
    if (2 * used >= room) {
        Constructor *old = constructors;
        size_t before = room;
        room = room ? 2 * room : 256;
        constructors = PyMem_Calloc(room, sizeof(Constructor));
        if (!constructors) {
            constructors = old;
            room = before;
            PyErr_NoMemory();
            return -1;
        }
        for (size_t at = 0; at < before; at++)
            if (old[at].type)
                *slot(old[at].type) = old[at];
        PyMem_Free(old);
    }
    Constructor *own = slot(type);
    if (!own->type) {
        used++;
        *own = (Constructor){(PyTypeObject *)Py_NewRef(type), Py_NewRef(fields), Py_NewRef(defaults)};
    }
    return 0;
}

static Py_ssize_t index_of(PyObject *fields, PyObject *name) {
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(fields); at++)
        if (PyTuple_GET_ITEM(fields, at) == name)
            return at;
    return -1;
}

/* 1: every field has a value; 0: not, or there are other arguments. */
static int fill(PyObject *made, const Constructor *own, PyObject *const *arguments, Py_ssize_t count,
                PyObject *names) {
    Py_ssize_t size = PyTuple_GET_SIZE(own->fields);
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    if (count + named > size)
        return 0;
    for (Py_ssize_t at = 0; at < count; at++)
        PyTuple_SET_ITEM(made, at, Py_NewRef(arguments[at]));
    for (Py_ssize_t at = 0; at < named; at++) {
        Py_ssize_t to = index_of(own->fields, PyTuple_GET_ITEM(names, at));
        if (to < count)
            return 0;
        PyTuple_SET_ITEM(made, to, Py_NewRef(arguments[count + at]));
    }
    Py_ssize_t required = size - PyTuple_GET_SIZE(own->defaults);
    for (Py_ssize_t at = count; count + named < size && at < size; at++) {
        if (PyTuple_GET_ITEM(made, at))
            continue;
        if (at < required)
            return 0;
        PyTuple_SET_ITEM(made, at, Py_NewRef(PyTuple_GET_ITEM(own->defaults, at - required)));
    }
    return 1;
}

static PyObject *by_python(PyTypeObject *type, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    PyObject *constructor = PyObject_GetAttrString((PyObject *)type, "__new__"), *made = NULL;
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject **passed = constructor ? PyMem_New(PyObject *, all + 1) : NULL;
    if (passed) {
        passed[0] = (PyObject *)type;
        memcpy(passed + 1, arguments, (size_t)all * sizeof(PyObject *));
        made = PyObject_Vectorcall(constructor, passed, (size_t)count + 1, names);
        PyMem_Free(passed);
    } else if (constructor)
        PyErr_NoMemory();
    Py_XDECREF(constructor);
    return made;
}

static PyObject *construct(PyObject *type, PyObject *const *arguments, size_t flags, PyObject *names) {
    const Constructor *own = slot((PyTypeObject *)type);
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (!own->type)
        return by_python((PyTypeObject *)type, arguments, count, names);
    PyObject *made = ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, PyTuple_GET_SIZE(own->fields));
    if (made && !fill(made, own, arguments, count, names)) {
        Py_DECREF(made);
        made = by_python((PyTypeObject *)type, arguments, count, names);
    }
    return made;
}

/* Gives a type the fields as members of its values. */
static int add_members(PyTypeObject *type, PyObject *fields) {
    Py_ssize_t size = PyTuple_GET_SIZE(fields);
    PyMemberDef *members = PyMem_Calloc((size_t)size + 1, sizeof(PyMemberDef));
    if (!members) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t at = 0; at < size; at++) {
        PyObject *field = PyTuple_GET_ITEM(fields, at);
        members[at].name = PyUnicode_AsUTF8(field);
        members[at].type = T_OBJECT_EX;
        members[at].offset = offsetof(PyTupleObject, ob_item) + at * (Py_ssize_t)sizeof(PyObject *);
        members[at].flags = READONLY;
        PyObject *member = members[at].name ? PyDescr_NewMember(type, &members[at]) : NULL;
        int failed = !member || PyObject_SetAttr((PyObject *)type, field, member) < 0;
        Py_XDECREF(member);
        if (failed)
            return -1;
    }
    return 0;
}

static PyObject *install(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyTypeObject *type;
    PyObject *fields, *defaults;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyType_Type, &type, &PyTuple_Type, &fields, &PyTuple_Type, &defaults))
        return NULL;
    if (!PyType_IsSubtype(type, &PyTuple_Type) || !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        PyErr_SetString(PyExc_TypeError, "not a named tuple");
        return NULL;
    }
    if (add_members(type, fields) < 0 || remember(type, fields, defaults) < 0)
        return NULL;
    type->tp_vectorcall = construct;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"install", install, METH_VARARGS, "Gives a type of named tuples, its fields and the defaults of the last ones."},
    {NULL},
};

int add_tuples(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
