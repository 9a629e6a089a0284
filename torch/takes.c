/* SPDX-License-Identifier: MIT
 *
 * takes.c - which arguments the globals of PyTorch's list take
 *
 * PyTorch calls them, and fails for any others.  Nothing is called here, but a
 * file that PyTorch refuses must not look as if it were fine.
 */
#include "torch/pickle.h"

/* Elements of a shape: MF_RANK_MAX, and one more to see that there are more. */
#define DIMS_LOOKED_AT (MF_RANK_MAX + 1)

/* takes: for each argument a letter of fits(); '|' between alternatives; "*":
 * whatever; NULL: it cannot be called.
 * object: what NEWOBJ takes, which calls __new__ alone; likewise. */
static const struct {
    const char *takes, *object;
} rows[] = {
    [PICKLE_MAKES_VALUE] = { NULL, NULL },
    [PICKLE_MAKES_ENCODED] = { "tt", NULL },
    [PICKLE_MAKES_BYTES] = { "|tt|y", "" },
    [PICKLE_MAKES_COMPLEX] = { "|n|nn", "|n|nn" },
    [PICKLE_MAKES_LAYOUT] = { "t", NULL },
    [PICKLE_MAKES_SIZE] = { "w", "w" },
    [PICKLE_MAKES_DEVICE] = { "t|ti", "t|ti" },
    [PICKLE_MAKES_DICT] = { "|p", "" },
    [PICKLE_MAKES_COUNTER] = { "|D", "" },
    [PICKLE_MAKES_SET] = { "|l", "" },
    [PICKLE_MAKES_TENSOR] = { "sill", NULL },
    [PICKLE_MAKES_TENSOR_2] = { "sillbh|sillbhm", NULL },
    [PICKLE_MAKES_TENSOR_3] = { "sillbhd|sillbhdm", NULL },
    [PICKLE_MAKES_PARAMETER_CLASS] = { "T|Tb", "T|Tb" },
    [PICKLE_MAKES_PARAMETER] = { "Tbh", NULL },
    [PICKLE_MAKES_PARAMETER_STATE] = { "Tbhx", NULL },
    [PICKLE_MAKES_TYPED] = { "fcax", NULL },
    [PICKLE_MAKES_TENSOR_CLASS] = { "*", "*" },
    [PICKLE_MAKES_UNREAD] = { "*", "*" },
    [PICKLE_MAKES_STORAGE] = { NULL, NULL },
    [PICKLE_MAKES_DTYPE] = { NULL, NULL },
    [PICKLE_MAKES_WRAPPED] = { "*", "*" },
    [PICKLE_MAKES_UNKNOWN] = { "*", "*" },
};

/* ---- bounds ---- */

/* A value that many calls have is looked at again for each of them. */
bool mf_pickle_work(struct pickle *pickle, uint64_t values)
{
    if (values > pickle->work) {
        mf_refuse(pickle->env, MF_RULE_PICKLE_SIZE, pickle->span.offset,
                  "the calls of a pickle of %" PRIu64
                  " bytes have the same values again and again",
                  pickle->span.size);
        return false;
    }
    pickle->work -= values;
    return true;
}

static uint32_t first_item(const struct pickle *pickle, uint32_t node)
{
    return mf_pickle_has_items(&pickle->node[node])
               ? pickle->node[node].is.items.first
               : PICKLE_NIL;
}

static bool is_sequence(const struct pickle *pickle, uint32_t node)
{
    return pickle->node[node].kind == PICKLE_TUPLE ||
           pickle->node[node].kind == PICKLE_LIST;
}

/* ---- kinds of arguments ---- */

static bool has_pairs(struct pickle *pickle, uint32_t node)
{
    if (mf_pickle_is_dict(pickle, node))
        return true;
    if (!is_sequence(pickle, node))
        return false;
    for (uint32_t at = first_item(pickle, node); at != PICKLE_NIL;
         at = pickle->item[at].next) {
        uint32_t pair = pickle->item[at].node;

        if (!mf_pickle_work(pickle, 1) || !is_sequence(pickle, pair) ||
            !mf_pickle_has_count(pickle, pair, 2))
            return false;
    }
    return true;
}

/* Whole numbers, of either sign. */
static bool has_integers(struct pickle *pickle, uint32_t node)
{
    unsigned count = 0;

    if (!is_sequence(pickle, node))
        return false;
    for (uint32_t at = first_item(pickle, node);
         at != PICKLE_NIL && count++ < DIMS_LOOKED_AT;
         at = pickle->item[at].next)
        if (pickle->node[pickle->item[at].node].kind != PICKLE_INT)
            return false;
    return true;
}

static bool is_number(const struct pickle_node *node)
{
    return node->kind == PICKLE_INT || node->kind == PICKLE_BIG ||
           node->kind == PICKLE_FLOAT || node->kind == PICKLE_TRUE ||
           node->kind == PICKLE_FALSE;
}

/* What a tensor can be made to be: torch.Tensor or a parameter. */
static bool is_class(const struct pickle *pickle, uint32_t node)
{
    const struct pickle_global *row =
        &mf_pickle_globals[pickle->node[node].global];

    return pickle->node[node].kind == PICKLE_GLOBAL &&
           (row->makes == PICKLE_MAKES_PARAMETER_CLASS ||
            (row->makes == PICKLE_MAKES_TENSOR_CLASS &&
             strcmp(row->name, "Tensor") == 0));
}

static bool is_global_of(const struct pickle *pickle, uint32_t node,
                         unsigned from, unsigned to)
{
    unsigned makes = mf_pickle_makes(pickle, node);

    return pickle->node[node].kind == PICKLE_GLOBAL && makes >= from &&
           makes <= to;
}

