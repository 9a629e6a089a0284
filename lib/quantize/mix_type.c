/* SPDX-License-Identifier: MIT
 *
 * mix_type.c - the type of one tensor in a mix
 *
 * How llama-quantize decides, which is what must come out here, oddities
 * included.  A mix has one type for most tensors.  A tensor whose errors hurt
 * more gets another one, by a chain of conditions on
 *
 *   - its kind, by a part of its name (PART), and the mix;
 *   - the model: experts, heads per group, whether it counts as "the 70B
 * model";
 *   - its position among tensors of its kind.  use_more_bits gives more bits to
 *     the first and last eighth and every third one in between, since errors in
 *     early and late layers weigh most.
 *
 * The chain became the RULE rows of mix.def, in its order: an else-if is a
 * later row.  Positions are the oddity.  llama-quantize counts attn_v,
 * ffn_down, ffn_gate and ffn_up as it comes to them, sorted by block: a tensor
 * whose type the user chose counts, one that is not quantized does not.  attn_v
 * is counted out of all such tensors, the forward layers out of the number of
 * blocks; with experts, of which a block may have many, the block's number is
 * used instead, except in the mixes of one and two bits, which count on.
 *
 * After that come the user's own types, and last the fallback for rows that are
 * not whole blocks.
 */
#include <assert.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/quantize/mix.h"

/* ---- the tables ---- */

enum mix_number {
#define MIX(NAME, ...)   NAME,
#define PLAIN(NAME, ...) NAME,
#include "lib/quantize/mix.def"
#undef MIX
#undef PLAIN
    LIST_END
};

/* Lists of mixes, for the column of rules. */
#define MIXES(...)                                                             \
    (const uint8_t[])                                                          \
    {                                                                          \
        __VA_ARGS__, LIST_END                                                  \
    }
#define LOW IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ2_M
#define ALL NULL

_Static_assert(LIST_END <= UINT8_MAX, "a mix is a byte in a list");

enum part {
    ANY,
    OTHER,
    OUTPUT,
    EMBEDDING,
#define PART(PART, text) PART,
#include "lib/quantize/mix.def"
#undef PART
};

static const struct part_row {
    const char *text;
    enum part part;
} parts[] = {
#define PART(PART, text) { text, PART },
#include "lib/quantize/mix.def"
#undef PART
};

/* What a rule can depend on, apart from the kind of tensor.  The position of a
 * tensor is its number among those of its kind, or its block's. */
enum condition {
    ALWAYS = 0,
    FALCON = 1 << 0,
    NOT_FALCON = 1 << 1,
    IMATRIX = 1 << 2,
    NO_IMATRIX = 1 << 3,
    EXPERTS_4 = 1 << 4, /* or more */
    EXPERTS_8 = 1 << 5, /* exactly */
    NOT_EXPERTS_8 = 1 << 6,
    GROUPS_OF_4 = 1 << 7, /* or more heads share keys and values */
    MODEL_70B = 1 << 8,
    ODD = 1 << 9, /* rows are not whole blocks of the mix's type */
    FIRST_2 = 1 << 10,
    FIRST_4 = 1 << 11,
    EIGHTH = 1 << 12, /* in the first eighth */
    SIXTEENTH = 1 << 13,
    MIDDLE = 1 << 14,    /* after the first eighth and before the last */
    MORE_BITS = 1 << 15, /* outside the middle, or every third one in it */
    SEVERAL = 1 << 16    /* matrices in one tensor, as experts are */
};

static const struct rule {
    enum part part;
    const uint8_t *mixes; /* numbers up to LIST_END; NULL: all */
    unsigned when;        /* enum condition */
    enum mf_type type;
} rules[] = {
#define RULE(PART, which, when, TYPE) { PART, which, when, MF_TYPE_##TYPE },
#include "lib/quantize/mix.def"
#undef RULE
};

static const struct fallback {
    enum mf_type type, other;
} fallbacks[] = {
#define FALLBACK(TYPE, other) { MF_TYPE_##TYPE, MF_TYPE_##other },
#include "lib/quantize/mix.def"
#undef FALLBACK
};

static const char *const unquantized[] = {
#define KEEP(text) text,
#include "lib/quantize/mix.def"
#undef KEEP
};

static const char *const unquantized_names[] = {
#define KEEP_WHOLE(text) text,
#include "lib/quantize/mix.def"
#undef KEEP_WHOLE
};

static const char *const tied[] = {
#define TIED(text) text,
#include "lib/quantize/mix.def"
#undef TIED
};

