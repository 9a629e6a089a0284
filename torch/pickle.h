/* SPDX-License-Identifier: MIT
 *
 * pickle.h - a pickle as a tree of plain values; nothing in it is ever called
 *
 * A pickle is a program for a stack machine: opcodes push numbers and texts,
 * collect them in tuples, lists and dicts, name a global ("torch",
 * "FloatStorage") and call it.  Python imports the global and calls it, which
 * is why unpickling a file can do anything.  Here a global is two texts, and a
 * call is a node with the function's name and its arguments.
 *
 * The bytes are read twice, like a header of safetensors.  The first pass
 * decodes opcodes only: it finds what cannot be read, and counts what the
 * second one will make at most.  Then there is one allocation of that size, 28
 * times the pickle for the worst of pickles and 4 to 5 times for a checkpoint,
 * and the machine runs without any recursion.
 *
 *     decode.c  one opcode and its argument
 *     pickle.c  both passes, memory, stack and memo
 *     build.c   what each opcode does
 *     call.c    likewise, for those that call something
 *     takes.c   which arguments each global takes
 *     scalars.c what opcodes do that make one number or text
 *     keys.c    keys of dicts, which PyTorch has to find different
 */
#ifndef MF_TORCH_PICKLE_H
#define MF_TORCH_PICKLE_H

#include "lib/model/format.h"

/* ---- opcodes ---- */

enum pickle_argument {
    PICKLE_EMPTY,
    PICKLE_U1, /* a number of 1, 2, 4 or 8 bytes, little-endian */
    PICKLE_U2,
    PICKLE_I4,
    PICKLE_U4,
    PICKLE_U8,
    PICKLE_F8,     /* big-endian */
    PICKLE_BYTES1, /* so many bytes, after a length of 1, 4 or 8 bytes */
    PICKLE_BYTES4,
    PICKLE_BYTES8,
    PICKLE_LINE, /* text up to a line feed */
    PICKLE_LINES /* two of them */
};

enum pickle_class { PICKLE_TORCH, PICKLE_OTHER, PICKLE_BARRED };

enum pickle_opcode {
#define OPCODE(byte, NAME, argument, effect, nodes, pushes, class)             \
    PICKLE_OP_##NAME = (byte),
#include "torch/opcodes.def"
#undef OPCODE
};

struct pickle;
struct pickle_step;

struct pickle_row {
    const char *name; /* NULL: not an opcode */
    uint8_t argument, nodes, pushes, class;
    enum mf_status (*effect)(struct pickle *pickle,
                             const struct pickle_step *step);
};

extern const struct pickle_row mf_pickle_rows[256];

/* One opcode. */
struct pickle_step {
    const struct pickle_row *row;
    uint8_t opcode;
    uint64_t at;        /* its offset in the file */
    uint64_t number;    /* U and I; the bits of a float */
    struct mf_str text; /* bytes or the first line, valid until the next step;
                           at is NULL if they are more than MF_TEXT_KEPT */
    uint64_t text_size; /* also then */
    struct mf_str name; /* the second line, likewise */
};

/* The lines of a step. */
struct pickle_lines {
    char line[2][MF_TEXT_KEPT];
};

/* Whether the opcode's bytes are a text, not bytes. */
bool mf_pickle_is_text(uint8_t opcode);

/* Reads one opcode.  Bytes that are not one are an error of rule
 * PICKLE-OPCODE. */
enum mf_status mf_pickle_step(struct mf_reader *reader,
                              struct pickle_lines *lines,
                              struct pickle_step *out);

/* ---- globals ---- */

/* What a call of a global makes, in the order of the rows of takes.c. */
enum pickle_makes {
    PICKLE_MAKES_VALUE,   /* nothing: it is a constant */
    PICKLE_MAKES_ENCODED, /* bytes of a text */
    PICKLE_MAKES_BYTES,
    PICKLE_MAKES_COMPLEX,
    PICKLE_MAKES_LAYOUT,
    PICKLE_MAKES_SIZE,            /* the same as its first argument, a tuple */
    PICKLE_MAKES_DEVICE,          /* likewise a text */
    PICKLE_MAKES_DICT,            /* a dict, of what pairs there are */
    PICKLE_MAKES_COUNTER,         /* likewise, of a dict */
    PICKLE_MAKES_SET,             /* of a list */
    PICKLE_MAKES_TENSOR,          /* of a storage, an offset, shape, strides */
    PICKLE_MAKES_TENSOR_2,        /* the same, and what PyTorch says of it */
    PICKLE_MAKES_TENSOR_3,        /* the same, and a dtype */
    PICKLE_MAKES_PARAMETER_CLASS, /* its first argument, a tensor */
    PICKLE_MAKES_PARAMETER,
    PICKLE_MAKES_PARAMETER_STATE, /* likewise, and attributes of it */
    PICKLE_MAKES_TYPED,        /* what its first argument makes of the third */
    PICKLE_MAKES_TENSOR_CLASS, /* a tensor of before PyTorch 0.4 */
    PICKLE_MAKES_UNREAD,       /* a tensor of a kind that is not read */
    PICKLE_MAKES_STORAGE, /* nothing: a class of storages, with its dtype */
    PICKLE_MAKES_DTYPE,   /* nothing */
    PICKLE_MAKES_WRAPPED, /* its first argument, in TorchScript; is
                             reported like an unknown one */
    PICKLE_MAKES_UNKNOWN  /* any other global */
};

