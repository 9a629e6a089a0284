/* SPDX-License-Identifier: MIT
 *
 * build.c - what opcodes do that call nothing: nodes, and items of them
 *
 * Each effect is what Python does short of calling anything.  Where Python, or
 * torch.load(weights_only=True), would fail for the kind of an operand, so does
 * this: a file is not understood in two ways.
 */
#include "torch/pickle.h"

/* ---- operands ---- */

uint32_t mf_pickle_pop(struct pickle *pickle)
{
    uint32_t node = mf_pickle_top(pickle);

    pickle->stack_count -= node != PICKLE_NIL;
    return node;
}

bool mf_pickle_has_operands(const struct pickle *pickle, uint32_t count)
{
    if (pickle->stack_count < count)
        return false;
    for (uint32_t i = 1; i <= count; i++)
        if (pickle->stack[pickle->stack_count - i] == PICKLE_MARK)
            return false;
    return true;
}

uint32_t mf_pickle_top(const struct pickle *pickle)
{
    if (pickle->stack_count == 0 ||
        pickle->stack[pickle->stack_count - 1] == PICKLE_MARK)
        return PICKLE_NIL;
    return pickle->stack[pickle->stack_count - 1];
}

enum mf_status mf_pickle_no_operand(struct pickle *pickle,
                                    const struct pickle_step *step)
{
    return mf_pickle_bad_stack(pickle, step,
                               "needs more operands than there are");
}

/* ---- collections ---- */

static uint32_t add_empty(struct pickle *pickle, const struct pickle_step *step)
{
    switch (step->opcode) {
    case PICKLE_OP_EMPTY_LIST:
    case PICKLE_OP_LIST:
        return mf_pickle_add(pickle, step, PICKLE_LIST);
    case PICKLE_OP_EMPTY_DICT:
    case PICKLE_OP_DICT:
        return mf_pickle_add(pickle, step, PICKLE_DICT);
    case PICKLE_OP_EMPTY_SET:
    case PICKLE_OP_FROZENSET:
        return mf_pickle_add(pickle, step, PICKLE_SET);
    default:
        return mf_pickle_add(pickle, step, PICKLE_TUPLE);
    }
}

enum mf_status mf_pickle_do_empty(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    mf_pickle_push(pickle, add_empty(pickle, step));
    return MF_OK;
}

void mf_pickle_take_items(struct pickle *pickle, uint32_t node, uint32_t count)
{
    uint32_t first = pickle->stack_count - count;

    for (uint32_t i = 0; i < count; i++)
        mf_pickle_append(pickle, node, pickle->stack[first + i]);
    pickle->stack_count = first;
}

static enum mf_status odd_pairs(struct pickle *pickle,
                                const struct pickle_step *step)
{
    return mf_pickle_bad_stack(pickle, step, "has a key without a value");
}

/* TUPLE, LIST, DICT and FROZENSET: all above the mark. */
enum mf_status mf_pickle_do_collect(struct pickle *pickle,
                                    const struct pickle_step *step)
{
    uint32_t count = mf_pickle_marked(pickle), node;

    if (count == PICKLE_NIL)
        return mf_pickle_bad_stack(pickle, step, "without a mark");
    if (step->opcode == PICKLE_OP_DICT && count % 2 != 0)
        return odd_pairs(pickle, step);
    node = add_empty(pickle, step);
    mf_pickle_take_items(pickle, node, count);
    pickle->stack_count--; /* the mark */
    mf_pickle_push(pickle, node);
    return MF_OK;
}

