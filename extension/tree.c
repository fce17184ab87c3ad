/* The YAML reader of policykit/manifests/event_reader.py, over the same parser: libyaml.

   It makes the same nodes, in one pass and without an object for each event. It has no errors of its own:
   where it meets one, whatever it is, it raises UnreadError, and the reader in Python reads the text again and
   says what is wrong. What is rare is left to functions in Python, so that each is written once. */

#include "compiled.h"

#include <structmember.h>
#include <yaml.h>

/* Node and its slots; functions and values of the modules beside the reader in Python: see prepare(). */
static struct {
    PyTypeObject *node;
    Py_ssize_t data, entries, extent, lines, style, written;
    PyObject *words, *resolve, *tagged, *measure, *merge, *key_text, *content_end, *unread;
} python;

static PyObject *empty, *styles[YAML_FOLDED_SCALAR_STYLE + 1];

/* What a plain scalar with this first byte may be. */
enum { TEXT, WORD, NUMBER };
static unsigned char beginnings[256];

/* Keys are few and come again: a table of the last ones, by their bytes. */
#define KEYS 2048
#define LONGEST_KEY 40
static PyObject *keys[KEYS];

/* Values after which other threads and signals get a turn. */
#define TURN 1024

/* An open collection. Its node owns `entries` and `data`. */
typedef struct {
    PyObject *node, *entries, *data;
    PyObject *key;    /* the node of the key that waits for its value */
    PyObject *merges; /* the values of `<<` */
    size_t end;       /* where its last child ends */
    int is_mapping, is_flow;
    int reordered;    /* its last entry may not be its last child */
} Frame;

typedef struct {
    PyObject_HEAD
    yaml_parser_t parser;
    PyObject *text; /* the bytes, or the string that has them */
    PyObject *lines;
    Py_ssize_t max_depth, max_aliased, max_values;
    int is_open, is_busy;
    /* Of the document that is being read. */
    Frame *frames;
    Py_ssize_t depth, aliased, values;
    PyObject *root, *anchors, *measured, *duplicates;
} Reader;

static inline PyObject **slot(PyObject *node, Py_ssize_t offset) {
    return (PyObject **)((char *)node + offset);
}

static inline PyObject *extent(size_t start, size_t end) {
    return PyLong_FromUnsignedLongLong((unsigned long long)start << 32 | end);
}

/* Takes `data` and `entries`, which is NULL for a scalar; `style` and `written` are borrowed. */
static PyObject *new_node(Reader *self, PyObject *data, PyObject *entries, size_t start, size_t end,
                          PyObject *style, PyObject *written) {
    PyObject *at = extent(start, end);
    PyObject *node = at && data ? python.node->tp_alloc(python.node, 0) : NULL;
    if (!node) {
        Py_XDECREF(at);
        Py_XDECREF(data);
        Py_XDECREF(entries);
        return NULL;
    }
    *slot(node, python.data) = data;
    *slot(node, python.entries) = entries ? entries : Py_NewRef(Py_None);
    *slot(node, python.extent) = at;
    *slot(node, python.lines) = Py_NewRef(self->lines);
    *slot(node, python.style) = Py_NewRef(style);
    *slot(node, python.written) = Py_NewRef(written);
    return node;
}

static PyObject *decoded(const char *bytes, size_t length) {
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, "strict");
}

static PyObject *key_string(const char *bytes, size_t length) {
    if (length == 0 || length > LONGEST_KEY)
        return decoded(bytes, length);
    uint32_t hash = 2166136261u;
    for (size_t at = 0; at < length; at++)
        hash = (hash ^ (unsigned char)bytes[at]) * 16777619u;
    PyObject **kept = &keys[(hash ^ hash >> 15) % KEYS];
    if (*kept && (size_t)PyUnicode_GET_LENGTH(*kept) == length
        && memcmp(PyUnicode_1BYTE_DATA(*kept), bytes, length) == 0)
        return Py_NewRef(*kept);
    PyObject *text = decoded(bytes, length);
    if (text && PyUnicode_IS_COMPACT_ASCII(text))
        Py_XSETREF(*kept, Py_NewRef(text));
    return text;
}