static inline bool mf_pickle_makes_tensor(unsigned makes)
{
    return makes >= PICKLE_MAKES_TENSOR && makes <= PICKLE_MAKES_UNREAD;
}

struct pickle_global {
    const char *module, *name;
    uint8_t makes, dtype; /* dtype: of enum pickle_dtype */
};

enum pickle_dtype {
#define DTYPE(name, TYPE, size) PICKLE_DTYPE_##name,
#include "torch/dtypes.def"
#undef DTYPE
    PICKLE_DTYPE_COUNT
};

struct pickle_dtype_row {
    const char *name;
    uint8_t type, size; /* enum mf_type; bytes of an element */
};

extern const struct pickle_dtype_row mf_pickle_dtypes[PICKLE_DTYPE_COUNT];

/* Rows of globals.def, and one more for all that are not there. */
extern const struct pickle_global mf_pickle_globals[];
uint16_t mf_pickle_global(struct mf_str module, struct mf_str name);

/* ---- values ---- */

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_FALSE,
    PICKLE_TRUE,
    PICKLE_MARK, /* only on the stack */
    PICKLE_INT,
    PICKLE_BIG, /* an integer of more than 64 bits: its bytes, a text */
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_BYTES, /* likewise a text */
    PICKLE_TUPLE, /* from here on nodes that have items */
    PICKLE_LIST,
    PICKLE_DICT, /* keys and values in turn */
    PICKLE_SET,
    PICKLE_STORAGE, /* item 0: its persistent id */
    PICKLE_CALL,    /* item 0: the function, 1: its arguments, then for each
                       opcode that added to it MARK, one of the next three,
                       and what was added */
    PICKLE_GLOBAL   /* no items: module and name */
};

/* What was added to a call. */
#define PICKLE_ADDED_STATE PICKLE_NONE
#define PICKLE_ADDED_ITEMS PICKLE_FALSE
#define PICKLE_ADDED_PAIRS PICKLE_TRUE

/* Nodes and items are numbered from 0 on; PICKLE_NIL is neither. */
#define PICKLE_NIL UINT32_MAX

struct pickle_node {
    uint8_t kind;
    bool open : 1;   /* it is being walked: meeting it again is a circle */
    bool used : 1;   /* a call has had it: a change is too late for that */
    bool deep : 1;   /* likewise its items */
    bool bad : 1;    /* CALL: PyTorch refuses it, or nothing is known of it */
    bool made : 1;   /* DICT: of a class that may have a state */
    bool seen : 1;   /* a tensor or a storage that was looked at */
    uint16_t global; /* GLOBAL: its row; CALL: its function's row; INT and
                        FLOAT: bytes of its opcode and argument; TEXT: bytes
                        before the text */
    uint32_t at;     /* its opcode, from the pickle's first byte on */
    union {
        int64_t number;
        double real;
        struct {                  /* TEXT, BYTES, BIG */
            uint32_t start, size; /* start PICKLE_NIL: not kept, see `at` */
        } text;
        struct { /* GLOBAL without a row: two nodes, TEXT or others */
            uint32_t module, name;
        } path;
        struct {
            uint32_t first, last; /* PICKLE_NIL: no item */
        } items;
    } is;
};

struct pickle_item {
    uint32_t node, next;
};

/* Globals outside of torch's list that were found in one file: each is
 * reported once. */
#define PICKLE_GLOBALS_MAX 256
struct pickle_found {
    size_t count;
    uint64_t hash[PICKLE_GLOBALS_MAX];
};

struct pickle {
    struct mf_env *env;
    struct mf_index *index; /* for findings */
    struct mf_reader *reader;
    struct pickle_found *found;
    uint32_t shard;
    struct mf_span span; /* of the pickle; its size after the first pass */

    void *block; /* one allocation of all that follows */
    size_t block_size;
    struct pickle_node *node;
    struct pickle_item *item;
    uint32_t *stack, *memo;
    char *text;
    uint64_t node_room, item_room, stack_room, memo_room, text_room;
    uint64_t puts; /* in the first pass; then values that are in the memo */
    uint32_t node_count, item_count, stack_count, text_size;

    bool is_bound;    /* memory is, by mf_torch_begin */
    uint8_t id_items; /* of the persistent id of a storage */
    uint64_t work;    /* values that checks of the pickle may still look at */
    bool stopped;
    bool noted_protocol, noted_barred;
    uint64_t frame_end; /* of the last frame, in the file */
    uint32_t result;    /* after mf_pickle_read: a node */
};

/* Reads the pickle that begins at the reader's place, within its limit, and
 * leaves the reader after its STOP.  index, found and shard must be set. What
 * is wrong and can be passed over is a finding. */
enum mf_status mf_pickle_read(struct pickle *pickle, struct mf_reader *reader);
void mf_pickle_release(struct pickle *pickle);

/* ---- of a pickle that was read ---- */

