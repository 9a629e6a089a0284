/* SPDX-License-Identifier: MIT
 *
 * walk.c - the values of a pickle, one after the other, with their names
 *
 * Twice: first to count tensors, so that their tables are allocated once, then
 * to fill them in.  Findings are made the second time.
 */
#include <stdio.h>

#include "torch/torch.h"

/* What tensors, metadata and names may take for each byte of the pickle: a
 * checkpoint needs 1 to 3, and this much only one that names the same values
 * again and again.  A file of a few bytes may need more for each. */
#define BYTES_FOR_EACH 16
#define BYTES_LEAST    (64 * 1024)

/* Likewise visits for each item of the pickle's values: a dict that is in two
 * places is visited twice. */
#define VISITS_FOR_EACH 4
#define VISITS_LEAST    1024

/* How the items of a value are named. */
enum torch_way {
    WAY_LIST,         /* by their position */
    WAY_PAIRS,        /* keys and values in turn */
    WAY_LISTED_PAIRS, /* each a key and its value, in a tuple or a list */
    WAY_MODULE,       /* attributes of a module of PyTorch: some of the pairs */
    WAY_OBJECT        /* function, arguments, and what was added afterwards */
};

/* ---- limits ---- */

static void note_full(struct torch_walk *walk, const char *what)
{
    if (!walk->full && walk->filling) {
        mf_index_note(walk->index, walk->part->shard, MF_ERROR_MISSED,
                      MF_RULE_PICKLE_SIZE, walk->pickle->span.offset,
                      "a pickle of %" PRIu64
                      " bytes describes %s than a checkpoint has; the rest is "
                      "not listed",
                      walk->pickle->span.size, what);
        mf_index_miss(walk->index, walk->part->shard, mf_torch_name(walk),
                      "it and all that follows it: the pickle describes %s "
                      "than a checkpoint has",
                      what);
        walk->index->missing.rest = walk->index->missing.count;
    }
    walk->full = true;
}

bool mf_torch_spend(struct torch_walk *walk, uint64_t bytes)
{
    if (bytes > walk->left)
        note_full(walk, "more tensors and metadata");
    else
        walk->left -= bytes;
    return !walk->full;
}

void mf_torch_miss(struct torch_walk *walk, const char *format, ...)
{
    char text[sizeof(walk->env->error.message)];
    struct mf_str name = mf_torch_name(walk);
    va_list arguments;

    if (!mf_torch_spend(walk,
                        sizeof(struct mf_missed) + name.size + sizeof(text)))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    mf_index_miss(walk->index, walk->part->shard, name, "%s", text);
}

static void note_depth(struct torch_walk *walk, uint32_t node, const char *what)
{
    if (!walk->filling)
        return;
    mf_index_note(walk->index, walk->part->shard, MF_ERROR_MISSED,
                  MF_RULE_PICKLE_DEPTH, mf_torch_at(walk->pickle, node),
                  "'%s' %s: not listed", mf_quote(mf_torch_name(walk)).text,
                  what);
    mf_torch_miss(walk, "it %s", what);
}

/* ---- names ---- */

struct mf_str mf_torch_name(const struct torch_walk *walk)
{
    return (struct mf_str){ walk->name, walk->name_size };
}

static bool add_to_name(struct torch_walk *walk, struct mf_str part)
{
    size_t dot = walk->name_size > 0;

    if (!part.at || part.size + dot > TORCH_NAME_MAX - walk->name_size)
        return false;
    memcpy(walk->name + walk->name_size, ".", dot);
    memcpy(walk->name + walk->name_size + dot, part.at, part.size);
    walk->name_size += part.size + dot;
    walk->name[walk->name_size] = 0;
    return true;
}

static bool add_number(struct torch_walk *walk, int64_t number)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%" PRId64, number);

    return add_to_name(walk, (struct mf_str){ text, (size_t)size });
}

