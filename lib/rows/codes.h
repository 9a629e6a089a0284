/* SPDX-License-Identifier: MIT
 *
 * codes.h - rows as bytes: what the compiler writes and the library reads
 *
 * What tensors are called is not bytes, but the tables of
 * lib/hf/hub/naming.h; the limits of these are at the end.
 *
 * An expression is a tree, its root first.  After the byte of a node come its
 * own operands, then its children:
 *
 *     NUMBER            8 bytes
 *     REAL, TEXT, NAME  a text; REAL has digits
 *     NULL, TRUE, FALSE
 *     PARAMETER         a word that is one (see below)
 *     LENGTH            a word, that of a tensor; a byte, the dimension
 *     MEMBER            a text; the object
 *     ELEMENT           the list; the index
 *     LIST              a byte, the count; elements
 *     NOT, MINUS        one child
 *     ADD ... IN        two children; DIVIDE, QUOTIENT and REMAINDER have a
 *                       text before them, the divisor as the row has it
 *     AND, OR           two bytes, the size of the second child; both
 *     CHOICE            two times two bytes, the sizes of what it is if the
 *                       condition holds, and if not; the condition; these
 *     CALL              a byte, the function; two bytes, the size of all that
 *                       follows; a byte, the count of arguments; these; and of
 *                       values of JSON, if the last one may be there again, a
 *                       text, all of them
 *     KEY, PATTERN, PATH, TEXT    arguments that are not expressions: a text, a
 *                       pattern, a byte, the count of names, and these, a text
 *
 * A text is 3 bytes: where in the texts of the program it is.  There two bytes
 * have its size, and a NUL follows it.  A word is a byte, 0 or the number of a
 * parameter of the group, from 1 on, and a text.  A pattern is a byte, the
 * count of its pieces, and pieces, which are words.  Numbers of several bytes
 * begin with the lowest.
 *
 * A row is a byte, its word; two bytes, the size of what follows; and operands.
 * Rows that end with `end` are part of the row that begins them, and there is
 * no `else`.  "list" is a byte, the count, before elements.
 *
 *     LET          a text; a byte, 1 if it means nothing any more; the
 *                  expression
 *     IF           an expression; two bytes, the size of the rows if it holds;
 *                  these; the rows if it does not
 *     EACH         two expressions; rows
 *     USE          a byte, 1 if its tensors may be missing; two bytes, the
 *                  paragraph; a list of arguments: a word, whose text is empty
 *                  if it is an expression only, and two bytes, the size of the
 *                  expression (0: there is none), which follows
 *     LIKE         two bytes, the paragraph
 *
 *     KEY          bytes: the type, flags, two for the most elements; a text
 *     NEED         a text and an expression, which are the same
 *     TENSOR       a byte, flags; a text; a list of expressions; an expression
 *                  if a flag says so
 *
 *     CALL         a byte, 1 if it may do nothing; a byte, the operation; a
 *                  word; a list of sources: a byte, 0 before a pattern, or a
 *                  type, from 1 on; a list of expressions
 *     INPUT        a word; a byte, the type; a list of expressions
 *     CARRY        a list of texts
 *     EXPAND, OUTPUT    a word
 *     ROUGH
 *     VARY         an expression
 *
 *     CLASS, ARCH, VOCAB    a text
 *     MTP, WITHOUT_MTP
 *     PART         two texts
 *     PUT, PUT_FIRST    a byte, the type; a byte, 1 if it may be null; a text;
 *                  an expression
 *     REFUSE       a text, the file; an expression; a text, the reason
 *     DEFAULT, SET, FIELD, USUAL    a text, an expression
 *     NOTHING      a text
 *     SKIP         a list of texts; a range
 *     RENAME, REPLACE    a text; a template; a range
 *     CHANGE, EARLY, EXTRA    a text; a range; a list of steps: bytes, the kind
 *                  and which tensor; a list of expressions; one of templates
 *     TYPE, GGUF_TYPE    a byte, the type; a list of texts
 *
 * A range is a byte, flags, an expression for each of the first three, and a
 * text for the fourth.  A template is a list of pieces: a byte, and a text or
 * an expression.
 */
#ifndef MF_LIB_ROWS_CODES_H
#define MF_LIB_ROWS_CODES_H