/* The value of a plain scalar, as `resolve` says; whole numbers that need no thought are read here. */
static PyObject *plain_value(PyObject *text, const unsigned char *bytes, size_t length) {
    int beginning = length ? beginnings[bytes[0]] : WORD;
    if (beginning == TEXT)
        return Py_NewRef(text);
    if (beginning == WORD) {
        PyObject *word = PyDict_GetItemWithError(python.words, text);
        if (!word && PyErr_Occurred())
            return NULL;
        return Py_NewRef(word ? word : text);
    }
    if (length < 10 && (bytes[0] != '0' || length == 1)) {
        long number = 0;
        size_t at = 0;
        while (at < length && bytes[at] >= '0' && bytes[at] <= '9')
            number = number * 10 + (bytes[at++] - '0');
        if (at == length)
            return PyLong_FromLong(number);
    }
    return PyObject_CallOneArg(python.resolve, text);
}

static int is_reached(Reader *self, const yaml_char_t *anchor, PyObject *node) {
    if (!anchor)
        return 1;
    if (!self->anchors && !(self->anchors = PyDict_New()))
        return 0;
    return PyDict_SetItemString(self->anchors, (const char *)anchor, node) == 0;
}

/* Tags mean nothing here, but the reader in Python refuses those that are not text. */
static int is_text(const yaml_char_t *tag) {
    PyObject *text = tag ? decoded((const char *)tag, strlen((const char *)tag)) : NULL;
    Py_XDECREF(text);
    return !tag || text;
}

static PyObject *scalar(Reader *self, const yaml_event_t *event, int is_key) {
    const char *bytes = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;
    size_t length = event->data.scalar.length;
    yaml_scalar_style_t style = event->data.scalar.style;
    PyObject *text = is_key ? key_string(bytes, length) : decoded(bytes, length);
    PyObject *value = NULL, *written = empty;
    if (!text)
        return NULL;
    if (tag) {
        value = strcmp(tag, "!") == 0 ? Py_NewRef(text)
                                      : PyObject_CallFunction(python.tagged, "sO", tag, text);
    } else if (style == YAML_PLAIN_SCALAR_STYLE) {
        value = plain_value(text, (const unsigned char *)bytes, length);
        if (value != text)
            written = text;
    } else {
        value = Py_NewRef(text);
    }
    PyObject *node = value ? new_node(self, value, NULL, event->start_mark.index, event->end_mark.index,
                                      styles[style], written)
                           : NULL;
    Py_DECREF(text);
    if (node && !is_reached(self, event->data.scalar.anchor, node))
        Py_CLEAR(node);
    return node;
}

static int open_collection(Reader *self, const yaml_event_t *event) {
    if (self->depth >= self->max_depth)
        return 0;
    int is_mapping = event->type == YAML_MAPPING_START_EVENT;
    int is_flow = is_mapping ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                             : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    const yaml_char_t *anchor =
        is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    if (!is_text(is_mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag))
        return 0;
    PyObject *entries = is_mapping ? PyDict_New() : PyList_New(0);
    PyObject *data = is_mapping ? PyDict_New() : PyList_New(0);
    if (!entries || !data) {
        Py_XDECREF(entries);
        Py_XDECREF(data);
        return 0;
    }
    PyObject *node = new_node(self, data, entries, event->start_mark.index, event->end_mark.index,
                              is_flow ? Py_True : Py_False, empty);
    if (!node)
        return 0;
    Frame *frame = &self->frames[self->depth++];
    *frame = (Frame){.node = node, .entries = entries, .data = data, .end = event->start_mark.index,
                     .is_mapping = is_mapping, .is_flow = is_flow};
    return is_reached(self, anchor, node);
}

/* The node of the innermost collection, which ends; NULL: it cannot. */
static PyObject *close_collection(Reader *self, const yaml_event_t *event, size_t start, size_t *end) {
    Frame *frame = &self->frames[self->depth - 1];
    PyObject *node = frame->node;
    if (frame->merges) {
        PyObject *done = PyObject_CallFunctionObjArgs(python.merge, node, frame->merges, NULL);
        Py_XDECREF(done);
        if (!done)
            return NULL;
    }
    if (frame->is_flow) {
        *end = event->end_mark.index;
    } else if (frame->reordered || frame->merges) {
        PyObject *last = PyObject_CallOneArg(python.content_end, node);
        *end = last ? PyLong_AsSize_t(last) : 0;
        Py_XDECREF(last);
        if (PyErr_Occurred())
            return NULL;
    } else {
        *end = frame->end;
    }
    PyObject *at = extent(start, *end);
    if (!at)
        return NULL;
    Py_SETREF(*slot(node, python.extent), at);
    Py_CLEAR(frame->merges);
    Py_CLEAR(frame->key);
    self->depth--;
    return node;
}

