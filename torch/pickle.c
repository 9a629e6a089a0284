/* SPDX-License-Identifier: MIT
 *
 * pickle.c - the machine: two passes over the opcodes, its memory and its stack
 *
 * Nothing that an effect makes needs a check for room: the first pass has added
 * up what each opcode makes at most, from the table.
 */
#include "torch/pickle.h"

/* Nodes for the constants, whose number is their kind. */
#define CONSTANTS 4

/* Offsets and numbers of nodes have 32 bits. */
#define PICKLE_SIZE_MAX ((uint64_t)1 << 31)

/* Writers number what they put in the memo from 0 or 1 on; a file without the
 * numbers that are never used is allowed some gaps. */
#define MEMO_GAP   4
#define MEMO_LEAST 1024

/* Values that checks may look at for each one that the pickle makes: usually
 * each is an argument or a key once. */
#define WORK_FOR_EACH 8
#define WORK_LEAST    1024

/* ---- the first pass ---- */

static void count_put(struct pickle *pickle, const struct pickle_step *step)
{
    uint64_t number = mf_pickle_memo_number(step, pickle->puts++);

    if (number >= pickle->memo_room)
        pickle->memo_room = number < UINT64_MAX ? number + 1 : number;
}

static void count_step(struct pickle *pickle, const struct pickle_step *step)
{
    pickle->node_room += step->row->nodes;
    pickle->item_room += step->row->pushes;
    pickle->text_room +=
        step->text_size <= 2 * MF_TEXT_KEPT ? step->text_size : 0;
    if (step->row->effect == mf_pickle_do_put)
        count_put(pickle, step);
}

static uint64_t memo_limit(const struct pickle *pickle)
{
    return MEMO_GAP * pickle->puts + MEMO_LEAST;
}

static enum mf_status check_counts(struct pickle *pickle)
{
    if (pickle->span.size > PICKLE_SIZE_MAX)
        return mf_refuse(pickle->env, MF_RULE_FILE_LIMIT, pickle->span.offset,
                         "a pickle of %" PRIu64 " bytes, the limit is "
                         "%" PRIu64,
                         pickle->span.size, PICKLE_SIZE_MAX);
    if (pickle->memo_room > memo_limit(pickle))
        return mf_refuse(pickle->env, MF_RULE_PICKLE_MEMO, pickle->span.offset,
                         "the memo has number %" PRIu64 ", but only %" PRIu64
                         " values are put in it",
                         pickle->memo_room - 1, pickle->puts);
    if (pickle->memo_room < pickle->puts)
        pickle->memo_room = pickle->puts;
    return MF_OK;
}

/* Bytes of all tables, without what check_counts refuses of the memo.  The
 * pickle has at most 2^31 bytes, so that no sum of these overflows 64 bits. */
static uint64_t size_of(const struct pickle *pickle)
{
    uint64_t most = memo_limit(pickle);
    uint64_t memo = pickle->memo_room < most ? pickle->memo_room : most;

    return (pickle->node_room + CONSTANTS) * sizeof(*pickle->node) +
           pickle->item_room *
               (sizeof(*pickle->item) + sizeof(*pickle->stack)) +
           memo * sizeof(*pickle->memo) + pickle->text_room;
}

/* A bound of the format is a fault of the file, one that was set is not. */
static enum mf_status too_large(struct pickle *pickle, uint64_t at, size_t left)
{
    if (!pickle->is_bound)
        return mf_decline(pickle->env, MF_REASON_HEAP_LIMIT, at,
                          "the values of a pickle take more than the "
                          "%zu bytes of memory that are left",
                          left);
    return mf_refuse(pickle->env, MF_RULE_PICKLE_MEMORY, at,
                     "the values of a pickle take more than %zu bytes of "
                     "memory, which is the default bound",
                     left);
}

/* Goes over all opcodes up to STOP. */
static enum mf_status count(struct pickle *pickle, struct pickle_lines *lines)
{
    struct mf_reader *reader = pickle->reader;
    size_t left = mf_heap_left(pickle->env);
    struct pickle_step step;

    pickle->span.offset = mf_reader_offset(reader);
    do {
        step = (struct pickle_step){ 0 };
        if (mf_pickle_step(reader, lines, &step) != MF_OK)
            return pickle->env->error.status;
        count_step(pickle, &step);
        if (size_of(pickle) > left)
            return too_large(pickle, step.at, left);
    } while (step.opcode != PICKLE_OP_STOP);
    pickle->span.size = mf_reader_offset(reader) - pickle->span.offset;
    return check_counts(pickle);
}

