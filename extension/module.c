/* The module of all parts: policykit._compiled. */

#include "compiled.h"

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "policykit._compiled",
    .m_doc = "What functions in Python do, faster: see policykit/extension.py.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *made = PyModule_Create(&module);
    if (made
        && (add_data(made) < 0 || add_memoize(made) < 0 || add_tree(made) < 0 || add_tuples(made) < 0))
        Py_CLEAR(made);
    return made;
}