static PyObject *alias(Reader *self, const yaml_event_t *event) {
    const char *name = (const char *)event->data.alias.anchor;
    PyObject *target = self->anchors ? PyDict_GetItemString(self->anchors, name) : NULL;
    if (!target)
        return NULL;
    for (Py_ssize_t at = 0; at < self->depth; at++)
        if (self->frames[at].node == target)
            return NULL;
    if (!self->measured && !(self->measured = PyDict_New()))
        return NULL;
    PyObject *measured = PyObject_CallFunctionObjArgs(python.measure, target, self->measured, NULL);
    Py_ssize_t size, levels;
    int is_known = measured && PyArg_ParseTuple(measured, "nn", &size, &levels);
    Py_XDECREF(measured);
    if (!is_known)
        return NULL;
    self->aliased += size;
    if (self->aliased > self->max_aliased || self->depth + levels > self->max_depth)
        return NULL;
    PyObject *entries = *slot(target, python.entries);
    return new_node(self, Py_NewRef(*slot(target, python.data)),
                    entries == Py_None ? NULL : Py_NewRef(entries), event->start_mark.index,
                    event->end_mark.index, *slot(target, python.style), empty);
}

static int is_merge_key(PyObject *node) {
    PyObject *key = *slot(node, python.data), *style = *slot(node, python.style);
    return style == styles[YAML_PLAIN_SCALAR_STYLE] && PyUnicode_Check(key)
        && PyUnicode_CompareWithASCIIString(key, "<<") == 0;
}

static int add_entry(Reader *self, Frame *frame, PyObject *node) {
    PyObject *data = *slot(frame->key, python.data);
    PyObject *key = PyUnicode_CheckExact(data) ? Py_NewRef(data) : PyObject_CallOneArg(python.key_text, data);
    PyObject *pair = key ? PyTuple_Pack(2, frame->key, node) : NULL;
    PyObject *present = pair ? PyDict_SetDefault(frame->entries, key, pair) : NULL;
    int done = present && PyDict_SetItem(frame->data, key, *slot(node, python.data)) == 0;
    if (done && present != pair) {
        if (!self->duplicates)
            self->duplicates = PyList_New(0);
        PyObject *twice =
            self->duplicates ? PyTuple_Pack(3, key, frame->key, PyTuple_GET_ITEM(present, 0)) : NULL;
        done = twice && PyList_Append(self->duplicates, twice) == 0
            && PyDict_SetItem(frame->entries, key, pair) == 0;
        Py_XDECREF(twice);
        frame->reordered = 1;
    }
    Py_XDECREF(pair);
    Py_XDECREF(key);
    return done;
}

/* Puts a node where it belongs; takes it. */
static int add(Reader *self, PyObject *node, size_t end) {
    int done = 0;
    if (!self->depth) {
        Py_XSETREF(self->root, node);
        return 1;
    }
    Frame *frame = &self->frames[self->depth - 1];
    frame->end = end;
    if (!frame->is_mapping) {
        done = PyList_Append(frame->entries, node) == 0
            && PyList_Append(frame->data, *slot(node, python.data)) == 0;
    } else if (!frame->key) {
        if (*slot(node, python.entries) == Py_None) {
            frame->key = node;
            return 1;
        }
    } else {
        if (is_merge_key(frame->key)) {
            if (!frame->merges)
                frame->merges = PyList_New(0);
            done = frame->merges && PyList_Append(frame->merges, node) == 0;
        } else {
            done = add_entry(self, frame, node);
        }
        Py_CLEAR(frame->key);
    }
    Py_DECREF(node);
    return done;
}

static int give_turn(void) {
    Py_BEGIN_ALLOW_THREADS
    Py_END_ALLOW_THREADS
    return PyErr_CheckSignals() == 0;
}