static bool add_real(struct torch_walk *walk, double number)
{
    struct mf_number_text text = mf_number_text(number, 17);

    return add_to_name(walk, (struct mf_str){ text.at, text.size });
}

/* A key as Python prints it; one that is not a number or a text by its
 * position. */
static bool add_key(struct torch_walk *walk, uint32_t key, uint32_t position)
{
    const struct pickle_node *node = &walk->pickle->node[key];
    char text[40];
    int size;

    switch ((enum pickle_kind)node->kind) {
    case PICKLE_TEXT:
    case PICKLE_BYTES:
        return add_to_name(walk, mf_pickle_text(walk->pickle, node));
    case PICKLE_INT:
        return add_number(walk, node->is.number);
    case PICKLE_NONE:
        return add_to_name(walk, (struct mf_str){ "None", 4 });
    case PICKLE_TRUE:
        return add_to_name(walk, (struct mf_str){ "True", 4 });
    case PICKLE_FALSE:
        return add_to_name(walk, (struct mf_str){ "False", 5 });
    case PICKLE_FLOAT:
        return add_real(walk, node->is.real);
    default:
        size = snprintf(text, sizeof(text), "key %" PRIu32, position);
    }
    return add_to_name(walk, (struct mf_str){ text, (size_t)size });
}

/* ---- levels ---- */

static enum mf_status enter(struct torch_walk *walk, uint32_t node,
                            enum torch_way way)
{
    struct pickle_node *value = &walk->pickle->node[node];

    if (value->is.items.first == PICKLE_NIL)
        return MF_OK;
    if (value->open)
        note_depth(walk, node, "contains itself");
    else if (walk->depth == TORCH_DEPTH_MAX)
        note_depth(walk, node, "has more than 64 values within each other");
    else {
        value->open = true;
        walk->level[walk->depth++] =
            (struct torch_level){ .node = node,
                                  .item = value->is.items.first,
                                  .name_size = (uint32_t)walk->name_size,
                                  .way = (uint8_t)way };
    }
    return MF_OK;
}

static void leave(struct torch_walk *walk)
{
    struct torch_level *level = &walk->level[--walk->depth];

    walk->pickle->node[level->node].open = false;
    if (walk->depth < walk->unproven)
        walk->unproven = 0;
}

static enum mf_status visit(struct torch_walk *walk, uint32_t node)
{
    const struct pickle_node *value = &walk->pickle->node[node];
    bool done = false;

    if (mf_torch_is_tensor(walk->pickle, node))
        return mf_torch_tensor(walk, node);
    if (mf_torch_meta(walk, node, &done) != MF_OK || done)
        return walk->env->error.status;
    if (value->kind == PICKLE_DICT)
        return enter(walk, node, WAY_PAIRS);
    if (value->kind == PICKLE_CALL)
        return enter(walk, node, WAY_OBJECT);
    if (mf_pickle_has_items(value))
        return enter(walk, node, WAY_LIST);
    return MF_OK;
}

/* Visits a value under a key of the level. */
static enum mf_status visit_named(struct torch_walk *walk, uint32_t key,
                                  uint32_t position, uint32_t node)
{
    bool named = key == PICKLE_NIL ? add_number(walk, position)
                                   : add_key(walk, key, position);

    if (!named) {
        note_depth(walk, node, "has a key that is too long for a name");
        return MF_OK;
    }
    return visit(walk, node);
}

/* ---- objects ---- */

/* The function's arguments are in an unknown value. */
static enum mf_status visit_unproven(struct torch_walk *walk, uint32_t node)
{
    unsigned depth = walk->depth;
    enum mf_status status = visit(walk, node);

    if (walk->depth > depth && walk->unproven == 0)
        walk->unproven = walk->depth;
    return status;
}

/* What a call makes of its arguments.  Tensors of an unknown function have the
 * object's name. */
