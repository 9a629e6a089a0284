/* SPDX-License-Identifier: MIT
 *
 * mix_type.c - the type of one tensor in a mix
 */
#include <string.h>

#include "lib/base/str.h"
#include "lib/quantize/mix.h"

/* ---- the tables ---- */

enum number {
#define MIX(NAME, ...)   NUMBER_##NAME,
#define PLAIN(NAME, ...) NUMBER_##NAME,
#include "lib/quantize/mix.def"
#undef MIX
#undef PLAIN
};

/* The last mixes share a bit: no rule tells one of them from the others. */
#define BIT_MAX            30
#define BIT_NUMBER(number) ((number) < BIT_MAX ? (number) : BIT_MAX)

/* One bit each, for the column of rules. */
enum bit {
#define MIX(NAME, ...) NAME = 1 << BIT_NUMBER(NUMBER_##NAME),
#include "lib/quantize/mix.def"
#undef MIX
    LOW = IQ1_S | IQ1_M | IQ2_XXS | IQ2_XS | IQ2_S | IQ2_M,
    ALL = INT32_MAX
};

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

/* What a rule may ask for.  A tensor's place is its number among those of its
 * kind, or that of its block, out of so many. */
enum fact {
    ALWAYS = 0,
    FALCON = 1 << 0,
    NOT_FALCON = 1 << 1,
    IMATRIX = 1 << 2,
    NO_IMATRIX = 1 << 3,
    EXPERTS_4 = 1 << 4, /* or more */
    EXPERTS_8 = 1 << 5, /* exactly */
    NOT_EXPERTS_8 = 1 << 6,
    GROUPS_OF_4 = 1 << 7, /* or more heads that share keys and values */
    MODEL_70B = 1 << 8,
    ODD = 1 << 9, /* its rows are not whole blocks of the mix's type */
    FIRST_2 = 1 << 10,
    FIRST_4 = 1 << 11,
    EIGHTH = 1 << 12, /* in the first one */
    SIXTEENTH = 1 << 13,
    MIDDLE = 1 << 14,    /* neither in the first eighth nor in the last */
    MORE_BITS = 1 << 15, /* in one of these, or a third one between them */
    SEVERAL = 1 << 16    /* matrices in one tensor, as experts are */
};