static inline bool mf_pickle_has_items(const struct pickle_node *node)
{
    return node->kind >= PICKLE_TUPLE && node->kind <= PICKLE_CALL;
}

/* Its text; at is NULL if it is not kept. */
struct mf_str mf_pickle_text(const struct pickle *pickle,
                             const struct pickle_node *node);

/* Item i of a node, PICKLE_NIL if it has fewer. */
uint32_t mf_pickle_item(const struct pickle *pickle, uint32_t node, unsigned i);

/* Whether it has so many items; for few. */
bool mf_pickle_has_count(const struct pickle *pickle, uint32_t node,
                         unsigned count);

/* What a call of the node makes, or of the function of which it is a call;
 * MAKES_VALUE for any other one. */
unsigned mf_pickle_makes(const struct pickle *pickle, uint32_t node);

/* The value of an integer that is not negative; false for any other node. */
bool mf_pickle_unsigned(const struct pickle *pickle, uint32_t node,
                        uint64_t *out);

/* "module.name" of a global, for a message. */
struct pickle_name {
    char text[2 * sizeof(struct mf_quoted)];
};
struct pickle_name mf_pickle_global_name(const struct pickle *pickle,
                                         const struct pickle_node *node);

/* The number that a step pushes; false where that is something else. */
bool mf_pickle_number(const struct pickle_step *step, struct mf_value *out);

/* Bytes of it that do not only repeat the sign of a little-endian integer. */
size_t mf_pickle_long_size(struct mf_str bytes);

/* A little-endian integer in two's complement; false above 64 bits. */
bool mf_pickle_long(struct mf_str bytes, int64_t *out);

/* ---- what PyTorch would make of it ---- */

/* Finds what PyTorch refuses of a REDUCE or NEWOBJ of a function and its
 * arguments, a tuple: NULL if nothing.  *unknown: nothing can be said of it. */
const char *mf_pickle_check_call(struct pickle *pickle, bool is_new,
                                 uint32_t function, uint32_t arguments,
                                 bool *unknown);

/* A later change of what the node has would be a change of what was called
 * with it. */
void mf_pickle_mark_used(struct pickle *pickle, uint32_t node);

/* Whether it is a dict of any class. */
bool mf_pickle_is_dict(const struct pickle *pickle, uint32_t node);

/* Findings about keys of dicts and elements of sets: equal ones in Python, and
 * kinds that are not compared. */
enum mf_status mf_pickle_check_keys(struct pickle *pickle);

/* Counts so many values against the limit of what checks look at; false once
 * it is met, and then the pickle is refused. */
bool mf_pickle_work(struct pickle *pickle, uint64_t values);

/* ---- for effects ---- */

/* Why the machine cannot go on. */
enum mf_status mf_pickle_bad_stack(struct pickle *pickle,
                                   const struct pickle_step *step,
                                   const char *what);

/* A new node of the step; there is always room. */
uint32_t mf_pickle_add(struct pickle *pickle, const struct pickle_step *step,
                       enum pickle_kind kind);
void mf_pickle_push(struct pickle *pickle, uint32_t node);
void mf_pickle_append(struct pickle *pickle, uint32_t node, uint32_t item);

/* Takes the topmost item; PICKLE_NIL for a mark, or none. */
uint32_t mf_pickle_pop(struct pickle *pickle);
uint32_t mf_pickle_top(const struct pickle *pickle);

/* Whether there are so many items, without a mark. */
bool mf_pickle_has_operands(const struct pickle *pickle, uint32_t count);
enum mf_status mf_pickle_no_operand(struct pickle *pickle,
                                    const struct pickle_step *step);

/* Says what is added to the call from here on. */
static inline void mf_pickle_begin_added(struct pickle *pickle, uint32_t call,
                                         uint32_t what)
{
    mf_pickle_append(pickle, call, PICKLE_MARK);
    mf_pickle_append(pickle, call, what);
}

/* The topmost items become the node's; takes them from the stack. */
void mf_pickle_take_items(struct pickle *pickle, uint32_t node, uint32_t count);

/* Sets the text of a node. */
void mf_pickle_keep_text(struct pickle *pickle, uint32_t node,
                         const struct pickle_step *step, struct mf_str text);

/* Items above the topmost mark; PICKLE_NIL without one. */
uint32_t mf_pickle_marked(const struct pickle *pickle);

/* The number in the memo that a step is about; UINT64_MAX if its line is not a
 * number.  next: of MEMOIZE. */
uint64_t mf_pickle_memo_number(const struct pickle_step *step, uint64_t next);

/* A global whose module and name are those nodes, or are in the step. */
uint32_t mf_pickle_add_global(struct pickle *pickle,
                              const struct pickle_step *step, uint32_t module,
                              uint32_t name);
uint32_t mf_pickle_add_named(struct pickle *pickle,
                             const struct pickle_step *step);

#define OPCODE(byte, NAME, argument, effect, nodes, pushes, class)             \
    enum mf_status mf_pickle_do_##effect(struct pickle *pickle,                \
                                         const struct pickle_step *step);
#include "torch/opcodes.def"
#undef OPCODE

#endif
