/* SPDX-License-Identifier: MIT
 *
 * rename_table.c - looking up architectures and names in rename.def
 */
#include <assert.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hub/rename_table.h"

enum family_number {
#define FAMILY(NAME) NUMBER_##NAME,
#define CLASS(hf, type, gguf, FAMILY, traits)
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

enum family { /* one bit each */
#define FAMILY(NAME) NAME = 1 << NUMBER_##NAME,
#define CLASS(hf, type, gguf, FAMILY, traits)
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

/* The words of the traits column. */
enum trait {
    PLAIN = MF_HUB_PLAIN,
    KV_IS_HEADS = MF_HUB_KV_IS_HEADS,
    LLAMA3_ROPE = MF_HUB_LLAMA3_ROPE,
    PHI3_ROPE = MF_HUB_PHI3_ROPE
};

static const struct mf_hub_class classes[] = {
#define FAMILY(NAME)
#define CLASS(hf, type, gguf, FAMILY, traits)                                  \
    { hf, type, gguf, FAMILY, traits },
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

static const struct mf_rename_row rows[] = {
#define FAMILY(NAME)
#define CLASS(hf, type, gguf, FAMILY, traits)
#define TENSOR(gguf, hf, block, ROWS, which)                                   \
    { { gguf, hf }, block, MF_ROWS_##ROWS, which },
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

#define CLASS_COUNT (sizeof(classes) / sizeof(*classes))
#define ROW_COUNT   (sizeof(rows) / sizeof(*rows))

/* ---- architectures ---- */

const struct mf_hub_class *mf_hub_class_find(struct mf_str hf,
                                             struct mf_str type)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (hf.at ? mf_str_is(hf, classes[i].hf)
                  : mf_str_is(type, classes[i].type))
            return &classes[i];
    return NULL;
}

const struct mf_hub_class *mf_hub_class_named(struct mf_str name)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (mf_str_is(name, classes[i].gguf) ||
            mf_str_is(name, classes[i].type))
            return &classes[i];
    return NULL;
}

enum mf_status mf_hub_class_unknown(struct mf_env *env, struct mf_str name)
{
    char known[160] = "";
    size_t used = 0;

    for (size_t i = 0; i < CLASS_COUNT && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i > 0 ? ", " : "", classes[i].type);
    return mf_decline(env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                      "renaming tensors of architecture '%s' is not supported; "
                      "supported are %s",
                      mf_quote(name).text, known);
}

/* ---- names ---- */

const char *const mf_block_prefix[2] = {
    [MF_SIDE_GGUF] = "blk.",
    [MF_SIDE_HF] = "model.layers.",
};

/* Only numbers without leading zeros: with "blk.01." and "blk.1." two tensors
 * would get the same new name. */
struct mf_str mf_rename_block(struct mf_str name, enum mf_name_side side)
{
    const char *prefix = mf_block_prefix[side];
    size_t start = strlen(prefix), end = start;

    if (!mf_str_begins(name, prefix))
        return (struct mf_str){ NULL, 0 };
    while (end < name.size && name.at[end] >= '0' && name.at[end] <= '9')
        end++;
    if (end == start || end == name.size || name.at[end] != '.' ||
        (name.at[start] == '0' && end - start > 1))
        return (struct mf_str){ NULL, 0 };
    return (struct mf_str){ name.at + start, end - start };
}

const struct mf_rename_row *mf_rename_row_find(unsigned family,
                                               enum mf_name_side side,
                                               struct mf_str name,
                                               struct mf_str *block)
{
    struct mf_str rest = name;

    assert(family != 0 && (side == MF_SIDE_GGUF || side == MF_SIDE_HF));
    *block = mf_rename_block(name, side);
    if (block->at) {
        rest.at = block->at + block->size + 1;
        rest.size = (size_t)(name.at + name.size - rest.at);
    }
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].families & family && rows[i].name[side][0] &&
            rows[i].block == (block->at != NULL) &&
            mf_str_is(rest, rows[i].name[side]))
            return &rows[i];
    return NULL;
}
