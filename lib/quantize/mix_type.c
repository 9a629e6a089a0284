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
 *     model";
 *   - its position among tensors of its kind.  use_more_bits gives more bits to
 *     the first and last eighth and every third one in between, since errors in
 *     early and late layers weigh most.
 *
 * The chain became the RULE rows of mix.def, in its order: an else-if is a
 * later row.  Positions are the oddity.  llama-quantize counts attn_v,
 * ffn_down, ffn_gate and ffn_up as it comes to them, sorted by block: a tensor
 * that is not quantized, or whose type the user chose, does not count.  attn_v
 * is counted out of all such tensors, the forward layers out of the number of
 * layers; with experts, of which a block may have many, the block's number is
 * used instead, except in the mixes of one and two bits, which count on.
 *
 * The user's types for embedding and output are taken as they are.  Patterns
 * replace the rules, and only where the mix quantizes at all.  Last comes the
 * fallback for rows that are not whole blocks.
 */
#include <assert.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/quantize/mix.h"
#include "lib/quantize/mix_facts.h"

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

enum part { ANY, OTHER, OUTPUT, EMBEDDING, V, K, Q, O, UP, GATE, DOWN };

static const struct part_row {
    const char *text;
    enum part part;
} parts[] = {
#define PART(PART, text) { text, PART },
#include "lib/quantize/mix.def"
#undef PART
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

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- the kind of a tensor ---- */

/* The kind by the name alone. */
static enum part part_named(struct mf_str name)
{
    if (mf_str_is(name, "output.weight"))
        return OUTPUT;
    if (mf_mix_is_embedding(name))
        return EMBEDDING;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (mf_str_holds(name, parts[i].text))
            return parts[i].part;
    return OTHER;
}

void mf_mix_count(struct mf_mix *mix, struct mf_str name)
{
    enum part part = part_named(name);

    mix->value_count += part == V;
    mix->has_output |= part == OUTPUT;
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

/* The position of a forward layer.  Tensors of experts come in any number and
 * order, so their block counts; the mixes of the fewest bits count them all the
 * same. */
static enum mf_status forward_position(const struct mf_mix *mix,
                                       struct mf_str name, uint64_t *counter,
                                       unsigned *conditions)
{
    uint64_t i = (*counter)++, block;

    if (mix->experts > 1 && !is_in(MIXES(LOW), mix->row)) {
        if (!mf_block_number(name, &block) || block >= mix->layers)
            return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "tensor '%s' is not in one of the model's %" PRIu64
                           " layers, and its type depends on its layer",
                           mf_quote(name).text, mix->layers);
        i = block;
    }
    *conditions |= position_conditions(i, mix->layers);
    return MF_OK;
}

static enum mf_status add_position(struct mf_mix *mix, enum part part,
                                   struct mf_str name, unsigned *conditions)
{
    if (mix->row == MXFP4_MOE) /* by shape alone */
        return MF_OK;
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

_Static_assert(COUNT(rules) <= MF_MIX_RULES, "room for all rules");
_Static_assert(COUNT(rules) <= UINT8_MAX, "a rule is a byte in a list");

void mf_mix_find_rules(struct mf_mix *mix)
{
    mix->rule_count = 0;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (is_in(rules[i].mixes, mix->row))
            mix->rule[mix->rule_count++] = (uint8_t)i;
}

static bool rule_applies(const struct rule *rule, enum part part,
                         unsigned conditions)
{
    return (rule->part == part || rule->part == ANY) &&
           (rule->when & ~conditions) == 0;
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
    for (size_t i = 0; i < mix->rule_count; i++) {
        const struct rule *rule = &rules[mix->rule[i]];

        if (rule_applies(rule, part, conditions)) {
            *out = rule->type;
            break;
        }
    }
    return MF_OK;
}

/* The number of the first pattern that matches; MF_NOT_FOUND: none does. */
static size_t find_pattern(const struct mf_mix *mix, struct mf_str name)
{
    for (size_t i = 0; i < mix->options->tensor_type_count; i++)
        if (mf_pattern_matches(&mix->pattern[i], name))
            return i;
    return MF_NOT_FOUND;
}

/* The type that the user requests for the embedding or the output;
 * MF_TYPE_UNKNOWN: none.  A pattern may name the second table of embeddings. */
static enum mf_type requested_type(const struct mf_mix *mix, struct mf_str name,
                                   size_t pattern)
{
    if (mix->embedding == MF_TYPE_UNKNOWN && mix->output == MF_TYPE_UNKNOWN)
        return MF_TYPE_UNKNOWN;
    switch (part_named(name)) {
    case EMBEDDING:
        return pattern != MF_NOT_FOUND &&
                       mf_str_is(name, "per_layer_token_embd.weight")
                   ? MF_TYPE_UNKNOWN
                   : mix->embedding;
    case OUTPUT:
        return mix->output;
    default:
        return MF_TYPE_UNKNOWN;
    }
}

static enum mf_status refuse_row(const struct mf_mix *mix, struct mf_str name,
                                 uint64_t row, enum mf_type type)
{
    return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s' cannot be %s: its row length %" PRIu64
                   " is not a multiple of %u",
                   mf_quote(name).text, mf_types[type].name, row,
                   mf_types[type].block);
}

/* The largest block of a type that gives way to F16 at once. */
#define SMALL_BLOCK 32

static enum mf_status fallback_type(struct mf_mix *mix, struct mf_str name,
                                    uint64_t row, enum mf_type *type)
{
    enum mf_type other = *type;

    if (row % mf_types[*type].block == 0 || mf_type_flows(*type))
        return MF_OK;
    for (size_t i = 0; i < COUNT(fallbacks); i++)
        if (fallbacks[i].type == *type)
            other = fallbacks[i].other;
    if (mf_types[other].block > SMALL_BLOCK)
        return refuse_row(mix, name, row, *type);
    mix->fallbacks++;
    mix->intended = *type;
    *type = row % mf_types[other].block == 0 ? other : MF_TYPE_F16;
    return MF_OK;
}

struct mf_mix_kind mf_mix_kind_of(const struct mf_mix *mix,
                                  const struct mf_draft_tensor *tensor,
                                  bool fastest_first)
{
    uint32_t rank = tensor->rank;
    enum part part = part_named(tensor->name);

    assert(rank > 0);
    if (part == EMBEDDING && !mix->has_output)
        part = OUTPUT;
    return (struct mf_mix_kind){
        .part = (uint8_t)part,
        .several = rank > 2 && tensor->dim[fastest_first ? 2 : rank - 3] > 1,
        .row = tensor->dim[fastest_first ? 0 : rank - 1],
    };
}

/* A type that the user requests for embedding or output has no fallback. */
static enum mf_status check_requested(const struct mf_mix *mix,
                                      struct mf_str name, uint64_t row,
                                      enum mf_type type)
{
    if (row % mf_types[type].block == 0 || mf_type_flows(type))
        return MF_OK;
    return refuse_row(mix, name, row, type);
}

enum mf_status mf_mix_type(struct mf_mix *mix, struct mf_str name,
                           const struct mf_mix_kind *kind, enum mf_type *out)
{
    size_t pattern = find_pattern(mix, name);

    assert(!mix->copy);
    *out = requested_type(mix, name, pattern);
    if (*out != MF_TYPE_UNKNOWN)
        return check_requested(mix, name, kind->row, *out);
    *out = mix->type;
    if (!mf_type_is_quantized(mix->type))
        return MF_OK;
    if (pattern != MF_NOT_FOUND) {
        *out = mix->pattern_type[pattern];
        if (mix->options->tensor_type_tensors)
            mix->options->tensor_type_tensors[pattern]++;
    } else if (mix->row < F16 && !mix->options->pure &&
               mixed_type(mix, name, kind, out) != MF_OK) {
        return mix->env->error.status;
    }
    return fallback_type(mix, name, kind->row, out);
}

bool mf_mix_is_embedding(struct mf_str name)
{
    return mf_str_is(name, "token_embd.weight") ||
           mf_str_is(name, "per_layer_token_embd.weight");
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