/* Its arguments are checked where the tensor is read. */
static bool is_nothing(const struct pickle *pickle, uint32_t node)
{
    return node == PICKLE_NONE || (pickle->node[node].kind == PICKLE_DICT &&
                                   mf_pickle_has_count(pickle, node, 0));
}

/* Whether the argument is what the letter stands for. */
static bool fits(struct pickle *pickle, uint32_t at, char letter)
{
    const struct pickle_node *node = &pickle->node[at];

    switch (letter) {
    case 'a': /* arguments; see check_typed */
        return node->kind == PICKLE_TUPLE;
    case 'b': /* a boolean */
        return node->kind == PICKLE_TRUE || node->kind == PICKLE_FALSE;
    case 'c': /* a class of tensors */
        return is_class(pickle, at);
    case 'd': /* a dtype */
        return is_global_of(pickle, at, PICKLE_MAKES_DTYPE, PICKLE_MAKES_DTYPE);
    case 'D': /* a dict */
        return mf_pickle_is_dict(pickle, at);
    case 'f': /* a function that makes a tensor */
        return is_global_of(pickle, at, PICKLE_MAKES_TENSOR,
                            PICKLE_MAKES_TENSOR_3) ||
               is_global_of(pickle, at, PICKLE_MAKES_UNREAD,
                            PICKLE_MAKES_UNREAD);
    case 'h': /* backward hooks, which are not kept any more */
        return is_nothing(pickle, at);
    case 'i': /* an integer */
        return node->kind == PICKLE_INT;
    case 'l': /* a list */
        return is_sequence(pickle, at);
    case 'm': /* flags of a tensor */
        return at == PICKLE_NONE || mf_pickle_is_dict(pickle, at);
    case 'n': /* a number */
        return is_number(node);
    case 'p': /* pairs of a dict */
        return has_pairs(pickle, at);
    case 's':
        return node->kind == PICKLE_STORAGE;
    case 't':
        return node->kind == PICKLE_TEXT;
    case 'T':
        return node->kind == PICKLE_CALL &&
               mf_pickle_makes_tensor(mf_pickle_makes(pickle, at));
    case 'w': /* whole numbers */
        return has_integers(pickle, at);
    case 'y': /* bytes */
        return node->kind == PICKLE_BYTES ||
               (node->kind == PICKLE_CALL &&
                mf_pickle_makes(pickle, at) == PICKLE_MAKES_ENCODED);
    default: /* 'x': anything */
        return true;
    }
}

/* ---- calls ---- */

/* Whether the arguments are what one of the alternatives says. */
static bool match(struct pickle *pickle, uint32_t arguments, const char *takes)
{
    uint32_t first = first_item(pickle, arguments), at = first;
    bool same = true;

    if (*takes == '*')
        return true;
    for (;; takes++) {
        if (*takes == '|' || *takes == 0) {
            if (same && at == PICKLE_NIL)
                return true;
            if (*takes == 0)
                return false;
            at = first;
            same = true;
            continue;
        }
        same = same && at != PICKLE_NIL &&
               fits(pickle, pickle->item[at].node, *takes);
        if (same)
            at = pickle->item[at].next;
    }
}

/* Whether one of the arguments is unknown. */
static bool has_unknown(const struct pickle *pickle, uint32_t arguments)
{
    /* No global of the list takes more. */
    for (unsigned i = 0; i < 8; i++) {
        uint32_t item = mf_pickle_item(pickle, arguments, i);

        if (mf_pickle_makes(pickle, item) >= PICKLE_MAKES_WRAPPED)
            return true;
    }
    return false;
}

/* Lists and dicts that are a call's argument, or items of one. */
void mf_pickle_mark_used(struct pickle *pickle, uint32_t node)
{
    struct pickle_node *value = &pickle->node[node];

    value->used = true;
    if (value->deep || !is_sequence(pickle, node))
        return;
    value->deep = true;
    for (uint32_t at = first_item(pickle, node); at != PICKLE_NIL;
         at = pickle->item[at].next)
        pickle->node[pickle->item[at].node].used = true;
}

static void mark_arguments(struct pickle *pickle, uint32_t arguments)
{
    for (uint32_t at = first_item(pickle, arguments); at != PICKLE_NIL;
         at = pickle->item[at].next)
        mf_pickle_mark_used(pickle, pickle->item[at].node);
}

/* The call of a function with arguments, which _rebuild_from_type_v2 makes. */
static bool check_typed(struct pickle *pickle, uint32_t arguments)
{
    uint32_t inner = mf_pickle_item(pickle, arguments, 2);
    unsigned makes =
        mf_pickle_makes(pickle, mf_pickle_item(pickle, arguments, 0));

    mark_arguments(pickle, inner);
    return match(pickle, inner, rows[makes].takes);
}

const char *mf_pickle_check_call(struct pickle *pickle, bool is_new,
                                 uint32_t function, uint32_t arguments,
                                 bool *unknown)
{
    unsigned makes = mf_pickle_makes(pickle, function);
    const char *takes = is_new ? rows[makes].object : rows[makes].takes;

    if (pickle->node[function].kind != PICKLE_GLOBAL) {
        *unknown = makes >= PICKLE_MAKES_WRAPPED;
        return "which is not a function";
    }
    if (makes >= PICKLE_MAKES_WRAPPED)
        return NULL;
    if (!takes)
        return is_new ? "which is not a class" : "which is not a function";
    mark_arguments(pickle, arguments);
    if (match(pickle, arguments, takes) &&
        (makes != PICKLE_MAKES_TYPED || check_typed(pickle, arguments)))
        return NULL;
    *unknown = has_unknown(pickle, arguments) ||
               (makes == PICKLE_MAKES_TYPED &&
                has_unknown(pickle, mf_pickle_item(pickle, arguments, 2)));
    return "with arguments that it does not take";
}