static enum mf_status visit_arguments(struct torch_walk *walk, uint32_t call,
                                      uint32_t arguments)
{
    const struct pickle *pickle = walk->pickle;
    uint32_t first = mf_pickle_item(pickle, arguments, 0);
    bool is_pairs =
        first != PICKLE_NIL && (pickle->node[first].kind == PICKLE_LIST ||
                                pickle->node[first].kind == PICKLE_TUPLE);

    if (pickle->node[call].bad)
        return visit_unproven(walk, arguments);
    switch (mf_pickle_makes(pickle, call)) {
    case PICKLE_MAKES_DICT:
    case PICKLE_MAKES_COUNTER:
        return is_pairs ? enter(walk, first, WAY_LISTED_PAIRS)
                        : visit(walk, first);
    case PICKLE_MAKES_SET:
        return visit(walk, first);
    case PICKLE_MAKES_WRAPPED:
        if (walk->index->tensors_only && first != PICKLE_NIL)
            return visit(walk, first);
        return visit_unproven(walk, arguments);
    case PICKLE_MAKES_UNKNOWN:
        return visit_unproven(walk, arguments);
    default:
        return visit(walk, arguments);
    }
}

static bool is_text(const struct pickle *pickle, uint32_t node,
                    const char *text)
{
    return pickle->node[node].kind == PICKLE_TEXT &&
           mf_str_is(mf_pickle_text(pickle, &pickle->node[node]), text);
}

/* The attributes whose names state_dict() leaves out. */
static bool is_branch(const struct pickle *pickle, uint32_t key)
{
    return is_text(pickle, key, "_parameters") ||
           is_text(pickle, key, "_buffers") || is_text(pickle, key, "_modules");
}

/* Whether it is the state of a module of PyTorch, which has all of these. */
static bool is_module(const struct pickle *pickle, uint32_t state)
{
    uint32_t at = pickle->node[state].is.items.first;
    unsigned found = 0;

    for (; at != PICKLE_NIL && found < 3; at = pickle->item[at].next) {
        found += is_branch(pickle, pickle->item[at].node);
        at = pickle->item[at].next;
    }
    return found == 3;
}

static enum mf_status visit_state(struct torch_walk *walk, uint32_t state)
{
    if (walk->index->tensors_only &&
        walk->pickle->node[state].kind == PICKLE_DICT &&
        is_module(walk->pickle, state))
        return enter(walk, state, WAY_MODULE);
    return visit(walk, state);
}

/* An attribute of a module: tensors as state_dict() has them.  What else a
 * module has, such as lists of modules that are its own anyway, is not
 * visited. */
static enum mf_status visit_attribute(struct torch_walk *walk, uint32_t key,
                                      uint32_t position, uint32_t node)
{
    if (is_branch(walk->pickle, key))
        return visit(walk, node);
    if (mf_torch_is_tensor(walk->pickle, node))
        return visit_named(walk, key, position, node);
    return MF_OK;
}

/* Takes the value after a key. */
static uint32_t take_value(struct torch_walk *walk, struct torch_level *level)
{
    uint32_t value = walk->pickle->item[level->item].node;

    level->item = walk->pickle->item[level->item].next;
    return value;
}

/* An item of a call; see PICKLE_CALL. */
static enum mf_status visit_part(struct torch_walk *walk,
                                 struct torch_level *level, uint32_t position,
                                 uint32_t node)
{
    if (node == PICKLE_MARK) {
        level->added = take_value(walk, level);
        level->is_added = true;
        level->position = 0;
        return MF_OK;
    }
    if (!level->is_added)
        return position == 0 ? MF_OK /* the function */
                             : visit_arguments(walk, level->node, node);
    if (level->added == PICKLE_ADDED_STATE)
        return visit_state(walk, node);
    if (level->added == PICKLE_ADDED_PAIRS)
        return visit_named(walk, node, position, take_value(walk, level));
    return visit_named(walk, PICKLE_NIL, position, node);
}

