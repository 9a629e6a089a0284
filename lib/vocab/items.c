/* SPDX-License-Identifier: MIT
 *
 * items.c - the elements of a metadata array, one after the other
 */
#include "lib/vocab/items.h"

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

/* Adds a piece to the text; `ended`: a NUL has ended it before.  Pieces of
 * equal texts are equal, so each one's hash can be the seed of the next. */
static void add_piece(struct mf_items *items, struct mf_str piece, bool ended)
{
    const char *nul = memchr(piece.at, 0, piece.size);
    size_t size = nul ? (size_t)(nul - piece.at) : piece.size;

    items->has_nul = items->has_nul || nul != NULL;
    if (ended || size == 0)
        return;
    items->hash = mf_text_hash((struct mf_str){ piece.at, size }, items->hash);
    items->size += size;
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
    items->has_nul = false;
    items->whole = !value->more;
    items->text.at = value->text.at;
    if (value->more)
        keep_head(items, value->text);
    add_piece(items, value->text, false);
    while (value->more && mf_values_next(items->values, value) == MF_OK)
        add_piece(items, value->text, items->has_nul);
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

/* Opens the array and goes to the first piece of that element. */
static enum mf_status open_at(struct mf_model *model,
                              const struct mf_meta *meta, uint64_t at,
                              struct mf_items *items, struct mf_value *piece)
{
    if (mf_items_open(items, model, meta) != MF_OK)
        return model->env->error.status;
    for (uint64_t i = 0; i < at; i++)
        if (!mf_items_next(items))
            break;
    if (model->env->error.status != MF_OK ||
        mf_values_next(items->values, piece) != MF_OK) {
        mf_items_close(items);
        return model->env->error.status;
    }
    return MF_OK;
}

/* The piece without what comes after a NUL, which is then the last one. */
static void cut(struct mf_value *piece)
{
    const char *nul = memchr(piece->text.at, 0, piece->text.size);

    if (!nul)
        return;
    piece->text.size = (size_t)(nul - piece->text.at);
    piece->more = false;
}

/* From their first pieces on.  An empty text has a name of its own. */
static enum mf_status compare(struct mf_items *left, struct mf_items *right,
                              struct mf_value *a, struct mf_value *b,
                              bool *same)
{
    for (;;) {
        cut(a);
        cut(b);
        *same = a->text.size == b->text.size &&
                memcmp(a->text.at, b->text.at, a->text.size) == 0;
        if (!*same || (!a->more && !b->more))
            return MF_OK;
        if (a->more != b->more) { /* one goes on: with a NUL at once, or not */
            *same = false;
            return MF_OK;
        }
        if (mf_values_next(left->values, a) != MF_OK ||
            mf_values_next(right->values, b) != MF_OK)
            return left->values->env->error.status;
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
    struct mf_items left, right;
    struct mf_value first, second;
    enum mf_status status;

    *same = false;
    if (open_at(model, meta, a, &left, &first) != MF_OK)
        return model->env->error.status;
    if (open_at(model, meta, b, &right, &second) != MF_OK) {
        mf_items_close(&left);
        return model->env->error.status;
    }
    name_empty(&first, a, &names[0]);
    name_empty(&second, b, &names[1]);
    status = compare(&left, &right, &first, &second, same);
    mf_items_close(&left);
    mf_items_close(&right);
    return status;
}

struct mf_empty_name mf_empty_name(uint64_t token)
{
    struct mf_empty_name out;

    snprintf(out.text, sizeof(out.text), "[EMPTY_%" PRIu64 "]", token);
    return out;
}
