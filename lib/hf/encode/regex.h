/* SPDX-License-Identifier: MIT
 *
 * regex.h - the regular expressions of tokenizer.json
 *
 * Their syntax is Oniguruma's, as far as it needs no numbered groups.  An
 * expression becomes a list of operations in one pass, without a tree; jumps
 * are relative, so that what is repeated can be moved and copied.  Matching
 * goes back by a stack of its own.  Both have limits, since an expression may
 * come from anybody.
 */
#ifndef MF_LIB_REGEX_H
#define MF_LIB_REGEX_H

#include <string.h>

#include "lib/base/heap.h"
#include "lib/hf/encode/chars.h"

#define MF_REGEX_OPS   4096 /* of an expression */
#define MF_REGEX_DEPTH 32   /* open groups */
#define MF_REGEX_SETS  1024
/* Of one text; the longest honest expression takes some ten thousand for the
 * converter's text. */
#define MF_REGEX_STEPS (UINT64_C(1) << 24)
#define MF_REGEX_STACK 16384

enum mf_regex_kind {
    MF_OP_MATCH,
    MF_OP_CHAR,  /* of row `value` */
    MF_OP_SET,   /* a character of set `value` */
    MF_OP_JUMP,  /* to `value` operations on */
    MF_OP_SPLIT, /* the next operation or, failing that, a jump */
    MF_OP_LAZY,  /* the jump, or the next */
    MF_OP_LINE_START,
    MF_OP_LINE_END,
    MF_OP_TEXT_START,
    MF_OP_TEXT_END,
    MF_OP_TEXT_ALMOST_END, /* or before a line feed at the end */
    MF_OP_WORD_EDGE,
    MF_OP_WORD_INSIDE,
    MF_OP_AHEAD, /* these five begin a group that is left by its END */
    MF_OP_NOT_AHEAD,
    MF_OP_BEHIND,
    MF_OP_NOT_BEHIND,
    MF_OP_ATOMIC,
    MF_OP_END
};

struct mf_regex_op {
    enum mf_regex_kind kind;
    int32_t value; /* of a group: to the operation after its END */
};

struct mf_regex {
    struct mf_regex_op *op; /* MF_OP_MATCH is the last */
    size_t count;
    struct mf_char_set *set;
    size_t set_count;
};

/* A text as rows of characters. */
struct mf_regex_text {
    const uint16_t *row;
    size_t count;
};

/* Where a match may go back to. */
struct mf_regex_back {
    uint32_t op, at, open, first;
};

struct mf_matcher {
    struct mf_env *env;
    struct mf_regex_back *stack; /* MF_REGEX_STACK */
    uint64_t steps;
};

/* The expression in the arena; NULL after mf_fail, which names it. */
struct mf_regex *mf_regex_make(struct mf_env *env, struct mf_arena *arena,
                               struct mf_str pattern);

/* The first match at or after from: *start to *end.  *found: there is one. */
enum mf_status mf_regex_find(struct mf_matcher *matcher,
                             const struct mf_regex *regex,
                             const struct mf_regex_text *text, size_t from,
                             size_t *start, size_t *end, bool *found);

/* ---- regex_class.c ---- */

struct mf_regex_input {
    struct mf_env *env;
    struct mf_str pattern;
    size_t at;
    bool fold; /* case does not matter */
    bool in_class;
};

/* MF_ERR_UNSUPPORTED with the expression and the place in it. */
enum mf_status mf_regex_refuse(const struct mf_regex_input *input,
                               const char *what);

/* The next character; 0 at the end, or after mf_fail.  */
uint32_t mf_regex_take(struct mf_regex_input *input);

/* What follows a backslash: one character (*code), or a set of them. */
enum mf_status mf_regex_escape(struct mf_regex_input *input, bool *is_set,
                               uint32_t *code, struct mf_char_set *set);

/* What is between brackets, the first of which was taken. */
enum mf_status mf_regex_class(struct mf_regex_input *input,
                              struct mf_char_set *set);

/* ---- a regular expression while it is read ---- */

#define MF_REGEX_NOTHING UINT32_MAX

struct mf_regex_group {
    enum mf_regex_kind kind;     /* MF_OP_MATCH: a plain one */
    uint32_t start, alternative; /* its first operation; of its last | */
    uint32_t jumps;              /* the last jump to its end, then by value */
    uint32_t size;               /* characters at least: of the alternative */
    uint32_t least;              /* of those before; MF_REGEX_NOTHING: none */
    bool fold, dot_all;          /* outside */
};

struct mf_making {
    struct mf_regex_input input;
    struct mf_regex *regex;
    struct mf_regex_group group[MF_REGEX_DEPTH];
    size_t depth;
    bool dot_all;
    uint32_t atom, atom_size; /* what a repetition repeats; MF_REGEX_NOTHING */
};

/* The next byte; 0 at the end. */
char mf_making_peek(const struct mf_making *making);

/* Takes a text, if it is next. */
bool mf_making_take(struct mf_making *making, const char *text);

/* Room for count operations at a place; an operation there; one at the end. */
enum mf_status mf_making_insert(struct mf_making *making, uint32_t at,
                                uint32_t count);
enum mf_status mf_making_put(struct mf_making *making, uint32_t at,
                             enum mf_regex_kind kind, int32_t value);
enum mf_status mf_making_append(struct mf_making *making,
                                enum mf_regex_kind kind, int32_t value);

/* A repetition of the last atom, if one follows; *taken. */
enum mf_status mf_making_repeat(struct mf_making *making, bool *taken);

#endif