/* Visits the next item of the innermost level. */
static enum mf_status step(struct torch_walk *walk)
{
    const struct pickle *pickle = walk->pickle;
    struct torch_level *level = &walk->level[walk->depth - 1];
    uint32_t node = pickle->item[level->item].node, position;

    walk->name_size = level->name_size;
    level->item = pickle->item[level->item].next;
    position = level->position++;
    switch ((enum torch_way)level->way) {
    case WAY_LIST:
        return visit_named(walk, PICKLE_NIL, position, node);
    case WAY_PAIRS:
        return visit_named(walk, node, position, take_value(walk, level));
    case WAY_MODULE:
        return visit_attribute(walk, node, position, take_value(walk, level));
    case WAY_LISTED_PAIRS: {
        uint32_t key = mf_pickle_item(pickle, node, 0);
        uint32_t value = mf_pickle_item(pickle, node, 1);

        return value == PICKLE_NIL ? MF_OK
                                   : visit_named(walk, key, position, value);
    }
    case WAY_OBJECT:
        return visit_part(walk, level, position, node);
    }
    return MF_OK;
}

/* ---- the walk ---- */

static enum mf_status walk_all(struct torch_walk *walk)
{
    const struct pickle *pickle = walk->pickle;
    enum mf_status status;

    walk->full = false;
    walk->name_size = 0;
    walk->left = BYTES_LEAST + BYTES_FOR_EACH * pickle->span.size;
    walk->steps_left =
        VISITS_LEAST + VISITS_FOR_EACH * (uint64_t)pickle->item_count;
    status = visit(walk, pickle->result);
    while (status == MF_OK && walk->depth > 0 && !walk->full) {
        if (walk->level[walk->depth - 1].item == PICKLE_NIL)
            leave(walk);
        else if (walk->steps_left-- == 0)
            note_full(walk, "more values");
        else
            status = step(walk);
    }
    while (walk->depth > 0)
        leave(walk);
    return status;
}

/* PyTorch makes all tensors and storages of a pickle, also those that its
 * result does not have, and refuses the file for a fault of any. */
static enum mf_status check_rest(struct torch_walk *walk)
{
    struct pickle *pickle = walk->pickle;
    enum mf_status status = MF_OK;

    walk->resting = true;
    for (uint32_t i = 0; status == MF_OK && i < pickle->node_count; i++) {
        if (pickle->node[i].seen || !mf_torch_is_tensor(pickle, i))
            continue;
        walk->name_size = 0;
        status = mf_torch_tensor(walk, i);
    }
    return status;
}

/* The walk that fills in what the first one has counted. */
static enum mf_status fill(struct torch_walk *walk)
{
    enum mf_status status = MF_OK;

    if (walk->tensors > 0)
        status = mf_index_reserve(walk->index, walk->tensors, walk->tensors,
                                  walk->name_bytes, walk->dims);
    walk->filling = true;
    if (status == MF_OK)
        status = walk_all(walk);
    if (status == MF_OK && !walk->full && !walk->index->metadata_only)
        status = check_rest(walk);
    return status;
}

enum mf_status mf_torch_walk(struct mf_index *index, struct mf_part *part,
                             struct pickle *pickle, const struct mf_names *keys,
                             bool swapped)
{
    struct torch_walk *walk = mf_alloc(index->env, sizeof(*walk));
    enum mf_status status = MF_OK;

    if (!walk)
        return index->env->error.status;
    memset(walk, 0, sizeof(*walk));
    walk->env = index->env;
    walk->index = index;
    walk->part = part;
    walk->pickle = pickle;
    walk->keys = keys;
    walk->swapped = swapped;
    if (swapped)
        status = mf_torch_widths(walk);
    if (status == MF_OK)
        status = walk_all(walk);
    if (status == MF_OK)
        status = fill(walk);
    mf_release(index->env, walk->width, walk->width_size);
    mf_release(index->env, walk, sizeof(*walk));
    return status;
}