enum mf_status mf_pickle_do_tuple(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    uint32_t count = step->opcode - (PICKLE_OP_TUPLE1 - 1u);
    uint32_t node;

    if (!mf_pickle_has_operands(pickle, count))
        return mf_pickle_no_operand(pickle, step);
    node = add_empty(pickle, step);
    mf_pickle_take_items(pickle, node, count);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

static bool is_dict_opcode(uint8_t opcode)
{
    return opcode == PICKLE_OP_SETITEM || opcode == PICKLE_OP_SETITEMS;
}

/* Whether the opcode can add to such a node.  An object of an unknown class may
 * be a list or a dict of its own kind. */
static bool takes(const struct pickle *pickle, uint8_t opcode, uint32_t node)
{
    switch ((enum pickle_kind)pickle->node[node].kind) {
    case PICKLE_LIST:
        return opcode == PICKLE_OP_APPEND || opcode == PICKLE_OP_APPENDS;
    case PICKLE_SET:
        return opcode == PICKLE_OP_ADDITEMS;
    case PICKLE_DICT:
        return is_dict_opcode(opcode);
    case PICKLE_CALL:
        return mf_pickle_makes(pickle, node) >= PICKLE_MAKES_WRAPPED ||
               (is_dict_opcode(opcode) && mf_pickle_is_dict(pickle, node));
    default:
        return false;
    }
}

/* What was called with the node has had it as it was before. */
static void note_late(struct pickle *pickle, const struct pickle_step *step)
{
    mf_index_note(pickle->index, pickle->shard, MF_ERROR, MF_RULE_PICKLE_CALL,
                  step->at, "%s changes a value that a call has used",
                  step->row->name);
}

/* How many items the opcode takes; PICKLE_NIL: there are not so many. */
static uint32_t added_count(const struct pickle *pickle, uint8_t opcode)
{
    uint32_t wanted = opcode == PICKLE_OP_APPEND ? 1 : 2;

    if (opcode != PICKLE_OP_APPEND && opcode != PICKLE_OP_SETITEM)
        return mf_pickle_marked(pickle);
    return mf_pickle_has_operands(pickle, wanted) ? wanted : PICKLE_NIL;
}

/* APPEND, APPENDS, SETITEM, SETITEMS and ADDITEMS. */
enum mf_status mf_pickle_do_append(struct pickle *pickle,
                                   const struct pickle_step *step)
{
    uint32_t count = added_count(pickle, step->opcode), marks, node;

    marks =
        step->opcode != PICKLE_OP_APPEND && step->opcode != PICKLE_OP_SETITEM;
    if (count == PICKLE_NIL || pickle->stack_count < count + marks + 1)
        return mf_pickle_no_operand(pickle, step);
    node = pickle->stack[pickle->stack_count - count - marks - 1];
    if (!takes(pickle, step->opcode, node))
        return mf_pickle_bad_stack(pickle, step,
                                   "adds to a value of another kind");
    if (is_dict_opcode(step->opcode) && count % 2 != 0)
        return odd_pairs(pickle, step);
    if (pickle->node[node].used && count > 0)
        note_late(pickle, step);
    if (pickle->node[node].kind == PICKLE_CALL)
        mf_pickle_begin_added(pickle, node,
                              is_dict_opcode(step->opcode)
                                  ? PICKLE_ADDED_PAIRS
                                  : PICKLE_ADDED_ITEMS);
    mf_pickle_take_items(pickle, node, count);
    pickle->stack_count -= marks;
    return MF_OK;
}

/* ---- the stack and the memo ---- */

enum mf_status mf_pickle_do_proto(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    if (step->number > 5)
        return mf_refuse(pickle->env, MF_RULE_PICKLE_OPCODE, step->at,
                         "protocol %" PRIu64 ", the last one is 5",
                         step->number);
    return MF_OK;
}

enum mf_status mf_pickle_do_frame(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    uint64_t at = mf_reader_offset(pickle->reader);
    uint64_t left = pickle->span.offset + pickle->span.size - at;

    if (step->at < pickle->frame_end || step->number > left)
        mf_index_note(pickle->index, pickle->shard, MF_ERROR,
                      MF_RULE_PICKLE_FRAME, step->at,
                      "a frame of %" PRIu64 " bytes, %s", step->number,
                      step->number > left ? "but the pickle ends before"
                                          : "within another one");
    pickle->frame_end = step->number > left ? 0 : at + step->number;
    return MF_OK;
}

enum mf_status mf_pickle_do_stop(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    pickle->result = mf_pickle_pop(pickle);
    if (pickle->result == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    if (pickle->stack_count > 0)
        mf_index_note(pickle->index, pickle->shard, MF_WARNING,
                      MF_RULE_PICKLE_STACK, step->at,
                      "%" PRIu32 " values are left on the stack at the end",
                      pickle->stack_count);
    pickle->stopped = true;
    return MF_OK;
}

enum mf_status mf_pickle_do_pop(struct pickle *pickle,
                                const struct pickle_step *step)
{
    uint32_t count = 1;

    if (step->opcode == PICKLE_OP_POP_MARK)
        count = mf_pickle_marked(pickle);
    if (count == PICKLE_NIL || count > pickle->stack_count)
        return mf_pickle_no_operand(pickle, step);
    pickle->stack_count -= count + (step->opcode == PICKLE_OP_POP_MARK);
    return MF_OK;
}

enum mf_status mf_pickle_do_duplicate(struct pickle *pickle,
                                      const struct pickle_step *step)
{
    uint32_t node = mf_pickle_top(pickle);

    if (node == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

enum mf_status mf_pickle_do_put(struct pickle *pickle,
                                const struct pickle_step *step)
{
    uint64_t number = mf_pickle_memo_number(step, pickle->puts);
    uint32_t node = mf_pickle_top(pickle);

    if (node == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    if (number >= pickle->memo_room)
        return mf_fail(pickle->env, MF_ERR_IO, step->at,
                       "the pickle has changed while it was read");
    pickle->puts += pickle->memo[number] == PICKLE_NIL;
    pickle->memo[number] = node;
    return MF_OK;
}

enum mf_status mf_pickle_do_get(struct pickle *pickle,
                                const struct pickle_step *step)
{
    uint64_t number = mf_pickle_memo_number(step, 0);

    if (number >= pickle->memo_room || pickle->memo[number] == PICKLE_NIL)
        return mf_refuse(pickle->env, MF_RULE_PICKLE_MEMO, step->at,
                         "%s of number %" PRIu64
                         " of the memo, where nothing was put",
                         step->row->name, number);
    mf_pickle_push(pickle, pickle->memo[number]);
    return MF_OK;
}
