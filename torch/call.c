/* SPDX-License-Identifier: MIT
 *
 * call.c - what opcodes do that name globals, call them, or give an object its
 * state: nodes that say so
 */
#include "torch/pickle.h"

unsigned mf_pickle_makes(const struct pickle *pickle, uint32_t node)
{
    const struct pickle_node *value = &pickle->node[node];

    if (node == PICKLE_NIL ||
        (value->kind != PICKLE_CALL && value->kind != PICKLE_GLOBAL))
        return PICKLE_MAKES_VALUE;
    return mf_pickle_globals[value->global].makes;
}

bool mf_pickle_is_dict(const struct pickle *pickle, uint32_t node)
{
    unsigned makes = mf_pickle_makes(pickle, node);

    return pickle->node[node].kind == PICKLE_DICT ||
           (pickle->node[node].kind == PICKLE_CALL &&
            (makes == PICKLE_MAKES_DICT || makes == PICKLE_MAKES_COUNTER));
}

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
    uint32_t name = mf_pickle_pop(pickle), module = mf_pickle_pop(pickle);

    if (name == PICKLE_NIL || module == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    mf_pickle_push(pickle, mf_pickle_add_global(pickle, step, module, name));
    return MF_OK;
}

/* ---- calls ---- */

/* The global that a function is; rows end with the one for unknown ones. */
static uint16_t global_of(const struct pickle *pickle, uint32_t function)
{
    static const struct mf_str unknown = { NULL, 0 };
    const struct pickle_node *node = &pickle->node[function];

    return node->kind == PICKLE_GLOBAL ? node->global
                                       : mf_pickle_global(unknown, unknown);
}

static uint32_t add_dict(struct pickle *pickle, const struct pickle_step *step)
{
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_DICT);

    pickle->node[node].made = true;
    return node;
}

/* The result of a call that needs no node of its own kind; PICKLE_NIL: it is a
 * call like any other. */
