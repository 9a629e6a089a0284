/* SPDX-License-Identifier: MIT
 *
 * arguments.c - what the calls say that make a tensor
 *
 *     torch._utils._rebuild_tensor_v2(storage, offset, shape, strides,
 *                                     requires_grad, hooks, flags)
 *
 * Offset and strides count elements.  _rebuild_tensor has only the first four
 * arguments, _rebuild_tensor_v3 a dtype before the flags.  A parameter is a
 * tensor in another call.
 *
 * Whatever else PyTorch makes of a tensor is not done here: a view that is
 * negated, an attribute such as `data`, a state.  Where one is there, the
 * tensor is not read.
 */
#include "torch/torch.h"

/* Calls within each other that make one tensor: a parameter of a class of its
 * own is two. */
#define CALLS_MAX 8

enum argument {
    STORAGE,
    OFFSET,
    SHAPE,
    STRIDES,
    GRADIENT,
    FLAGS_2 = 6, /* of _rebuild_tensor_v2 */
    DTYPE_3 = 6,
    FLAGS_3
};

/* The arguments of the call that makes the elements. */
struct made {
    uint32_t arguments;
    unsigned makes;
    uint8_t dtype; /* that a tensor class wants; DTYPES: any */
    bool gradient; /* it is to have one, as floats can */
};

#define DTYPES PICKLE_DTYPE_COUNT

static bool is_floating(uint8_t dtype)
{
    switch (mf_pickle_dtypes[dtype].type) {
    case MF_TYPE_F32:
    case MF_TYPE_F64:
    case MF_TYPE_F16:
    case MF_TYPE_BF16:
    case MF_TYPE_C64:
    case MF_TYPE_F8_E4M3:
    case MF_TYPE_F8_E5M2:
    case MF_TYPE_F8_E4M3FNUZ:
    case MF_TYPE_F8_E5M2FNUZ:
    case MF_TYPE_F8_E8M0:
        return true;
    default:
        return dtype == PICKLE_DTYPE_complex128 ||
               dtype == PICKLE_DTYPE_complex32;
    }
}

/* ---- arguments other than elements ---- */

static bool is_empty(const struct pickle *pickle, uint32_t node)
{
    return node == PICKLE_NIL || node == PICKLE_NONE ||
           (pickle->node[node].kind == PICKLE_DICT &&
            mf_pickle_has_count(pickle, node, 0));
}

/* Attributes of a tensor: a dict, or a pair of dicts. */
static bool has_attributes(const struct pickle *pickle, uint32_t state)
{
    if (is_empty(pickle, state))
        return false;
    return pickle->node[state].kind != PICKLE_TUPLE ||
           !mf_pickle_has_count(pickle, state, 2) ||
           !is_empty(pickle, mf_pickle_item(pickle, state, 0)) ||
           !is_empty(pickle, mf_pickle_item(pickle, state, 1));
}

/* The state that a call was given; PICKLE_NIL: none.  *one: no other one. */
static uint32_t state_of(const struct pickle *pickle, uint32_t call, bool *one)
{
    *one = mf_pickle_has_count(pickle, call, 5);
    return mf_pickle_item(pickle, call, 4);
}

/* Parameters of before PyTorch 0.4 were given (requires_grad, volatile, hooks),
 * which says nothing about their elements. */
static bool is_old_state(const struct pickle *pickle, uint32_t state)
{
    uint32_t first = mf_pickle_item(pickle, state, 0);

    return pickle->node[state].kind == PICKLE_TUPLE &&
           mf_pickle_has_count(pickle, state, 3) &&
           (first == PICKLE_TRUE || first == PICKLE_FALSE) &&
           is_empty(pickle, mf_pickle_item(pickle, state, 2));
}

/* ---- the call ---- */

/* The call of a tensor class, such as torch.FloatTensor, which its state makes
 * a tensor. */
static const char *take_class(const struct pickle *pickle, uint32_t call,
                              struct made *out)
{
    bool one;
    uint32_t state = state_of(pickle, call, &one);

    if (state == PICKLE_NIL ||
        !mf_pickle_has_count(pickle, mf_pickle_item(pickle, call, 1), 0))
        return "a tensor of values in the pickle, or of no values";
    if (!one)
        return "a tensor that is given a second state";
    if ((pickle->node[state].kind != PICKLE_TUPLE &&
         pickle->node[state].kind != PICKLE_LIST) ||
        !mf_pickle_has_count(pickle, state, 4))
        return "a tensor whose state is not four values";
    out->arguments = state;
    out->dtype = mf_pickle_globals[pickle->node[call].global].dtype;
    return NULL;
}

