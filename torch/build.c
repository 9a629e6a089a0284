/* SPDX-License-Identifier: MIT
 *
 * build.c - what each opcode does: nodes, and items of them
 *
 * Each effect is what Python does short of calling anything.  Where Python, or
 * torch.load(weights_only=True), would fail for the kind of an operand, so does
 * this: a file is not understood in two ways.
 */
#include "torch/pickle.h"

/* ---- operands ---- */

/* Takes the topmost item; PICKLE_NIL for a mark, or none. */
static uint32_t pop(struct pickle *pickle)
{
    if (pickle->stack_count == 0 ||
        pickle->stack[pickle->stack_count - 1] == PICKLE_MARK)
        return PICKLE_NIL;
    return pickle->stack[--pickle->stack_count];
}

/* Whether there are so many items, none of them a mark. */
static bool has_operands(const struct pickle *pickle, uint32_t count)
{
    if (pickle->stack_count < count)
        return false;
    for (uint32_t i = 1; i <= count; i++)
        if (pickle->stack[pickle->stack_count - i] == PICKLE_MARK)
            return false;
    return true;
}

static uint32_t top(const struct pickle *pickle)
{
    if (pickle->stack_count == 0 ||
        pickle->stack[pickle->stack_count - 1] == PICKLE_MARK)
        return PICKLE_NIL;
    return pickle->stack[pickle->stack_count - 1];
}

static enum mf_status no_operand(struct pickle *pickle,
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

/* The topmost items become the node's; takes them from the stack. */
static void take_items(struct pickle *pickle, uint32_t node, uint32_t count)
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
    take_items(pickle, node, count);
    pickle->stack_count--; /* the mark */
    mf_pickle_push(pickle, node);
    return MF_OK;
}