static uint32_t plain_result(struct pickle *pickle,
                             const struct pickle_step *step, uint16_t global,
                             uint32_t arguments)
{
    uint32_t first = mf_pickle_item(pickle, arguments, 0);

    switch (mf_pickle_globals[global].makes) {
    case PICKLE_MAKES_DICT:
    case PICKLE_MAKES_COUNTER:
        return first == PICKLE_NIL ? add_dict(pickle, step) : PICKLE_NIL;
    case PICKLE_MAKES_SET:
        return first == PICKLE_NIL ? mf_pickle_add(pickle, step, PICKLE_SET)
                                   : PICKLE_NIL;
    case PICKLE_MAKES_SIZE:
        return first != PICKLE_NIL && pickle->node[first].kind == PICKLE_TUPLE
                   ? first
                   : PICKLE_NIL;
    case PICKLE_MAKES_DEVICE:
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

static void note_call(struct pickle *pickle, const struct pickle_step *step,
                      uint32_t function, const char *fault)
{
    const struct pickle_node *node = &pickle->node[function];
    bool named = node->kind == PICKLE_GLOBAL;

    mf_index_note(pickle->index, pickle->shard, MF_ERROR, MF_RULE_PICKLE_CALL,
                  step->at, "%s of %s %s", step->row->name,
                  named ? mf_pickle_global_name(pickle, node).text : "a value",
                  fault);
}

/* What every reader has to do alike is checked here, when Python would call the
 * function: later on its arguments may have changed. */
static enum mf_status add_result(struct pickle *pickle,
                                 const struct pickle_step *step,
                                 const uint32_t *operand, uint32_t count)
{
    uint16_t global = global_of(pickle, operand[0]);
    bool unknown = false;
    const char *fault =
        mf_pickle_check_call(pickle, step->opcode != PICKLE_OP_REDUCE,
                             operand[0], operand[1], &unknown);
    uint32_t node = PICKLE_NIL;

    if (pickle->env->error.status != MF_OK)
        return pickle->env->error.status;
    if (fault && !unknown)
        note_call(pickle, step, operand[0], fault);
    if (!fault)
        node = plain_result(pickle, step, global, operand[1]);
    if (node == PICKLE_NIL) {
        node = add_call(pickle, step, global);
        pickle->node[node].bad = fault != NULL;
        mf_pickle_take_items(pickle, node, count);
    } else {
        pickle->stack_count -= count;
    }
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* REDUCE, NEWOBJ and NEWOBJ_EX: a function or a class, and its arguments. */
enum mf_status mf_pickle_do_call(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    uint32_t count = step->opcode == PICKLE_OP_NEWOBJ_EX ? 3 : 2, *operand;

    if (!mf_pickle_has_operands(pickle, count))
        return mf_pickle_no_operand(pickle, step);
    operand = &pickle->stack[pickle->stack_count - count];
    if (pickle->node[operand[1]].kind != PICKLE_TUPLE)
        return mf_pickle_bad_stack(pickle, step,
                                   "has arguments that are not a tuple");
    if (count == 3 &&
        mf_pickle_makes(pickle, operand[0]) < PICKLE_MAKES_WRAPPED) {
        if (!mf_pickle_has_count(pickle, operand[2], 0))
            return mf_pickle_bad_stack(pickle, step,
                                       "has arguments that have names");
        pickle->stack_count--;
        count--;
    }
    return add_result(pickle, step, operand, count);
}

/* INST, which names its class, and OBJ, which has it first above the mark. */
enum mf_status mf_pickle_do_instance(struct pickle *pickle,
                                     const struct pickle_step *step)
{
    uint32_t count = mf_pickle_marked(pickle), function, node;

    if (count == PICKLE_NIL || (step->opcode == PICKLE_OP_OBJ && count == 0))
        return mf_pickle_no_operand(pickle, step);
    if (step->opcode == PICKLE_OP_OBJ)
        function = pickle->stack[pickle->stack_count - count];
    else
        function = mf_pickle_add_named(pickle, step);
    node = add_call(pickle, step, global_of(pickle, function));
    pickle->node[node].bad = true;
    if (step->opcode == PICKLE_OP_INST)
        mf_pickle_append(pickle, node, function);
    mf_pickle_take_items(pickle, node, count);
    pickle->stack_count--;
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* ---- states ---- */

/* Whether what PyTorch does with a state has to be known later on: for a tensor
 * or an object of an unknown class.  A dict's attributes (of a module's state,
 * its versions) are not its items. */
static bool keeps_state(unsigned makes)
{
    return mf_pickle_makes_tensor(makes) || makes >= PICKLE_MAKES_WRAPPED;
}

/* The state of an object. */
enum mf_status mf_pickle_do_state(struct pickle *pickle,
                                  const struct pickle_step *step)
{
    uint32_t state = mf_pickle_pop(pickle), object = mf_pickle_top(pickle);
    const struct pickle_node *node = &pickle->node[object];

    if (state == PICKLE_NIL || object == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    if (node->kind == PICKLE_CALL &&
        keeps_state(mf_pickle_makes(pickle, object))) {
        mf_pickle_begin_added(pickle, object, PICKLE_ADDED_STATE);
        mf_pickle_append(pickle, object, state);
        pickle->node[state].used = true;
        if (mf_pickle_makes_tensor(mf_pickle_makes(pickle, object)))
            mf_pickle_mark_used(pickle, state);
        return MF_OK;
    }
    if (!mf_pickle_is_dict(pickle, object) ||
        (node->kind == PICKLE_DICT && !node->made))
        return mf_pickle_bad_stack(pickle, step,
                                   "gives a state to a plain value");
    if (!mf_pickle_is_dict(pickle, state))
        return mf_pickle_bad_stack(pickle, step,
                                   "has a state that is not a dict");
    return MF_OK;
}

/* ---- what is not in the pickle ---- */

/* Before PyTorch 1.6 the class of a module was saved as ('module', class, file
 * and text of its source).  PICKLE_NIL: the id is not one of an unknown class.
 */
static uint32_t class_of(const struct pickle *pickle, uint32_t id)
{
    uint32_t kind = mf_pickle_item(pickle, id, 0);
    uint32_t class = mf_pickle_item(pickle, id, 1);

    return pickle->node[id].kind == PICKLE_TUPLE && class != PICKLE_NIL &&
                   pickle->node[kind].kind == PICKLE_TEXT &&
                   mf_str_is(mf_pickle_text(pickle, &pickle->node[kind]),
                             "module") &&
                   pickle->node[class].kind == PICKLE_GLOBAL &&
                   mf_pickle_makes(pickle, class) == PICKLE_MAKES_UNKNOWN
               ? class
               : PICKLE_NIL;
}

enum mf_status mf_pickle_do_storage(struct pickle *pickle,
                                    const struct pickle_step *step)
{
    uint32_t id = mf_pickle_pop(pickle), node;

    if (id == PICKLE_NIL)
        return mf_pickle_no_operand(pickle, step);
    node = class_of(pickle, id);
    if (node != PICKLE_NIL) {
        mf_pickle_push(pickle, node);
        return MF_OK;
    }
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
    return mf_pickle_top(pickle) == PICKLE_NIL
               ? mf_pickle_no_operand(pickle, step)
               : MF_OK;
}