/* A parameter: *next is its tensor. */
static const char *take_parameter(const struct pickle *pickle, uint32_t call,
                                  uint32_t *next, struct made *out)
{
    uint32_t arguments = mf_pickle_item(pickle, call, 1);
    bool one, has_state =
                  mf_pickle_makes(pickle, call) == PICKLE_MAKES_PARAMETER_STATE;
    uint32_t state = state_of(pickle, call, &one);

    if (state != PICKLE_NIL && (!one || !is_old_state(pickle, state)))
        return "a parameter that is given a state";
    if (has_state &&
        has_attributes(pickle, mf_pickle_item(pickle, arguments, 3)))
        return "a parameter that is given attributes";
    out->gradient |= mf_pickle_item(pickle, arguments, 1) != PICKLE_FALSE ||
                     (state != PICKLE_NIL &&
                      mf_pickle_item(pickle, state, 0) == PICKLE_TRUE);
    *next = mf_pickle_item(pickle, arguments, 0);
    return NULL;
}

/* One of the rebuilding functions, perhaps in _rebuild_from_type_v2. */
static const char *take_function(const struct pickle *pickle, uint32_t call,
                                 struct made *out)
{
    uint32_t arguments = mf_pickle_item(pickle, call, 1);
    bool one;

    if (state_of(pickle, call, &one) != PICKLE_NIL)
        return "a tensor that is given a state";
    if (out->makes == PICKLE_MAKES_TYPED) {
        if (has_attributes(pickle, mf_pickle_item(pickle, arguments, 3)))
            return "a tensor that is given attributes";
        out->makes =
            mf_pickle_makes(pickle, mf_pickle_item(pickle, arguments, 0));
        arguments = mf_pickle_item(pickle, arguments, 2);
    }
    out->arguments = arguments;
    return NULL;
}

/* Goes from call to call, down to the one that makes the elements.  *call: the
 * last one. */
static enum torch_fault find_made(struct pickle *pickle, uint32_t *call,
                                  struct made *out, const char **what)
{
    uint32_t next = *call;

    *out = (struct made){ .arguments = PICKLE_NIL, .dtype = DTYPES };
    for (unsigned i = 0; i < CALLS_MAX && next != PICKLE_NIL; i++) {
        *call = next;
        next = PICKLE_NIL;
        if (pickle->node[*call].kind != PICKLE_CALL)
            break;
        pickle->node[*call].seen = true;
        out->makes = mf_pickle_makes(pickle, *call);
        if (pickle->node[*call].bad) {
            *what = "an unknown tensor";
            return TORCH_UNREAD; /* the call is a finding, or its global */
        }
        if (out->makes == PICKLE_MAKES_TENSOR_CLASS)
            *what = take_class(pickle, *call, out);
        else if (out->makes >= PICKLE_MAKES_PARAMETER_CLASS &&
                 out->makes <= PICKLE_MAKES_PARAMETER_STATE)
            *what = take_parameter(pickle, *call, &next, out);
        else if (out->makes >= PICKLE_MAKES_TENSOR &&
                 out->makes <= PICKLE_MAKES_TYPED)
            *what = take_function(pickle, *call, out);
        if (*what)
            return TORCH_UNREAD;
    }
    return out->arguments == PICKLE_NIL || out->makes == PICKLE_MAKES_UNREAD
               ? TORCH_UNREAD
               : TORCH_NO_FAULT;
}

/* ---- its arguments ---- */

/* Whether it is a tuple or list of numbers that are not negative; *count: how
 * many. */
static bool count_numbers(const struct pickle *pickle, uint32_t node,
                          uint32_t *count)
{
    uint64_t number;
    uint32_t at;

    *count = 0;
    if (node == PICKLE_NIL || (pickle->node[node].kind != PICKLE_TUPLE &&
                               pickle->node[node].kind != PICKLE_LIST))
        return false;
    at = pickle->node[node].is.items.first;
    for (; at != PICKLE_NIL; at = pickle->item[at].next)
        if ((*count)++ == MF_RANK_MAX ||
            !mf_pickle_unsigned(pickle, pickle->item[at].node, &number))
            return false;
    return true;
}

