/* `words` of policykit/manifests/document.py, which lint asks of every object; what is no plain data it
   leaves to the function in Python. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* No document is as deep: see MAX_DEPTH. */
#define DEEPEST 500

/* 1: all of it was added; 0: it is for Python to read; -1: an exception. */
static int add_words(PyObject *data, PyObject *keys, PyObject *texts, int depth) {
    int done = 1;
    if (PyUnicode_CheckExact(data))
        return PySet_Add(texts, data) < 0 ? -1 : 1;
    if (depth > DEEPEST)
        return 0;
    if (PyDict_CheckExact(data)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (done == 1 && PyDict_Next(data, &at, &key, &value)) {
            if (!PyUnicode_CheckExact(key))
                return 0;
            done = PySet_Add(keys, key) < 0 ? -1 : add_words(value, keys, texts, depth + 1);
        }
        return done;
    }
    if (PyList_CheckExact(data)) {
        for (Py_ssize_t at = 0; done == 1 && at < PyList_GET_SIZE(data); at++)
            done = add_words(PyList_GET_ITEM(data, at), keys, texts, depth + 1);
        return done;
    }
    return !PyUnicode_Check(data) && !PyDict_Check(data) && !PyList_Check(data);
}

static PyObject *words(PyObject *Py_UNUSED(module), PyObject *data) {
    PyObject *keys = PyFrozenSet_New(NULL), *texts = PyFrozenSet_New(NULL), *found = NULL;
    int done = keys && texts ? add_words(data, keys, texts, 0) : -1;
    if (done == 1)
        found = PyTuple_Pack(2, keys, texts);
    else if (done == 0)
        found = Py_NewRef(Py_None);
    Py_XDECREF(keys);
    Py_XDECREF(texts);
    return found;
}

static PyMethodDef functions[] = {
    {"words", words, METH_O, "(keys, texts) of plain data; None: ask the function in Python."},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "policykit.manifests._words",
    .m_doc = "The words of data.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__words(void) {
    return PyModule_Create(&module);
}
