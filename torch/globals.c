/* SPDX-License-Identifier: MIT
 *
 * globals.c - names of Python's objects, and the findings about unknown ones
 *
 * A name is only ever compared with the rows of globals.def.
 */
#include <stdio.h>

#include "torch/pickle.h"

const struct pickle_dtype_row mf_pickle_dtypes[PICKLE_DTYPE_COUNT] = {
#define DTYPE(name, TYPE, size) { #name, MF_TYPE_##TYPE, size },
#include "torch/dtypes.def"
#undef DTYPE
};

const struct pickle_global mf_pickle_globals[] = {
#define GLOBAL(module, name, makes, dtype)                                     \
    { module, name, PICKLE_MAKES_##makes, PICKLE_DTYPE_##dtype },
#include "torch/globals.def"
#undef GLOBAL
    { "", "", PICKLE_MAKES_UNKNOWN, PICKLE_DTYPE_none },
};

#define GLOBAL_COUNT (sizeof(mf_pickle_globals) / sizeof(*mf_pickle_globals))

uint16_t mf_pickle_global(struct mf_str module, struct mf_str name)
{
    uint16_t row = 0;

    while (row < GLOBAL_COUNT - 1 &&
           !(mf_str_is(name, mf_pickle_globals[row].name) &&
             mf_str_is(module, mf_pickle_globals[row].module)))
        row++;
    return row;
}

/* A node's text; at is NULL for one that is not kept, or is not text. */
static struct mf_str text_of(const struct pickle *pickle, uint32_t at)
{
    const struct pickle_node *node = &pickle->node[at];

    return node->kind == PICKLE_TEXT ? mf_pickle_text(pickle, node)
                                     : (struct mf_str){ NULL, 0 };
}

struct pickle_name mf_pickle_global_name(const struct pickle *pickle,
                                         const struct pickle_node *node)
{
    const struct pickle_global *row = &mf_pickle_globals[node->global];
    struct mf_str module, name;
    struct pickle_name out;

    if (row->makes != PICKLE_MAKES_UNKNOWN) {
        snprintf(out.text, sizeof(out.text), "%s.%s", row->module, row->name);
        return out;
    }
    module = text_of(pickle, node->is.path.module);
    name = text_of(pickle, node->is.path.name);
    if (!module.at || !name.at)
        snprintf(out.text, sizeof(out.text), "whose name is too long");
    else
        snprintf(out.text, sizeof(out.text), "%s.%s", mf_quote(module).text,
                 mf_quote(name).text);
    return out;
}

/* True if the file's pickles have named it before. */
static bool was_found(struct pickle *pickle, uint64_t hash)
{
    struct pickle_found *found = pickle->found;

    for (size_t i = 0; i < found->count; i++)
        if (found->hash[i] == hash)
            return true;
    if (found->count < PICKLE_GLOBALS_MAX)
        found->hash[found->count++] = hash;
    return false;
}

static void note_global(struct pickle *pickle, const struct pickle_step *step,
                        struct mf_str module, struct mf_str name,
                        const struct pickle_node *node)
{
    uint64_t seed = pickle->env->hash_seed;
    uint64_t hash = mf_text_hash(module, mf_text_hash(name, seed));

    if (was_found(pickle, hash))
        return;
    mf_index_note(pickle->index, pickle->shard,
                  pickle->index->tensors_only ? MF_ERROR_ELSEWHERE : MF_ERROR,
                  MF_RULE_PICKLE_GLOBAL, step->at,
                  "global '%s', which Python would import and could call, is "
                  "not in the list of torch.load(weights_only=True)",
                  mf_pickle_global_name(pickle, node).text);
}

uint32_t mf_pickle_add_global(struct pickle *pickle,
                              const struct pickle_step *step, uint32_t module,
                              uint32_t name)
{
    struct mf_str part[2] = { text_of(pickle, module), text_of(pickle, name) };
    uint32_t at = mf_pickle_add(pickle, step, PICKLE_GLOBAL);
    struct pickle_node *node = &pickle->node[at];

    node->global = mf_pickle_global(part[0], part[1]);
    node->is.path.module = module;
    node->is.path.name = name;
    if (mf_pickle_globals[node->global].makes >= PICKLE_MAKES_WRAPPED)
        note_global(pickle, step, part[0], part[1], node);
    return at;
}

uint32_t mf_pickle_add_named(struct pickle *pickle,
                             const struct pickle_step *step)
{
    /* Room was counted for both of them or none. */
    const struct mf_str none = { NULL, 0 };
    bool kept = step->text.at && step->name.at;
    uint32_t module = mf_pickle_add(pickle, step, PICKLE_TEXT);
    uint32_t name = mf_pickle_add(pickle, step, PICKLE_TEXT);

    mf_pickle_keep_text(pickle, module, step, kept ? step->text : none);
    mf_pickle_keep_text(pickle, name, step, kept ? step->name : none);
    return mf_pickle_add_global(pickle, step, module, name);
}