/* Reads one event of a document; 0: it cannot be read. */
static int take(Reader *self, const yaml_event_t *event) {
    size_t end = event->end_mark.index;
    PyObject *node;
    switch (event->type) {
    case YAML_SCALAR_EVENT: {
        Frame *frame = self->depth ? &self->frames[self->depth - 1] : NULL;
        node = scalar(self, event, frame && frame->is_mapping && !frame->key);
        break;
    }
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(self, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: {
        if (!self->depth)
            return 0;
        PyObject *at = *slot(self->frames[self->depth - 1].node, python.extent);
        node = close_collection(self, event, (size_t)(PyLong_AsUnsignedLongLong(at) >> 32), &end);
        break;
    }
    case YAML_ALIAS_EVENT:
        node = alias(self, event);
        break;
    default:
        return 0;
    }
    if (!node)
        return 0;
    if (++self->values > self->max_values || (self->values % TURN == 0 && !give_turn())) {
        Py_DECREF(node);
        return 0;
    }
    return add(self, node, end);
}

static void forget_document(Reader *self) {
    while (self->depth) {
        Frame *frame = &self->frames[--self->depth];
        Py_CLEAR(frame->node);
        Py_CLEAR(frame->key);
        Py_CLEAR(frame->merges);
    }
    self->aliased = self->values = 0;
    Py_CLEAR(self->root);
    Py_CLEAR(self->anchors);
    Py_CLEAR(self->measured);
    Py_CLEAR(self->duplicates);
}

static void close_reader(Reader *self) {
    if (self->is_open)
        yaml_parser_delete(&self->parser);
    self->is_open = 0;
}

/* (root, line, duplicates) of the rest of a document, whose start event has been read. */
static PyObject *read_document(Reader *self, size_t line) {
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&self->parser, &event))
            return NULL;
        int is_last = event.type == YAML_DOCUMENT_END_EVENT;
        int done = is_last || take(self, &event);
        yaml_event_delete(&event);
        if (!done)
            return NULL;
        if (is_last)
            break;
    }
    PyObject *none = self->duplicates ? NULL : PyTuple_New(0);
    PyObject *duplicates = self->duplicates ? self->duplicates : none;
    PyObject *found = duplicates ? Py_BuildValue("OnO", self->root ? self->root : Py_None, (Py_ssize_t)line,
                                                 duplicates)
                                 : NULL;
    Py_XDECREF(none);
    return found;
}

/* The next document; None at the end of the text; NULL with or without an exception: it cannot be read. */
static PyObject *next_document(Reader *self) {
    while (self->is_open) {
        yaml_event_t event;
        if (!yaml_parser_parse(&self->parser, &event))
            return NULL;
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line;
        int has_tags = type == YAML_DOCUMENT_START_EVENT
                    && event.data.document_start.tag_directives.start
                           != event.data.document_start.tag_directives.end;
        yaml_event_delete(&event);
        if (type == YAML_DOCUMENT_START_EVENT)
            return has_tags ? NULL : read_document(self, line);
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT)
            break;
    }
    close_reader(self);
    Py_RETURN_NONE;
}

static PyObject *Reader_document(Reader *self, PyObject *Py_UNUSED(ignored)) {
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "this reader is in use");
        return NULL;
    }
    self->is_busy = 1;
    PyObject *found = next_document(self);
    if (!found) {
        /* An interruption is none of ours; everything else is found again by the reader in Python. */
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear();
            PyErr_SetNone(python.unread);
        }
        close_reader(self);
    }
    forget_document(self);
    self->is_busy = 0;
    return found;
}

static PyObject *Reader_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(named)) {
    PyObject *text, *lines;
    Py_ssize_t depth, aliased, values, offset = 0;
    if (!PyArg_ParseTuple(arguments, "UOnnn|n", &text, &lines, &depth, &aliased, &values, &offset))
        return NULL;
    if (!python.node || depth < 0 || depth > 100000) {
        PyErr_SetString(PyExc_ValueError, "prepare() was not called, or the depth is out of range");
        return NULL;
    }
    Reader *self = (Reader *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->lines = Py_NewRef(lines);
    self->max_depth = depth;
    self->max_aliased = aliased;
    self->max_values = values;
    self->frames = PyMem_New(Frame, depth + 1);
    const char *bytes;
    Py_ssize_t length;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        self->text = Py_NewRef(text);
        bytes = (const char *)PyUnicode_1BYTE_DATA(text);
        length = PyUnicode_GET_LENGTH(text);
    } else {
        self->text = PyUnicode_AsUTF8String(text);
        bytes = self->text ? PyBytes_AS_STRING(self->text) : NULL;
        length = self->text ? PyBytes_GET_SIZE(self->text) : 0;
    }
    if (!bytes || !self->frames || !yaml_parser_initialize(&self->parser)) {
        Py_DECREF(self);
        PyErr_Clear();
        PyErr_SetNone(python.unread);
        return NULL;
    }
    self->is_open = 1;
    yaml_parser_set_input_string(&self->parser, (const unsigned char *)bytes, (size_t)length);
    self->parser.mark.index = (size_t)offset; /* libyaml counts on from there */
    return (PyObject *)self;
}

static void Reader_dealloc(Reader *self) {
    close_reader(self);
    forget_document(self);
    PyMem_Free(self->frames);
    Py_XDECREF(self->text);
    Py_XDECREF(self->lines);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
}

