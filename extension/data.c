/* What lint asks of every file and every object: what stands at a path, and which words there are. `lookup` does
   what the function of policykit/manifests/path.py does, `words` what that of policykit/manifests/document.py does,
   `absent` what policykit/linter/substrings.py does; what is no plain data or not ASCII the last two leave to
   those. */

#include "compiled.h"

/* A borrowed reference; NULL: there is no such value, or there is an exception. */
static PyObject *value_at(PyObject *data, PyObject *step) {
    if (PyDict_Check(data))
        return PyDict_GetItemWithError(data, step);
    if (!PyList_Check(data) || !PyLong_Check(step))
        return NULL;
    int is_larger;
    Py_ssize_t size = PyList_GET_SIZE(data);
    long long at = PyLong_AsLongLongAndOverflow(step, &is_larger);
    at += at < 0 ? size : 0;
    return !is_larger && at >= 0 && at < size ? PyList_GET_ITEM(data, (Py_ssize_t)at) : NULL;
}

static PyObject *lookup(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "lookup() takes data and a path");
        return NULL;
    }
    PyObject *data = arguments[0], *path = PySequence_Fast(arguments[1], "a path is a sequence");
    for (Py_ssize_t at = 0; path && data && at < PySequence_Fast_GET_SIZE(path); at++)
        data = value_at(data, PySequence_Fast_GET_ITEM(path, at));
    Py_XDECREF(path);
    return PyErr_Occurred() ? NULL : Py_NewRef(data ? data : Py_None);
}

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

/* Words are looked up by their first three bytes: one look for each byte of the text. */
#define HEAD 3
#define HEADS 1024
#define MOST 1000

static inline unsigned head(const char *bytes) {
    uint32_t first = 0;
    memcpy(&first, bytes, HEAD);
    return (first * 2654435761u) >> 22;
}

/* A word that is looked for, and the number from 1 of the next one with the same head; 0: there is none. */
typedef struct {
    PyObject *word;
    int next, is_present;
} Sought;

static void mark_present(const char *text, Py_ssize_t length, Sought *sought, const short *heads) {
    for (Py_ssize_t at = 0; at + HEAD <= length; at++) {
        for (int number = heads[head(text + at)]; number; number = sought[number - 1].next) {
            Sought *one = &sought[number - 1];
            Py_ssize_t size = PyUnicode_GET_LENGTH(one->word);
            if (!one->is_present && size <= length - at
                && memcmp(PyUnicode_1BYTE_DATA(one->word), text + at, (size_t)size) == 0)
                one->is_present = 1;
        }
    }
}

static PyObject *absent(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *text, *words;
    if (!PyArg_ParseTuple(arguments, "UO!", &text, &PyTuple_Type, &words))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(words);
    Sought sought[MOST];
    short heads[HEADS] = {0};
    if (count > MOST || !PyUnicode_IS_COMPACT_ASCII(text))
        Py_RETURN_NONE;
    for (Py_ssize_t at = 0; at < count; at++) {
        PyObject *word = PyTuple_GET_ITEM(words, at);
        if (!PyUnicode_CheckExact(word) || !PyUnicode_IS_COMPACT_ASCII(word)
            || PyUnicode_GET_LENGTH(word) < HEAD)
            Py_RETURN_NONE;
        short *first = &heads[head((const char *)PyUnicode_1BYTE_DATA(word))];
        sought[at] = (Sought){.word = word, .next = *first};
        *first = (short)(at + 1);
    }
    mark_present((const char *)PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text), sought, heads);
    Py_ssize_t lacking = 0;
    for (Py_ssize_t at = 0; at < count; at++)
        lacking += !sought[at].is_present;
    PyObject *found = PyTuple_New(lacking);
    for (Py_ssize_t at = 0, to = 0; found && at < count; at++)
        if (!sought[at].is_present)
            PyTuple_SET_ITEM(found, to++, Py_NewRef(sought[at].word));
    return found;
}

static PyMethodDef functions[] = {
    {"lookup", (PyCFunction)(void (*)(void))lookup, METH_FASTCALL,
     "The value at a path in plain data, None where there is none."},
    {"words", words, METH_O, "(keys, texts) of plain data; None: ask the function in Python."},
    {"absent", absent, METH_VARARGS,
     "Those of a tuple of words that a text lacks; None: ask the function in Python."},
    {NULL},
};

int add_data(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