/* ---- memory ---- */

/* Sets all tables. */
static enum mf_status allocate(struct pickle *pickle)
{
    uint64_t nodes = (pickle->node_room + CONSTANTS) * sizeof(*pickle->node);
    uint64_t items = pickle->item_room * sizeof(*pickle->item);
    uint64_t stack = pickle->item_room * sizeof(*pickle->stack);
    uint64_t memo = pickle->memo_room * sizeof(*pickle->memo);
    uint64_t size = size_of(pickle);
    char *block;

    if (size > SIZE_MAX)
        return mf_fail(pickle->env, MF_ERR_LIMIT, pickle->span.offset,
                       "the pickle needs %" PRIu64 " bytes of memory", size);
    block = mf_alloc(pickle->env, (size_t)size);
    if (!block)
        return pickle->env->error.status;
    pickle->block = block;
    pickle->block_size = (size_t)size;
    pickle->node = (struct pickle_node *)block;
    pickle->item = (struct pickle_item *)(block += nodes);
    pickle->stack = (uint32_t *)(block += items);
    pickle->memo = (uint32_t *)(block += stack);
    pickle->text = block + memo;
    memset(pickle->memo, 0xff, (size_t)memo); /* PICKLE_NIL */
    for (uint8_t kind = 0; kind < CONSTANTS; kind++)
        pickle->node[kind] = (struct pickle_node){ .kind = kind };
    pickle->node_count = CONSTANTS;
    return MF_OK;
}

void mf_pickle_release(struct pickle *pickle)
{
    mf_release(pickle->env, pickle->block, pickle->block_size);
    pickle->block = NULL;
}

uint32_t mf_pickle_add(struct pickle *pickle, const struct pickle_step *step,
                       enum pickle_kind kind)
{
    struct pickle_node *node = &pickle->node[pickle->node_count];

    *node = (struct pickle_node){
        .kind = (uint8_t)kind,
        .at = (uint32_t)(step->at - pickle->span.offset),
    };
    if (mf_pickle_has_items(node))
        node->is.items.first = node->is.items.last = PICKLE_NIL;
    return pickle->node_count++;
}

void mf_pickle_append(struct pickle *pickle, uint32_t node, uint32_t item)
{
    struct pickle_node *to = &pickle->node[node];
    uint32_t at = pickle->item_count++;

    pickle->item[at] = (struct pickle_item){ item, PICKLE_NIL };
    if (to->is.items.last == PICKLE_NIL)
        to->is.items.first = at;
    else
        pickle->item[to->is.items.last].next = at;
    to->is.items.last = at;
}

void mf_pickle_keep_text(struct pickle *pickle, uint32_t node,
                         const struct pickle_step *step, struct mf_str text)
{
    struct pickle_node *to = &pickle->node[node];

    to->is.text.size = (uint32_t)step->text_size;
    to->is.text.start = PICKLE_NIL;
    if (!text.at)
        return;
    memcpy(pickle->text + pickle->text_size, text.at, text.size);
    to->is.text.start = pickle->text_size;
    to->is.text.size = (uint32_t)text.size;
    pickle->text_size += (uint32_t)text.size;
}

/* ---- the stack ---- */

enum mf_status mf_pickle_bad_stack(struct pickle *pickle,
                                   const struct pickle_step *step,
                                   const char *what)
{
    return mf_refuse(pickle->env, MF_RULE_PICKLE_STACK, step->at, "%s %s",
                     step->row->name, what);
}

void mf_pickle_push(struct pickle *pickle, uint32_t node)
{
    pickle->stack[pickle->stack_count++] = node;
}

uint32_t mf_pickle_marked(const struct pickle *pickle)
{
    for (uint32_t i = pickle->stack_count; i-- > 0;)
        if (pickle->stack[i] == PICKLE_MARK)
            return pickle->stack_count - i - 1;
    return PICKLE_NIL;
}

/* ---- the second pass ---- */

/* Once for each kind: the place of the first one is enough. */
static void note_class(struct pickle *pickle, const struct pickle_step *step)
{
    if (step->row->class == PICKLE_BARRED && !pickle->noted_barred) {
        pickle->noted_barred = true;
        mf_index_note(pickle->index, pickle->shard, MF_ERROR,
                      MF_RULE_PICKLE_OPCODE, step->at,
                      "opcode %s, which no checkpoint needs", step->row->name);
    }
    if (step->row->class == PICKLE_OTHER && !pickle->noted_protocol) {
        pickle->noted_protocol = true;
        mf_index_note(pickle->index, pickle->shard, MF_ERROR_ELSEWHERE,
                      MF_RULE_PICKLE_PROTOCOL, step->at,
                      "torch.load(weights_only=True) does not read opcode %s",
                      step->row->name);
    }
}

