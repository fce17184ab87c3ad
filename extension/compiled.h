/* The parts of the module: each adds what it has, and returns -1 with an exception where it cannot. */

#ifndef POLICYKIT_COMPILED_H
#define POLICYKIT_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

int add_data(PyObject *module);
int add_memoize(PyObject *module);
int add_tree(PyObject *module);
int add_tuples(PyObject *module);

#endif