static PyMethodDef Reader_methods[] = {
    {"document", (PyCFunction)Reader_document, METH_NOARGS,
     "(root, line, duplicates) of the next document, None at the end. Raises UnreadError."},
    {NULL},
};

static PyTypeObject ReaderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "policykit._compiled.Reader",
    .tp_doc = "Reader(text, lines, depth, aliased, values, offset=0): documents of a text, within these "
              "bounds; `offset`: where it begins in that of the lines.",
    .tp_basicsize = sizeof(Reader),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = Reader_new,
    .tp_dealloc = (destructor)Reader_dealloc,
    .tp_methods = Reader_methods,
};

/* Where a slot of Node is; -1 with an exception: it is none. */
static Py_ssize_t slot_offset(PyObject *type, const char *name) {
    PyObject *found = PyObject_GetAttrString(type, name);
    Py_ssize_t offset = -1;
    if (found && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        if (member->type == T_OBJECT_EX && member->offset > 0
            && member->offset + (Py_ssize_t)sizeof(PyObject *) <= ((PyTypeObject *)type)->tp_basicsize)
            offset = member->offset;
    }
    Py_XDECREF(found);
    if (offset < 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s is not a slot", name);
    return offset;
}

static int set_beginnings(PyObject *firsts, unsigned char kind) {
    Py_ssize_t length;
    const char *bytes = PyUnicode_AsUTF8AndSize(firsts, &length);
    for (Py_ssize_t at = 0; bytes && at < length; at++)
        beginnings[(unsigned char)bytes[at]] = kind;
    return bytes != NULL;
}

static PyObject *prepare(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *node, *word_starts, *number_starts, *functions[8];
    if (!PyArg_ParseTuple(arguments, "O!O!UUOOOOOOO", &PyType_Type, &node, &PyDict_Type, &functions[0],
                          &word_starts, &number_starts, &functions[1], &functions[2], &functions[3],
                          &functions[4], &functions[5], &functions[6], &functions[7]))
        return NULL;
    Py_ssize_t offsets[6];
    static const char *names[] = {"data", "entries", "extent", "_lines", "style", "written"};
    for (int at = 0; at < 6; at++)
        if ((offsets[at] = slot_offset(node, names[at])) < 0)
            return NULL;
    memset(beginnings, TEXT, sizeof(beginnings));
    if (!set_beginnings(word_starts, WORD) || !set_beginnings(number_starts, NUMBER))
        return NULL;
    python.data = offsets[0];
    python.entries = offsets[1];
    python.extent = offsets[2];
    python.lines = offsets[3];
    python.style = offsets[4];
    python.written = offsets[5];
    Py_XSETREF(python.node, (PyTypeObject *)Py_NewRef(node));
    PyObject **kept[] = {&python.words, &python.resolve, &python.tagged, &python.measure,
                         &python.merge, &python.key_text, &python.content_end, &python.unread};
    for (int at = 0; at < 8; at++)
        Py_XSETREF(*kept[at], Py_NewRef(functions[at]));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"prepare", prepare, METH_VARARGS,
     "prepare(Node, words, word_starts, number_starts, resolve, tagged, measure, merge, key_text, "
     "content_end, unread)"},
    {NULL},
};

int add_tree(PyObject *module) {
    static const char *marks[] = {
        [YAML_ANY_SCALAR_STYLE] = "", [YAML_PLAIN_SCALAR_STYLE] = "",
        [YAML_SINGLE_QUOTED_SCALAR_STYLE] = "'", [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = "\"",
        [YAML_LITERAL_SCALAR_STYLE] = "|", [YAML_FOLDED_SCALAR_STYLE] = ">",
    };
    int major, minor, patch;
    yaml_get_version(&major, &minor, &patch);
    if (major != 0 || minor != 2 || patch < 5) {
        /* Older ones read some texts differently than the one of PyYAML. */
        PyErr_Format(PyExc_ImportError, "libyaml %d.%d.%d is not 0.2.5 or later", major, minor, patch);
        return -1;
    }
    for (int style = 0; style <= YAML_FOLDED_SCALAR_STYLE; style++)
        if (!(styles[style] = PyUnicode_InternFromString(marks[style])))
            return -1;
    empty = styles[YAML_PLAIN_SCALAR_STYLE];
    return PyModule_AddType(module, &ReaderType) < 0 || PyModule_AddFunctions(module, functions) < 0
                   || PyModule_AddStringConstant(module, "LIBYAML", yaml_get_version_string()) < 0
               ? -1
               : 0;
}