void mf_torch_numbers(const struct pickle *pickle, uint32_t node, uint64_t *out)
{
    uint32_t at = pickle->node[node].is.items.first;

    for (; at != PICKLE_NIL; at = pickle->item[at].next)
        mf_pickle_unsigned(pickle, pickle->item[at].node, out++);
}

static const char *take_place(const struct pickle *pickle, uint32_t arguments,
                              struct torch_tensor *out)
{
    uint32_t storage = mf_pickle_item(pickle, arguments, STORAGE);
    uint32_t strides;
    const char *fault;

    if (storage == PICKLE_NIL || pickle->node[storage].kind != PICKLE_STORAGE)
        return "a tensor without a storage";
    fault = mf_torch_storage(pickle, storage, &out->storage, &out->key);
    if (fault)
        return fault;
    if (!mf_pickle_unsigned(pickle, mf_pickle_item(pickle, arguments, OFFSET),
                            &out->offset))
        return "an offset that is not a whole number";
    out->shape = mf_pickle_item(pickle, arguments, SHAPE);
    out->strides = mf_pickle_item(pickle, arguments, STRIDES);
    if (!count_numbers(pickle, out->shape, &out->rank))
        return "a shape that is not a tuple of at most 64 whole numbers";
    if (!count_numbers(pickle, out->strides, &strides) || strides != out->rank)
        return "strides that are not a whole number for each dimension";
    out->dtype = out->storage.dtype;
    return NULL;
}

static enum torch_fault take_arguments(const struct pickle *pickle,
                                       const struct made *made,
                                       struct torch_tensor *out,
                                       const char **what)
{
    uint32_t arguments = made->arguments, flags = PICKLE_NIL;
    bool gradient = made->gradient;

    *what = take_place(pickle, arguments, out);
    if (*what)
        return TORCH_REFUSED;
    if (made->makes == PICKLE_MAKES_TENSOR_3) {
        uint32_t dtype = mf_pickle_item(pickle, arguments, DTYPE_3);

        out->dtype = mf_pickle_globals[pickle->node[dtype].global].dtype;
        flags = mf_pickle_item(pickle, arguments, FLAGS_3);
    } else if (made->makes == PICKLE_MAKES_TENSOR_2) {
        flags = mf_pickle_item(pickle, arguments, FLAGS_2);
    }
    if (made->makes != PICKLE_MAKES_TENSOR &&
        made->makes != PICKLE_MAKES_TENSOR_CLASS)
        gradient |= mf_pickle_item(pickle, arguments, GRADIENT) == PICKLE_TRUE;
    if (made->dtype != DTYPES && made->dtype != out->dtype)
        *what = "a tensor of another type than its storage";
    else if (gradient && !is_floating(out->dtype))
        *what = "a tensor of integers that is to have a gradient";
    if (*what)
        return TORCH_REFUSED;
    if (is_empty(pickle, flags))
        return TORCH_NO_FAULT;
    /* {"neg": False}, too: PyTorch only looks whether it is there. */
    *what = "a view of negated or conjugated values";
    return TORCH_UNREAD;
}

/* A storage that is a value by itself: all of its elements. */
static const char *take_storage(const struct pickle *pickle, uint32_t node,
                                struct torch_tensor *out)
{
    const char *fault =
        mf_torch_storage(pickle, node, &out->storage, &out->key);

    out->shape = out->strides = PICKLE_NIL;
    out->rank = 1;
    out->dtype = out->storage.dtype;
    return fault;
}

enum torch_fault mf_torch_describe(struct pickle *pickle, uint32_t node,
                                   struct torch_tensor *out, const char **what)
{
    struct made made;
    enum torch_fault fault;

    *out = (struct torch_tensor){ .node = node };
    *what = NULL;
    if (pickle->node[node].kind == PICKLE_STORAGE) {
        pickle->node[node].seen = true;
        *what = take_storage(pickle, node, out);
        return *what ? TORCH_REFUSED : TORCH_NO_FAULT;
    }
    fault = find_made(pickle, &node, &made, what);
    if (fault == TORCH_NO_FAULT) {
        uint32_t storage = mf_pickle_item(pickle, made.arguments, STORAGE);

        if (storage != PICKLE_NIL)
            pickle->node[storage].seen = true;
        fault = take_arguments(pickle, &made, out, what);
    }
    if (fault != TORCH_NO_FAULT)
        out->node = node;
    return fault;
}