enum mf_status mf_pickle_do_tuple(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    uint32_t count = step->opcode - (PICKLE_OP_TUPLE1 - 1u);
    uint32_t node;

    if (!has_operands(pickle, count))
        return no_operand(pickle, step);
    node = add_empty(pickle, step);
    take_items(pickle, node, count);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* Whether the opcode can add to such a node.  An unknown object may be a
 * subclass of anything. */
static bool takes(uint8_t opcode, const struct pickle_node *node)
{
    if (node->kind == PICKLE_CALL)
        return true;
    switch (opcode) {
    case PICKLE_OP_APPEND:
    case PICKLE_OP_APPENDS:
        return node->kind == PICKLE_LIST;
    case PICKLE_OP_ADDITEMS:
        return node->kind == PICKLE_SET;
    default:
        return node->kind == PICKLE_DICT;
    }
}

/* How many items the opcode takes; PICKLE_NIL: there are not so many. */
static uint32_t added_count(const struct pickle *pickle, uint8_t opcode)
{
    uint32_t wanted = opcode == PICKLE_OP_APPEND ? 1 : 2;

    if (opcode != PICKLE_OP_APPEND && opcode != PICKLE_OP_SETITEM)
        return mf_pickle_marked(pickle);
    return has_operands(pickle, wanted) ? wanted : PICKLE_NIL;
}

/* APPEND, APPENDS, SETITEM, SETITEMS and ADDITEMS. */
enum mf_status mf_pickle_do_append(struct pickle *pickle,
                                   const struct pickle_step *step)
{
    uint32_t count = added_count(pickle, step->opcode), marks, node;

    marks =
        step->opcode != PICKLE_OP_APPEND && step->opcode != PICKLE_OP_SETITEM;
    if (count == PICKLE_NIL || pickle->stack_count < count + marks + 1)
        return no_operand(pickle, step);
    node = pickle->stack[pickle->stack_count - count - marks - 1];
    if (!takes(step->opcode, &pickle->node[node]))
        return mf_pickle_bad_stack(pickle, step,
                                   "adds to a value of another kind");
    if ((step->opcode == PICKLE_OP_SETITEMS ||
         step->opcode == PICKLE_OP_SETITEM) &&
        count % 2 != 0)
        return odd_pairs(pickle, step);
    take_items(pickle, node, count);
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
    pickle->result = pop(pickle);
    if (pickle->result == PICKLE_NIL)
        return no_operand(pickle, step);
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
        return no_operand(pickle, step);
    pickle->stack_count -= count + (step->opcode == PICKLE_OP_POP_MARK);
    return MF_OK;
}

enum mf_status mf_pickle_do_duplicate(struct pickle *pickle,
                                      const struct pickle_step *step)
{
    uint32_t node = top(pickle);

    if (node == PICKLE_NIL)
        return no_operand(pickle, step);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

enum mf_status mf_pickle_do_put(struct pickle *pickle,
                                const struct pickle_step *step)
{
    uint64_t number = mf_pickle_memo_number(step, pickle->puts++);
    uint32_t node = top(pickle);

    if (node == PICKLE_NIL)
        return no_operand(pickle, step);
    if (number >= pickle->memo_room)
        return mf_fail(pickle->env, MF_ERR_IO, step->at,
                       "the pickle has changed while it was read");
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

/* ---- globals and calls ---- */

enum mf_status mf_pickle_do_global(struct pickle *pickle,
                                   const struct pickle_step *step)
{
    mf_pickle_push(pickle, mf_pickle_add_named(pickle, step));
    return MF_OK;
}

/* A global whose names are values, which can be anything: those that are not
 * kept texts are of an unknown global. */
enum mf_status mf_pickle_do_stack_global(struct pickle *pickle,
                                         const struct pickle_step *step)
{
    uint32_t name = pop(pickle), module = pop(pickle);

    if (name == PICKLE_NIL || module == PICKLE_NIL)
        return no_operand(pickle, step);
    mf_pickle_push(pickle, mf_pickle_add_global(pickle, step, module, name));
    return MF_OK;
}

/* The global that a function is; rows end with the one for unknown ones. */
static uint16_t global_of(const struct pickle *pickle, uint32_t function)
{
    static const struct mf_str unknown = { NULL, 0 };
    const struct pickle_node *node = &pickle->node[function];

    return node->kind == PICKLE_GLOBAL ? node->global
                                       : mf_pickle_global(unknown, unknown);
}

/* What comes of a call that needs no node of its own kind; PICKLE_NIL: it is a
 * call like any other. */
static uint32_t plain_result(struct pickle *pickle,
                             const struct pickle_step *step, uint16_t global,
                             uint32_t arguments)
{
    uint32_t first = mf_pickle_item(pickle, arguments, 0);

    switch (mf_pickle_globals[global].makes) {
    case PICKLE_MAKES_DICT:
        return first == PICKLE_NIL ? mf_pickle_add(pickle, step, PICKLE_DICT)
                                   : PICKLE_NIL;
    case PICKLE_MAKES_LIST:
        return first == PICKLE_NIL ? mf_pickle_add(pickle, step, PICKLE_SET)
                                   : first;
    case PICKLE_MAKES_FIRST:
        return first;
    default:
        return PICKLE_NIL;
    }
}

static uint32_t add_call(struct pickle *pickle, const struct pickle_step *step,
                         uint16_t global)
{
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_CALL);

    pickle->node[node].global = global;
    return node;
}

/* REDUCE, NEWOBJ and NEWOBJ_EX: a function or a class, and its arguments. */
enum mf_status mf_pickle_do_call(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    uint32_t count = step->opcode == PICKLE_OP_NEWOBJ_EX ? 3 : 2;
    uint32_t node, *operand;
    uint16_t global;

    if (!has_operands(pickle, count))
        return no_operand(pickle, step);
    operand = &pickle->stack[pickle->stack_count - count];
    if (pickle->node[operand[1]].kind != PICKLE_TUPLE)
        return mf_pickle_bad_stack(pickle, step,
                                   "has arguments that are not a tuple");
    global = global_of(pickle, operand[0]);
    node = plain_result(pickle, step, global, operand[1]);
    if (node == PICKLE_NIL) {
        node = add_call(pickle, step, global);
        take_items(pickle, node, count);
    } else {
        pickle->stack_count -= count;
    }
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* INST, which names its class, and OBJ, which has it first above the mark. */
enum mf_status mf_pickle_do_instance(struct pickle *pickle,
                                     const struct pickle_step *step)
{
    uint32_t count = mf_pickle_marked(pickle), function, node;

    if (count == PICKLE_NIL || (step->opcode == PICKLE_OP_OBJ && count == 0))
        return no_operand(pickle, step);
    if (step->opcode == PICKLE_OP_OBJ)
        function = pickle->stack[pickle->stack_count - count];
    else
        function = mf_pickle_add_named(pickle, step);
    node = add_call(pickle, step, global_of(pickle, function));
    if (step->opcode == PICKLE_OP_INST)
        mf_pickle_append(pickle, node, function);
    take_items(pickle, node, count);
    pickle->stack_count--;
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* Attributes of a dict (of a module's state, its versions) are not its items.
 */
static void add_state(struct pickle *pickle, uint32_t object, uint32_t state)
{
    uint16_t global = pickle->node[object].global;

    if (mf_pickle_globals[global].makes != PICKLE_MAKES_DICT)
        mf_pickle_append(pickle, object, state);
}

/* The state of an object. */
enum mf_status mf_pickle_do_state(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    uint32_t state = pop(pickle), object = top(pickle);

    if (state == PICKLE_NIL || object == PICKLE_NIL)
        return no_operand(pickle, step);
    if (pickle->node[object].kind == PICKLE_CALL)
        add_state(pickle, object, state);
    else if (pickle->node[object].kind != PICKLE_DICT)
        return mf_pickle_bad_stack(pickle, step,
                                   "gives a state to a plain value");
    return MF_OK;
}

enum mf_status mf_pickle_do_storage(struct pickle *pickle,
                                    const struct pickle_step *step)
{
    uint32_t id = pop(pickle), node;

    if (id == PICKLE_NIL)
        return no_operand(pickle, step);
    node = mf_pickle_add(pickle, step, PICKLE_STORAGE);
    mf_pickle_append(pickle, node, id);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* Something that the file does not have: an extension's global, a buffer. */
enum mf_status mf_pickle_do_unknown(struct pickle *pickle,
                                    const struct pickle_step *step)
{
    static const struct mf_str unknown = { NULL, 0 };

    mf_pickle_push(pickle,
                   add_call(pickle, step, mf_pickle_global(unknown, unknown)));
    return MF_OK;
}

enum mf_status mf_pickle_do_read_only(struct pickle *pickle,
                                      const struct pickle_step *step)
{
    return top(pickle) == PICKLE_NIL ? no_operand(pickle, step) : MF_OK;
}