static const struct large_model {
    const char *name;
    bool grouped;
} large_models[] = {
#define LARGE(name, grouped) { name, grouped },
#include "lib/quantize/mix.def"
#undef LARGE
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- the model ---- */

/* The large model whose heads share keys and values to such a degree that more
 * bits for these cost next to nothing. */
static bool is_70b(const struct mf_mix *mix, struct mf_str architecture,
                   uint64_t heads, uint64_t shared)
{
    for (size_t i = 0; i < COUNT(large_models); i++)
        if (mf_str_is(architecture, large_models[i].name))
            return mix->blocks == 80 &&
                   (!large_models[i].grouped || heads != shared);
    return false;
}

static enum mf_status read_counts(struct mf_mix *mix,
                                  const struct mf_draft *draft,
                                  struct mf_str architecture)
{
    uint64_t heads, shared;

    if (mf_draft_number(draft, "*.block_count", &mix->blocks) != MF_OK ||
        mf_draft_number(draft, "*.expert_count", &mix->experts) != MF_OK ||
        mf_draft_number(draft, "*.attention.head_count", &heads) != MF_OK ||
        mf_draft_number(draft, "*.attention.head_count_kv", &shared) != MF_OK)
        return draft->env->error.status;
    if (!mf_draft_find_of(draft, "*.attention.head_count_kv"))
        shared = heads;
    if (shared > 0 && heads / shared >= 4)
        mix->conditions |= GROUPS_OF_4;
    if (is_70b(mix, architecture, heads, shared))
        mix->conditions |= MODEL_70B;
    return MF_OK;
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
    for (size_t i = 0; i < COUNT(tied); i++)
        mix->tied |= mf_str_is(architecture, tied[i]);
    return MF_OK;
}

void mf_mix_share_facts(struct mf_mix *mix, const struct mf_mix *known,
                        bool has_imatrix)
{
    mix->conditions = (known->conditions & ~(unsigned)(IMATRIX | NO_IMATRIX)) |
                      (has_imatrix ? IMATRIX : NO_IMATRIX);
    mix->blocks = known->blocks;
    mix->experts = known->experts;
    mix->tied = known->tied;
    mix->has_output = known->has_output;
    mix->value_count = known->value_count;
}

void mf_mix_count(struct mf_mix *mix, struct mf_str name)
{
    if (mf_str_holds(name, "attn_v.weight") ||
        mf_str_holds(name, "attn_qkv.weight") ||
        mf_str_holds(name, "attn_kv_b.weight"))
        mix->value_count++;
    else if (!mix->tied && mf_str_is(name, "output.weight"))
        mix->has_output = true;
}

/* ---- which tensors ---- */

/* Without dimensions of 1 at the slow end. */
static uint32_t real_rank(const struct mf_draft_tensor *tensor,
                          bool fastest_first)
{
    uint32_t rank = tensor->rank;

    while (rank > 1 &&
           tensor->dim[fastest_first ? rank - 1 : tensor->rank - rank] == 1)
        rank--;
    return rank;
}

bool mf_mix_selects(const struct mf_mix *mix,
                    const struct mf_draft_tensor *tensor, bool fastest_first)
{
    struct mf_str name = tensor->name;

    if (mix->copy || real_rank(tensor, fastest_first) < 2 ||
        !mf_str_ends(name, "weight") ||
        (mix->options->leave_output && mf_str_is(name, "output.weight")))
        return false;
    for (size_t i = 0; i < COUNT(unquantized); i++)
        if (mf_str_holds(name, unquantized[i]))
            return false;
    for (size_t i = 0; i < COUNT(unquantized_names); i++)
        if (mf_str_is(name, unquantized_names[i]))
            return false;
    return true;
}

/* ---- which type ---- */

static enum part part_of(const struct mf_mix *mix, struct mf_str name)
{
    if (!mix->tied && mf_str_is(name, "output.weight"))
        return OUTPUT;
    if (mf_str_is(name, "token_embd.weight"))
        return mix->has_output ? EMBEDDING : OUTPUT;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (mf_str_holds(name, parts[i].text))
            return parts[i].part;
    return OTHER;
}

static unsigned position_conditions(uint64_t i, uint64_t count)
{
    uint64_t eighth = count / 8, last = 7 * count / 8;
    unsigned conditions = 0;

    if (i < 2)
        conditions |= FIRST_2;
    if (i < 4)
        conditions |= FIRST_4;
    if (i < eighth)
        conditions |= EIGHTH;
    if (i < count / 16)
        conditions |= SIXTEENTH;
    if (i >= eighth && i < last)
        conditions |= MIDDLE;
    if (i < eighth || i >= last || (i - eighth) % 3 == 2)
        conditions |= MORE_BITS;
    return conditions;
}

/* Whether a list of mixes includes the row. */
static bool is_in(const uint8_t *mixes, size_t row)
{
    if (!mixes)
        return true;
    while (*mixes != LIST_END && *mixes != row)
        mixes++;
    return *mixes != LIST_END;
}

/* The position of a forward layer.  Those of experts come in any number and
 * order, so their block counts; the mixes of the fewest bits count them all the
 * same. */
static enum mf_status forward_position(const struct mf_mix *mix,
                                       struct mf_str name, uint64_t *counter,
                                       unsigned *conditions)
{
    uint64_t i = (*counter)++, block;

    if (mix->experts > 1 && !is_in(MIXES(LOW), mix->row)) {
        if (!mf_block_number(name, &block) || block >= mix->blocks)
            return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "tensor '%s' is not in one of the model's %" PRIu64
                           " blocks, and its type depends on its block",
                           mf_quote(name).text, mix->blocks);
        i = block;
    }
    *conditions |= position_conditions(i, mix->blocks);
    return MF_OK;
}