enum mf_code_kind {
    MF_IS_NUMBER,
    MF_IS_REAL,
    MF_IS_TEXT,
    MF_IS_NULL,
    MF_IS_TRUE,
    MF_IS_FALSE,
    MF_IS_NAME,
    MF_IS_PARAMETER,
    MF_IS_LENGTH,
    MF_IS_MEMBER,
    MF_IS_ELEMENT,
    MF_IS_LIST,
    MF_IS_NOT,
    MF_IS_MINUS,
    MF_IS_ADD,
    MF_IS_SUBTRACT,
    MF_IS_MULTIPLY,
    MF_IS_DIVIDE,
    MF_IS_QUOTIENT, /* rounded down */
    MF_IS_REMAINDER,
    MF_IS_POWER,
    MF_IS_EQUAL,
    MF_IS_DIFFERENT,
    MF_IS_LESS,
    MF_IS_AT_MOST,
    MF_IS_GREATER,
    MF_IS_AT_LEAST,
    MF_IS_IN,
    MF_IS_AND,
    MF_IS_OR,
    MF_IS_CHOICE,
    MF_IS_CALL,
    MF_IS_KEY,
    MF_IS_PATTERN,
    MF_IS_PATH
};

enum mf_code_row {
    MF_DO_LET,
    MF_DO_IF,
    MF_DO_EACH,
    MF_DO_USE,
    MF_DO_LIKE,
    MF_DO_KEY,
    MF_DO_NEED,
    MF_DO_TENSOR,
    MF_DO_CALL,
    MF_DO_INPUT,
    MF_DO_CARRY,
    MF_DO_EXPAND,
    MF_DO_OUTPUT,
    MF_DO_ROUGH,
    MF_DO_VARY,
    MF_DO_CLASS,
    MF_DO_ARCH,
    MF_DO_VOCAB,
    MF_DO_MTP,
    MF_DO_WITHOUT_MTP,
    MF_DO_PART,
    MF_DO_PUT,
    MF_DO_PUT_FIRST,
    MF_DO_REFUSE,
    MF_DO_DEFAULT,
    MF_DO_SET,
    MF_DO_FIELD,
    MF_DO_USUAL,
    MF_DO_NOTHING,
    MF_DO_SKIP,
    MF_DO_RENAME,
    MF_DO_REPLACE,
    MF_DO_CHANGE,
    MF_DO_EARLY,
    MF_DO_EXTRA,
    MF_DO_TYPE,
    MF_DO_GGUF_TYPE
};

/* Of KEY: "uint|[4]?" is SINGLE, ARRAY and OPTIONAL. */
enum mf_code_key {
    MF_KEY_SINGLE = 1,
    MF_KEY_ARRAY = 2,
    MF_KEY_EXACT = 4, /* the array has as many, or one for each block */
    MF_KEY_OPTIONAL = 8,
    MF_KEY_TRUNK = 16 /* without blocks for speculative decoding */
};

enum mf_code_tensor {
    MF_TENSOR_OPTIONAL = 1,
    MF_TENSOR_RESHAPE = 2,
    MF_TENSOR_CONDITION = 4
};

/* The types of KEY, of a graph's tensors, and of PUT: their words. */
#define MF_KEY_TYPES                                                           \
    "uint", "id", "int", "float", "bool", "string", "ulong", "list"
#define MF_GRAPH_TYPES "f32", "f16", "i32", "i64", "keys", "values", "masks"
#define MF_PUT_TYPES                                                           \
    "u32", "i32", "u64", "f32", "bool", "text", "array", "counts"

/* Operations of graphs that are not in lib/plan/ops.def, which they follow:
 * name, and how many sources at least and at most. */
#define MF_GRAPH_MORE_OPS(OP)                                                  \
    OP(pack, 1, 1)                                                             \
    OP(rotate, 2, 2)                                                           \
    OP(sum_experts, 1, 1)                                                      \
    OP(same, 1, 1)                                                             \
    OP(outside, 0, 0)

enum mf_code_range {
    MF_RANGE_FROM = 1,
    MF_RANGE_BELOW = 2,
    MF_RANGE_AT = 4,
    MF_RANGE_EXCEPT = 8
};

enum mf_code_piece {
    MF_PIECE_TEXT,
    MF_PIECE_NUMBER, /* its digits */
    MF_PIECE_PLUS    /* is added to the number before it */
};

#define MF_ARGUMENTS_MAX 8 /* of a group */

/* What the library has room for while it runs rows. */
#define MF_ARCH_KEYS_MAX  112
#define MF_ARCH_LETS_MAX  224 /* including the lets of graphs */
#define MF_GRAPH_VARY_MAX 8
#define MF_GRAPH_NUMBERS  18 /* that graphs have: 13 are given, and a group */
#define MF_RECIPE_LETS    192
#define MF_STEP_NAMES_MAX 6
#define MF_TENSOR_LIST    6 /* tensors that a row works on at once */

/* What a name may mean: of several tensors the first that there is. */
#define MF_NAMING_MEANINGS 3

#define MF_NAMING_WORDS 36 /* of 16 bits, one for each tensor */

/* Flags of a tensor, a bit for each word. */
#define MF_NAMING_FLAGS "f32", "wide"
enum mf_naming_flag {
    MF_NAMED_F32 = 1, /* its matrix is f32 in every file */
    MF_NAMED_WIDE = 2 /* its matrix is f16 in a file of ternary types */
};

#endif
