/* SPDX-License-Identifier: MIT
 *
 * storages.c - what a persistent id says about a storage
 *
 *     ('storage', torch.FloatStorage, '0', 'cpu', 1000)
 *
 * and in files of before PyTorch 1.6 a sixth item, None or the part of another
 * storage that this one is: (key, first element, elements).
 */
#include "torch/torch.h"

enum part { KIND, CLASS, KEY, PLACE, COUNT, PART, PARTS };

/* False where the id has a sixth item that is neither None nor a part. */
static bool take_part(const struct pickle *pickle, uint32_t node,
                      struct torch_storage *out)
{
    uint64_t whole = out->count;

    if (node == PICKLE_NIL || node == PICKLE_NONE)
        return true;
    if (pickle->node[node].kind != PICKLE_TUPLE ||
        !mf_pickle_has_count(pickle, node, 3))
        return false;
    out->part = mf_pickle_item(pickle, node, 0);
    if (pickle->node[out->part].kind != PICKLE_TEXT ||
        !mf_pickle_text(pickle, &pickle->node[out->part]).at)
        return false;
    return mf_pickle_unsigned(pickle, mf_pickle_item(pickle, node, 1),
                              &out->from) &&
           mf_pickle_unsigned(pickle, mf_pickle_item(pickle, node, 2),
                              &out->count) &&
           out->from <= whole && out->count <= whole - out->from;
}

static bool has_text(const struct pickle *pickle, uint32_t node,
                     struct mf_str *out)
{
    if (node == PICKLE_NIL || (pickle->node[node].kind != PICKLE_TEXT &&
                               pickle->node[node].kind != PICKLE_BYTES))
        return false;
    *out = mf_pickle_text(pickle, &pickle->node[node]);
    return out->at != NULL;
}

const char *mf_torch_storage(const struct pickle *pickle, uint32_t node,
                             struct torch_storage *out, struct mf_str *key)
{
    uint32_t id = mf_pickle_item(pickle, node, 0), part[PARTS];
    const struct pickle_global *global;
    struct mf_str kind, place;

    *out = (struct torch_storage){ .part = PICKLE_NIL };
    if (pickle->node[id].kind != PICKLE_TUPLE ||
        !mf_pickle_has_count(pickle, id, pickle->id_items))
        return "a persistent id that is not a tuple of five items, or of six "
               "before PyTorch 1.6";
    for (unsigned i = 0; i < PARTS; i++)
        part[i] = mf_pickle_item(pickle, id, i);
    if (!has_text(pickle, part[KIND], &kind) || !mf_str_is(kind, "storage"))
        return "a persistent id that is not of a storage";
    if (part[CLASS] == PICKLE_NIL ||
        pickle->node[part[CLASS]].kind != PICKLE_GLOBAL)
        return "a storage without a class";
    global = &mf_pickle_globals[pickle->node[part[CLASS]].global];
    if (global->makes != PICKLE_MAKES_STORAGE ||
        mf_pickle_dtypes[global->dtype].size == 0)
        return "a storage of an unknown class";
    out->dtype = global->dtype;
    if (pickle->node[part[KEY]].kind != PICKLE_TEXT ||
        !has_text(pickle, part[KEY], key))
        return "a storage without a key";
    if (!has_text(pickle, part[PLACE], &place))
        return "a storage without the name of a device";
    if (!mf_pickle_unsigned(pickle, part[COUNT], &out->count))
        return "a storage without a number of elements";
    out->whole = out->count;
    if (!take_part(pickle, part[PART], out))
        return "a storage that is not within the one that it is a part of";
    return NULL;
}
