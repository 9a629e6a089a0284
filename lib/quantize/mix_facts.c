/* SPDX-License-Identifier: MIT
 *
 * mix_facts.c - what the types of a model's tensors depend on
 *
 * As llama-quantize has it, which loads the model's numbers with the code that
 * runs it: heads are counted in the first block, and an architecture may count
 * more layers than block_count says.
 */
#include "lib/quantize/mix_facts.h"

#include "lib/base/str.h"
#include "lib/quantize/mix.h"

static const struct large_model {
    const char *name;
    uint64_t blocks;
    bool grouped;
} large_models[] = {
#define LARGE(name, blocks, grouped) { name, blocks, grouped },
#include "lib/quantize/mix.def"
#undef LARGE
};

static const struct looped_model {
    const char *name;
    uint64_t more;
    const char *times;
} looped_models[] = {
#define LOOPS(name, more, times) { name, more, times },
#include "lib/quantize/mix.def"
#undef LOOPS
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* The large model whose heads share keys and values to such a degree that more
 * bits for these cost next to nothing. */
static bool is_70b(struct mf_str architecture, uint64_t blocks, uint64_t heads,
                   uint64_t shared)
{
    for (size_t i = 0; i < COUNT(large_models); i++)
        if (mf_str_is(architecture, large_models[i].name))
            return blocks == large_models[i].blocks &&
                   (!large_models[i].grouped || heads != shared);
    return false;
}

static enum mf_status read_heads(struct mf_mix *mix,
                                 const struct mf_draft *draft,
                                 struct mf_str architecture, uint64_t blocks)
{
    uint64_t heads, shared;

    if (mf_draft_number(draft, "*.attention.head_count", &heads) != MF_OK ||
        mf_draft_number(draft, "*.attention.head_count_kv", &shared) != MF_OK)
        return draft->env->error.status;
    if (!mf_draft_find_of(draft, "*.attention.head_count_kv"))
        shared = heads;
    if (shared > 0 && heads / shared >= 4)
        mix->conditions |= GROUPS_OF_4;
    if (is_70b(architecture, blocks, heads, shared))
        mix->conditions |= MODEL_70B;
    return MF_OK;
}

/* Every block is a layer, also one that predicts further tokens (next); in a
 * few architectures there are more layers than blocks. */
static enum mf_status count_layers(struct mf_mix *mix,
                                   const struct mf_draft *draft,
                                   struct mf_str architecture, uint64_t blocks,
                                   uint64_t next)
{
    uint64_t times = 0;

    mix->layers = blocks;
    for (size_t i = 0; i < COUNT(looped_models); i++) {
        const struct looped_model *model = &looped_models[i];

        if (!mf_str_is(architecture, model->name))
            continue;
        if (model->times &&
            mf_draft_number(draft, model->times, &times) != MF_OK)
            return draft->env->error.status;
        if (model->more > 0)
            mix->layers = blocks - next + model->more;
        else if (times > 1 && !mf_mul(blocks - next, times, &mix->layers))
            mix->layers = UINT64_MAX;
    }
    return MF_OK;
}

static enum mf_status read_counts(struct mf_mix *mix,
                                  const struct mf_draft *draft,
                                  struct mf_str architecture)
{
    uint64_t blocks, next;

    if (mf_draft_number(draft, "*.block_count", &blocks) != MF_OK ||
        mf_draft_number(draft, "*.nextn_predict_layers", &next) != MF_OK ||
        mf_draft_number(draft, "*.expert_count", &mix->experts) != MF_OK)
        return draft->env->error.status;
    if (next > blocks)
        next = 0;
    if (count_layers(mix, draft, architecture, blocks, next) != MF_OK)
        return draft->env->error.status;
    return read_heads(mix, draft, architecture, blocks - next);
}

enum mf_status mf_mix_read_facts(struct mf_mix *mix,
                                 const struct mf_draft *facts, bool has_imatrix)
{
    const struct mf_entry *entry = mf_draft_find(facts, "general.architecture");
    struct mf_str architecture = { "", 0 };

    if (entry && entry->type == MF_VALUE_STRING && entry->text.at)
        architecture = entry->text;
    mix->conditions = has_imatrix ? IMATRIX : NO_IMATRIX;
    if (read_counts(mix, facts, architecture) != MF_OK)
        return facts->env->error.status;
    mix->conditions |= mf_str_is(architecture, "falcon") ? FALCON : NOT_FALCON;
    mix->conditions |= mix->experts == 8 ? EXPERTS_8 : NOT_EXPERTS_8;
    if (mix->experts >= 4)
        mix->conditions |= EXPERTS_4;
    if (!mf_str_is(architecture, "bailingmoe3"))
        mix->conditions |= NOT_BAILING;
    return MF_OK;
}

void mf_mix_share_facts(struct mf_mix *mix, const struct mf_mix *known,
                        bool has_imatrix)
{
    mix->conditions = (known->conditions & ~(unsigned)(IMATRIX | NO_IMATRIX)) |
                      (has_imatrix ? IMATRIX : NO_IMATRIX);
    mix->layers = known->layers;
    mix->experts = known->experts;
    mix->has_output = known->has_output;
    mix->value_count = known->value_count;
}
