/* SPDX-License-Identifier: MIT
 *
 * items.c - the elements of a metadata array, one after the other
 */
#include "lib/vocab/parts.h"

#include <inttypes.h>
#include <stdio.h>

enum mf_status mf_items_open(struct mf_items *items, struct mf_model *model,
                             const struct mf_meta *meta)
{
    struct mf_value begin;

    *items =
        (struct mf_items){ .seed = model->env->hash_seed, .at = UINT64_MAX };
    if (mf_values_open(model, (size_t)(meta - model->index.meta),
                       &items->values) != MF_OK)
        return model->env->error.status;
    if (mf_values_next(items->values, &begin) != MF_OK) {
        mf_items_close(items);
        return model->env->error.status;
    }
    items->ahead = begin.count;
    return MF_OK;
}

void mf_items_close(struct mf_items *items)
{
    mf_values_close(items->values);
    items->values = NULL;
}

uint64_t mf_item_hash(struct mf_str text, uint64_t seed)
{
    while (text.size > MF_ITEM_PART) {
        seed = mf_text_hash((struct mf_str){ text.at, MF_ITEM_PART }, seed);
        text.at += MF_ITEM_PART;
        text.size -= MF_ITEM_PART;
    }
    return text.size > 0 ? mf_text_hash(text, seed) : seed;
}

/* Adds a piece to the hash, which lags behind by a part that is not full. */
static void hash_piece(struct mf_items *items, struct mf_str piece)
{
    while (items->part_size + piece.size > MF_ITEM_PART) {
        size_t some = MF_ITEM_PART - items->part_size;

        memcpy(items->part + items->part_size, piece.at, some);
        items->hash = mf_item_hash((struct mf_str){ items->part, MF_ITEM_PART },
                                   items->hash);
        items->part_size = 0;
        piece.at += some;
        piece.size -= some;
    }
    memcpy(items->part + items->part_size, piece.at, piece.size);
    items->part_size += piece.size;
}

/* Adds a piece to the text; `ended`: a NUL has ended it before. */
static void add_piece(struct mf_items *items, struct mf_str piece, bool ended)
{
    const char *nul = memchr(piece.at, 0, piece.size);
    size_t size = nul ? (size_t)(nul - piece.at) : piece.size;

    items->has_nul = items->has_nul || nul != NULL;
    if (ended || size == 0)
        return;
    items->size += size;
    if (items->whole)
        items->hash =
            mf_item_hash((struct mf_str){ piece.at, size }, items->seed);
    else
        hash_piece(items, (struct mf_str){ piece.at, size });
}

/* Keeps the first bytes of a text that comes in pieces: the next one will
 * overwrite this. */
static void keep_head(struct mf_items *items, struct mf_str piece)
{
    size_t size =
        piece.size < sizeof(items->head) ? piece.size : sizeof(items->head);

    memcpy(items->head, piece.at, size);
    items->text.at = items->head;
}

static void take_text(struct mf_items *items, struct mf_value *value)
{
    items->size = 0;
    items->hash = items->seed;
    items->part_size = 0;
    items->has_nul = false;
    items->whole = !value->more && value->text.size <= MF_ITEM_WHOLE;
    items->text.at = value->text.at;
    if (!items->whole)
        keep_head(items, value->text);
    add_piece(items, value->text, false);
    while (value->more && mf_values_next(items->values, value) == MF_OK)
        add_piece(items, value->text, items->has_nul);
    if (items->part_size > 0)
        items->hash = mf_item_hash(
            (struct mf_str){ items->part, items->part_size }, items->hash);
    items->text.size = items->whole || items->size < sizeof(items->head)
                           ? (size_t)items->size
                           : sizeof(items->head);
}

bool mf_items_next(struct mf_items *items)
{
    const struct mf_reader *reader = &items->values->reader;
    struct mf_value value;
    uint64_t offset = mf_reader_offset(reader);

    if (items->ahead == 0 || mf_values_next(items->values, &value) != MF_OK)
        return false;
    items->ahead--;
    items->at++;
    items->offset = offset;
    if (value.type == MF_VALUE_STRING) {
        items->offset = mf_reader_offset(reader) - value.text.size;
        take_text(items, &value);
    } else {
        items->number = value.number;
    }
    return items->values->env->error.status == MF_OK;
}

/* ---- two texts ---- */

/* One of two texts: the rest of a piece, and whether more of them follow. */
struct side {
    struct mf_items items;
    struct mf_value piece;
};

/* Opens the array and goes to the first piece of that element. */
static enum mf_status open_at(struct mf_model *model,
                              const struct mf_meta *meta, uint64_t at,
                              struct side *side)
{
    struct mf_items *items = &side->items;

    if (mf_items_open(items, model, meta) != MF_OK)
        return model->env->error.status;
    for (uint64_t i = 0; i < at; i++)
        if (!mf_items_next(items))
            break;
    if (model->env->error.status != MF_OK ||
        mf_values_next(items->values, &side->piece) != MF_OK) {
        mf_items_close(items);
        return model->env->error.status;
    }
    return MF_OK;
}

/* Drops what comes after a NUL, which ends the text. */
static void cut(struct mf_value *piece)
{
    const char *nul = memchr(piece->text.at, 0, piece->text.size);

    if (!nul)
        return;
    piece->text.size = (size_t)(nul - piece->text.at);
    piece->more = false;
}

/* Reads the next piece where the last one is used up. */
static enum mf_status refill(struct side *side)
{
    struct mf_value *piece = &side->piece;

    while (piece->text.size == 0 && piece->more) {
        if (mf_values_next(side->items.values, piece) != MF_OK)
            return side->items.values->env->error.status;
        cut(piece);
    }
    return MF_OK;
}

static void drop(struct mf_str *text, size_t size)
{
    text->at += size;
    text->size -= size;
}

/* From what is left of their first pieces on, which may differ in size. */
static enum mf_status compare(struct side *a, struct side *b, bool *same)
{
    for (;;) {
        struct mf_str *left = &a->piece.text, *right = &b->piece.text;
        size_t size;

        if (refill(a) != MF_OK || refill(b) != MF_OK)
            return a->items.values->env->error.status;
        size = left->size < right->size ? left->size : right->size;
        *same = size > 0 ? memcmp(left->at, right->at, size) == 0
                         : left->size == right->size;
        if (!*same || size == 0)
            return MF_OK;
        drop(left, size);
        drop(right, size);
    }
}

/* An empty token is called what the other one is called. */
static void name_empty(struct mf_value *piece, uint64_t at,
                       struct mf_empty_name *name)
{
    cut(piece);
    if (piece->text.size > 0)
        return;
    *name = mf_empty_name(at);
    piece->text = (struct mf_str){ name->text, strlen(name->text) };
}

enum mf_status mf_items_same(struct mf_model *model, const struct mf_meta *meta,
                             uint64_t a, uint64_t b, bool *same)
{
    struct mf_empty_name names[2];
    struct side left, right;
    enum mf_status status;

    *same = false;
    if (open_at(model, meta, a, &left) != MF_OK)
        return model->env->error.status;
    if (open_at(model, meta, b, &right) != MF_OK) {
        mf_items_close(&left.items);
        return model->env->error.status;
    }
    name_empty(&left.piece, a, &names[0]);
    name_empty(&right.piece, b, &names[1]);
    status = compare(&left, &right, same);
    mf_items_close(&left.items);
    mf_items_close(&right.items);
    return status;
}

struct mf_empty_name mf_empty_name(uint64_t token)
{
    struct mf_empty_name out;

    snprintf(out.text, sizeof(out.text), "[EMPTY_%" PRIu64 "]", token);
    return out;
}