static enum mf_status add_position(struct mf_mix *mix, enum part part,
                                   struct mf_str name, unsigned *conditions)
{
    switch (part) {
    case V:
        *conditions |= position_conditions(mix->values++, mix->value_count);
        return MF_OK;
    case DOWN:
        return forward_position(mix, name, &mix->downs, conditions);
    case GATE:
        return forward_position(mix, name, &mix->gates, conditions);
    case UP:
        return forward_position(mix, name, &mix->ups, conditions);
    default:
        return MF_OK;
    }
}

static bool rule_applies(const struct rule *rule, const struct mf_mix *mix,
                         enum part part, unsigned conditions)
{
    return (rule->part == part || rule->part == ANY) &&
           is_in(rule->mixes, mix->row) && (rule->when & ~conditions) == 0;
}

static enum mf_status mixed_type(struct mf_mix *mix, struct mf_str name,
                                 const struct mf_mix_kind *kind,
                                 enum mf_type *out)
{
    enum part part = (enum part)kind->part;
    unsigned conditions = mix->conditions | (kind->several ? SEVERAL : 0);

    if (kind->row % mf_types[mix->type].block != 0)
        conditions |= ODD;
    if (add_position(mix, part, name, &conditions) != MF_OK)
        return mix->env->error.status;
    if (part == OUTPUT && mix->output != MF_TYPE_UNKNOWN) {
        *out = mix->output;
        return MF_OK;
    }
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rule_applies(&rules[i], mix, part, conditions)) {
            *out = rules[i].type;
            break;
        }
    return MF_OK;
}

/* Types that the user requests override those of the mix. */
static void requested_type(const struct mf_mix *mix, struct mf_str name,
                           enum mf_type *out)
{
    if (mix->embedding != MF_TYPE_UNKNOWN &&
        mf_str_is(name, "token_embd.weight")) {
        *out = mix->embedding;
        return;
    }
    if (mix->output != MF_TYPE_UNKNOWN && mf_str_is(name, "output.weight")) {
        *out = mix->output;
        return;
    }
    for (size_t i = 0; i < mix->options->tensor_type_count; i++)
        if (mf_pattern_matches(&mix->pattern[i], name)) {
            *out = mix->pattern_type[i];
            if (mix->options->tensor_type_tensors)
                mix->options->tensor_type_tensors[i]++;
            return;
        }
}

static enum mf_status fallback_type(struct mf_mix *mix, struct mf_str name,
                                    uint64_t row, enum mf_type *type)
{
    if (row % mf_types[*type].block == 0 || mf_type_flows(*type))
        return MF_OK;
    for (size_t i = 0; i < COUNT(fallbacks); i++)
        if (fallbacks[i].type == *type) {
            *type = row % mf_types[fallbacks[i].other].block == 0
                        ? fallbacks[i].other
                        : MF_TYPE_F16;
            mix->fallbacks++;
            return MF_OK;
        }
    return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s' cannot be %s: its row length %" PRIu64
                   " is not a multiple of %u",
                   mf_quote(name).text, mf_types[*type].name, row,
                   mf_types[*type].block);
}

struct mf_mix_kind mf_mix_kind_of(const struct mf_mix *mix,
                                  const struct mf_draft_tensor *tensor,
                                  bool fastest_first)
{
    uint32_t rank = tensor->rank;

    assert(rank > 0);
    return (struct mf_mix_kind){
        .part = (uint8_t)part_of(mix, tensor->name),
        .several = rank > 2 && tensor->dim[fastest_first ? 2 : rank - 3] > 1,
        .row = tensor->dim[fastest_first ? 0 : rank - 1],
    };
}

enum mf_status mf_mix_type(struct mf_mix *mix, struct mf_str name,
                           const struct mf_mix_kind *kind, enum mf_type *out)
{
    enum mf_type type = mix->type;

    assert(!mix->copy);
    if (mix->row < F16 && !mix->options->pure &&
        mixed_type(mix, name, kind, &type) != MF_OK)
        return mix->env->error.status;
    requested_type(mix, name, &type);
    *out = type;
    return fallback_type(mix, name, kind->row, out);
}

bool mf_mix_is_embedding(struct mf_str name)
{
    return mf_str_is(name, "token_embd.weight");
}

bool mf_mix_needs_weights(const struct mf_mix *mix, struct mf_str name,
                          enum mf_type type)
{
    if (mf_mix_is_embedding(name) || mf_str_is(name, "output.weight"))
        return false;         /* no matrix has entries for them */
    if (type == MF_TYPE_Q2_K) /* other mixes make up for it elsewhere */
        return mix->row == Q2_K_S;
    return mf_mix_type_needs_imatrix(type);
}