/* No opcode may lie across the end of a frame. */
static void check_frame(struct pickle *pickle, const struct pickle_step *step)
{
    if (pickle->frame_end == 0 || step->at >= pickle->frame_end ||
        mf_reader_offset(pickle->reader) <= pickle->frame_end)
        return;
    mf_index_note(pickle->index, pickle->shard, MF_ERROR, MF_RULE_PICKLE_FRAME,
                  step->at, "%s extends past the end of its frame, %" PRIu64,
                  step->row->name, pickle->frame_end);
    pickle->frame_end = 0;
}

/* Whether what the step makes is in what the first pass has counted.  pushed:
 * items that were put on the stack so far, which is also the most that can have
 * become items of nodes. */
static bool has_room(const struct pickle *pickle,
                     const struct pickle_step *step, uint64_t pushed)
{
    uint64_t text = step->text_size <= 2 * MF_TEXT_KEPT ? step->text_size : 0;

    return pickle->node_count + step->row->nodes <=
               pickle->node_room + CONSTANTS &&
           pushed <= pickle->item_room &&
           pickle->text_size + text <= pickle->text_room;
}

static enum mf_status run(struct pickle *pickle, struct pickle_lines *lines)
{
    uint64_t pushed = 0;

    while (!pickle->stopped) {
        struct pickle_step step = { 0 };

        if (mf_pickle_step(pickle->reader, lines, &step) != MF_OK)
            return pickle->env->error.status;
        pushed += step.row->pushes;
        if (!has_room(pickle, &step, pushed))
            return mf_fail(pickle->env, MF_ERR_IO, step.at,
                           "the pickle has changed while it was read");
        note_class(pickle, &step);
        check_frame(pickle, &step);
        if (step.row->effect(pickle, &step) != MF_OK)
            return pickle->env->error.status;
    }
    return MF_OK;
}

enum mf_status mf_pickle_read(struct pickle *pickle, struct mf_reader *reader)
{
    struct pickle_lines *lines;

    pickle->env = reader->env;
    pickle->reader = reader;
    lines = mf_alloc(reader->env, sizeof(*lines));
    if (!lines)
        return reader->env->error.status;
    if (count(pickle, lines) == MF_OK && allocate(pickle) == MF_OK) {
        mf_reader_seek(reader, pickle->span.offset);
        pickle->puts = 0;
        pickle->work = WORK_LEAST + WORK_FOR_EACH * (uint64_t)pickle->item_room;
        if (run(pickle, lines) == MF_OK)
            mf_pickle_check_keys(pickle);
    }
    mf_release(reader->env, lines, sizeof(*lines));
    return reader->env->error.status;
}

/* ---- of a pickle that was read ---- */

struct mf_str mf_pickle_text(const struct pickle *pickle,
                             const struct pickle_node *node)
{
    if (node->is.text.start == PICKLE_NIL)
        return (struct mf_str){ NULL, 0 };
    return (struct mf_str){ pickle->text + node->is.text.start,
                            node->is.text.size };
}

uint32_t mf_pickle_item(const struct pickle *pickle, uint32_t node, unsigned i)
{
    uint32_t at = PICKLE_NIL;

    if (node != PICKLE_NIL && mf_pickle_has_items(&pickle->node[node]))
        at = pickle->node[node].is.items.first;
    while (at != PICKLE_NIL && i-- > 0)
        at = pickle->item[at].next;
    return at == PICKLE_NIL ? PICKLE_NIL : pickle->item[at].node;
}

bool mf_pickle_has_count(const struct pickle *pickle, uint32_t node,
                         unsigned count)
{
    return (count == 0 ||
            mf_pickle_item(pickle, node, count - 1) != PICKLE_NIL) &&
           mf_pickle_item(pickle, node, count) == PICKLE_NIL;
}

bool mf_pickle_unsigned(const struct pickle *pickle, uint32_t node,
                        uint64_t *out)
{
    const struct pickle_node *value = &pickle->node[node];

    if (node == PICKLE_NIL || value->kind != PICKLE_INT || value->is.number < 0)
        return false;
    *out = (uint64_t)value->is.number;
    return true;
}