static const struct rule {
    enum part part;
    unsigned mixes, when;
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

static const char *const kept[] = {
#define KEEP(text) text,
#include "lib/quantize/mix.def"
#undef KEEP
};

static const char *const kept_whole[] = {
#define KEEP_WHOLE(text) text,
#include "lib/quantize/mix.def"
#undef KEEP_WHOLE
};

static const char *const tied[] = {
#define TIED(text) text,
#include "lib/quantize/mix.def"
#undef TIED
};

static const struct large {
    const char *name;
    bool grouped;
} larges[] = {
#define LARGE(name, grouped) { name, grouped },
#include "lib/quantize/mix.def"
#undef LARGE
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- the model ---- */

/* Whether this is the one large model whose heads share so much that more bits
 * for what they share cost nothing. */
static bool is_70b(const struct mf_mix *mix, struct mf_str architecture,
                   uint64_t heads, uint64_t shared)
{
    for (size_t i = 0; i < COUNT(larges); i++)
        if (mf_str_is(architecture, larges[i].name))
            return mix->blocks == 80 && (!larges[i].grouped || heads != shared);
    return false;
}

static enum mf_status learn_numbers(struct mf_mix *mix,
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
        mix->facts |= GROUPS_OF_4;
    if (is_70b(mix, architecture, heads, shared))
        mix->facts |= MODEL_70B;
    return MF_OK;
}

enum mf_status mf_mix_learn(struct mf_mix *mix, const struct mf_draft *facts,
                            bool has_imatrix)
{
    const struct mf_entry *entry = mf_draft_find(facts, "general.architecture");
    struct mf_str architecture = { "", 0 };

    if (entry && entry->type == MF_VALUE_STRING && entry->text.at)
        architecture = entry->text;
    mix->facts = has_imatrix ? IMATRIX : NO_IMATRIX;
    if (learn_numbers(mix, facts, architecture) != MF_OK)
        return facts->env->error.status;
    mix->facts |= mf_str_is(architecture, "falcon") ? FALCON : NOT_FALCON;
    mix->facts |= mix->experts == 8 ? EXPERTS_8 : NOT_EXPERTS_8;
    if (mix->experts >= 4)
        mix->facts |= EXPERTS_4;
    for (size_t i = 0; i < COUNT(tied); i++)
        mix->tied |= mf_str_is(architecture, tied[i]);
    return MF_OK;
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

/* Dimensions, those of 1 at the slow end left out. */
static uint32_t real_rank(const struct mf_draft_tensor *tensor,
                          bool fastest_first)
{
    uint32_t rank = tensor->rank;

    while (rank > 1 &&
           tensor->dim[fastest_first ? rank - 1 : tensor->rank - rank] == 1)
        rank--;
    return rank;
}

bool mf_mix_takes(const struct mf_mix *mix,
                  const struct mf_draft_tensor *tensor, bool fastest_first)
{
    static const char tail[] = "weight";
    const size_t size = sizeof(tail) - 1;
    struct mf_str name = tensor->name;

    if (mix->copy || real_rank(tensor, fastest_first) < 2 || name.size < size ||
        memcmp(name.at + name.size - size, tail, size) != 0 ||
        (mix->options->leave_output && mf_str_is(name, "output.weight")))
        return false;
    for (size_t i = 0; i < COUNT(kept); i++)
        if (mf_str_holds(name, kept[i]))
            return false;
    for (size_t i = 0; i < COUNT(kept_whole); i++)
        if (mf_str_is(name, kept_whole[i]))
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

static unsigned place_facts(uint64_t i, uint64_t count)
{
    uint64_t eighth = count / 8, last = 7 * count / 8;
    unsigned facts = 0;

    if (i < 2)
        facts |= FIRST_2;
    if (i < 4)
        facts |= FIRST_4;
    if (i < eighth)
        facts |= EIGHTH;
    if (i < count / 16)
        facts |= SIXTEENTH;
    if (i >= eighth && i < last)
        facts |= MIDDLE;
    if (i < eighth || i >= last || (i - eighth) % 3 == 2)
        facts |= MORE_BITS;
    return facts;
}

/* The place of one of the forward layers.  Those of experts come in any number
 * and order: their block tells.  The mixes of the fewest bits count all the
 * same. */
static enum mf_status forward_place(const struct mf_mix *mix,
                                    struct mf_str name, uint64_t *counter,
                                    unsigned *facts)
{
    uint64_t i = (*counter)++, block;

    if (mix->experts > 1 && !(LOW >> BIT_NUMBER(mix->row) & 1)) {
        if (!mf_block_of(name, &block) || block >= mix->blocks)
            return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "tensor '%s' is in none of the model's %" PRIu64
                           " blocks, and its type depends on that",
                           mf_quote(name).text, mix->blocks);
        i = block;
    }
    *facts |= place_facts(i, mix->blocks);
    return MF_OK;
}

static enum mf_status place(struct mf_mix *mix, enum part part,
                            struct mf_str name, unsigned *facts)
{
    switch (part) {
    case V:
        *facts |= place_facts(mix->values++, mix->value_count);
        return MF_OK;
    case DOWN:
        return forward_place(mix, name, &mix->downs, facts);
    case GATE:
        return forward_place(mix, name, &mix->gates, facts);
    case UP:
        return forward_place(mix, name, &mix->ups, facts);
    default:
        return MF_OK;
    }
}

static bool is_for(const struct rule *rule, const struct mf_mix *mix,
                   enum part part, unsigned facts)
{
    return (rule->part == part || rule->part == ANY) &&
           rule->mixes >> BIT_NUMBER(mix->row) & 1 &&
           (rule->when & ~facts) == 0;
}

static enum mf_status mixed_type(struct mf_mix *mix, struct mf_str name,
                                 uint64_t row, bool several, enum mf_type *out)
{
    enum part part = part_of(mix, name);
    unsigned facts = mix->facts | (several ? SEVERAL : 0);

    if (row % mf_types[mix->type].block != 0)
        facts |= ODD;
    if (place(mix, part, name, &facts) != MF_OK)
        return mix->env->error.status;
    if (part == OUTPUT && mix->output != MF_TYPE_UNKNOWN) {
        *out = mix->output;
        return MF_OK;
    }
    for (size_t i = 0; i < COUNT(rules); i++)
        if (is_for(&rules[i], mix, part, facts)) {
            *out = rules[i].type;
            break;
        }
    return MF_OK;
}

/* What the user says of it goes before what the mix does. */
static void asked_type(const struct mf_mix *mix, struct mf_str name,
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
        if (mf_pattern_found(&mix->pattern[i], name)) {
            *out = mix->pattern_type[i];
            if (mix->options->tensor_type_tensors)
                mix->options->tensor_type_tensors[i]++;
            return;
        }
}

static enum mf_status fitting_type(struct mf_mix *mix, struct mf_str name,
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
                   "tensor '%s' cannot be %s: its rows of %" PRIu64
                   " are not whole blocks of %u",
                   mf_quote(name).text, mf_types[*type].name, row,
                   mf_types[*type].block);
}

enum mf_status mf_mix_type(struct mf_mix *mix,
                           const struct mf_draft_tensor *tensor,
                           bool fastest_first, enum mf_type *out)
{
    uint32_t rank = tensor->rank;
    uint64_t row = tensor->dim[fastest_first ? 0 : rank - 1];
    bool several = rank > 2 && tensor->dim[fastest_first ? 2 : rank - 3] > 1;
    struct mf_str name = tensor->name;
    enum mf_type type = mix->type;

    if (mix->row < NUMBER_F16 && !mix->options->pure &&
        mixed_type(mix, name, row, several, &type) != MF_OK)
        return mix->env->error.status;
    asked_type(mix, name, &type);
    *out = type;
    return fitting_type(mix, name, row, out);
}

bool mf_mix_is_embedding(struct mf_str name)
{
    return mf_str_is(name, "token_embd.weight");
}

bool mf_mix_needs_weights(const struct mf_mix *mix, struct mf_str name,
                          enum mf_type type)
{
    if (mf_mix_is_embedding(name) || mf_str_is(name, "output.weight"))
        return false; /* no matrix has an entry for them */
    switch (type) {
    case MF_TYPE_IQ1_S:
    case MF_TYPE_IQ1_M:
    case MF_TYPE_IQ2_XXS:
    case MF_TYPE_IQ2_XS:
    case MF_TYPE_IQ2_S:
    case MF_TYPE_IQ3_XXS:
        return true;
    case MF_TYPE_Q2_K: /* other mixes make up for it elsewhere */
        return mix->row == NUMBER_Q2_K_S;
    default:
        return false;
    }
}
