/* SPDX-License-Identifier: MIT
 *
 * mix_names.c - which mix a name means, and other types that options name
 */
#include <string.h>

#include "lib/base/str.h"
#include "lib/codec/codecs.h"
#include "lib/quantize/mix.h"

/* ---- the tables ---- */

static const struct mix {
    const char *name;
    uint32_t file_type;
    enum mf_type type;
    bool imatrix;
} mixes[] = {
#define MIX(NAME, number, TYPE, imatrix)                                       \
    { #NAME, number, MF_TYPE_##TYPE, imatrix },
#define PLAIN(NAME, number, TYPE) { #NAME, number, MF_TYPE_##TYPE, false },
#include "lib/quantize/mix.def"
#undef MIX
#undef PLAIN
};

#define MIX_COUNT (sizeof(mixes) / sizeof(*mixes))

enum mix_number {
#define MIX(NAME, ...)   NUMBER_##NAME,
#define PLAIN(NAME, ...) NUMBER_##NAME,
#include "lib/quantize/mix.def"
#undef MIX
#undef PLAIN
};

static const struct alias {
    const char *name;
    size_t row;
} aliases[] = {
#define ALIAS(name, NAME) { name, NUMBER_##NAME },
#include "lib/quantize/mix.def"
#undef ALIAS
};

static const struct type_row {
    enum mf_type type;
    uint32_t file_type;
    bool imatrix;
} types[] = {
#define TYPE(TYPE, number, imatrix) { MF_TYPE_##TYPE, number, imatrix },
#include "lib/quantize/mix.def"
#undef TYPE
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

bool mf_mix_at(size_t index, struct mf_mix_info *out)
{
    if (!out)
        return false;

    const struct mf_codec *codec;

    if (index >= MIX_COUNT)
        return false;
    codec = mixes[index].type == MF_TYPE_UNKNOWN
                ? NULL
                : mf_codec_of(mf_isas, mixes[index].type);
    *out = (struct mf_mix_info){
        .name = mixes[index].name,
        .file_type = mixes[index].file_type,
        .type = mixes[index].type == MF_TYPE_UNKNOWN
                    ? ""
                    : mf_types[mixes[index].type].name,
        .needs_imatrix = mixes[index].imatrix,
        .available = !codec || mf_codec_encodes(codec),
    };
    return true;
}

/* ---- names ---- */

static bool same_but_case(const char *a, const char *b)
{
    return mf_str_alike((struct mf_str){ a, strlen(a) },
                        (struct mf_str){ b, strlen(b) });
}

static size_t find_mix(const char *name)
{
    for (size_t i = 0; i < MIX_COUNT; i++)
        if (same_but_case(mixes[i].name, name))
            return i;
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (same_but_case(aliases[i].name, name))
            return aliases[i].row;
    return MF_NOT_FOUND;
}

bool mf_mix_is_copy(const char *name)
{
    return find_mix(name) == NUMBER_COPY;
}

/* By general.file_type, in digits.  COPY has F32's, which comes first. */
static size_t find_mix_number(const char *digits)
{
    uint32_t number = 0;

    if (*digits == 0 || strlen(digits) > 4)
        return MF_NOT_FOUND;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9')
            return MF_NOT_FOUND;
        number = number * 10 + (uint32_t)(*digits - '0');
    }
    for (size_t i = 0; i < MIX_COUNT; i++)
        if (mixes[i].file_type == number)
            return i;
    return MF_NOT_FOUND;
}

/* NULL for a type that tensors cannot be quantized to. */
static const struct type_row *find_type(const char *name)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (same_but_case(mf_types[types[i].type].name, name))
            return &types[i];
    return NULL;
}

/* The name that a number means: an alias where the mix has one. */
static const char *preferred_name(size_t row)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (aliases[i].row == row)
            return aliases[i].name;
    return mixes[row].name;
}

const char *mf_mix_name(const char *type)
{
    if (!type)
        return NULL;

    const struct type_row *found;
    size_t row;

    for (size_t i = 0; i < COUNT(aliases); i++)
        if (same_but_case(aliases[i].name, type))
            return aliases[i].name;
    row = find_mix(type);
    if (row != MF_NOT_FOUND)
        return mixes[row].name;
    row = find_mix_number(type);
    if (row != MF_NOT_FOUND)
        return preferred_name(row);
    found = find_type(type);
    return found ? mf_types[found->type].name : NULL;
}

static enum mf_status parse_type(struct mf_env *env, const char *name,
                                 enum mf_type *out)
{
    const struct type_row *found = name ? find_type(name) : NULL;

    *out = found ? found->type : MF_TYPE_UNKNOWN;
    if (name && !found)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "'%s' is not a type that a tensor can have",
                       mf_quote((struct mf_str){ name, strlen(name) }).text);
    return MF_OK;
}

/* ---- options ---- */

static enum mf_status parse_mix(struct mf_mix *mix, const char *name)
{
    const struct type_row *type = NULL;

    mix->row = find_mix(name);
    if (mix->row == MF_NOT_FOUND)
        mix->row = find_mix_number(name);
    if (mix->row == MF_NOT_FOUND) {
        type = find_type(name);
        if (!type)
            return mf_fail(
                mix->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "unknown quantization type '%s'",
                mf_quote((struct mf_str){ name, strlen(name) }).text);
    }
    mix->type = type ? type->type : mixes[mix->row].type;
    mix->file_type = type ? type->file_type : mixes[mix->row].file_type;
    mix->copy = mix->type == MF_TYPE_UNKNOWN;
    return MF_OK;
}

static enum mf_status compile_patterns(struct mf_mix *mix,
                                       struct mf_arena *arena)
{
    const struct mf_quantize_options *options = mix->options;
    size_t count = options->tensor_type_count;

    if (count > MF_PATTERNS_MAX)
        return mf_fail(mix->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%zu patterns given, at most %d allowed", count,
                       MF_PATTERNS_MAX);
    if (count == 0)
        return MF_OK;
    if (options->tensor_type_tensors)
        memset(options->tensor_type_tensors, 0,
               count * sizeof(*options->tensor_type_tensors));
    mix->pattern = mf_arena_take(arena, count * sizeof(*mix->pattern));
    mix->pattern_type =
        mf_arena_take(arena, count * sizeof(*mix->pattern_type));
    if (!mix->pattern || !mix->pattern_type)
        return mix->env->error.status;
    for (size_t i = 0; i < count; i++)
        if (mf_pattern_init(&mix->pattern[i], arena,
                            options->tensor_types[i].pattern) != MF_OK ||
            parse_type(mix->env, options->tensor_types[i].type,
                       &mix->pattern_type[i]) != MF_OK)
            return mix->env->error.status;
    return MF_OK;
}

enum mf_status mf_mix_init(struct mf_mix *mix, struct mf_arena *arena,
                           const struct mf_quantize_options *options)
{
    *mix = (struct mf_mix){ .env = arena->env, .options = options };
    if (parse_mix(mix, options->type) != MF_OK ||
        parse_type(mix->env, options->output_type, &mix->output) != MF_OK ||
        parse_type(mix->env, options->embedding_type, &mix->embedding) != MF_OK)
        return mix->env->error.status;
    if (mix->copy && (options->output_type || options->embedding_type ||
                      options->tensor_type_count > 0))
        return mf_fail(mix->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "COPY keeps all types, but other types are given");
    mf_mix_find_rules(mix);
    return compile_patterns(mix, arena);
}

uint32_t mf_mix_file_type(enum mf_type type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return types[i].file_type;
    return 0;
}

bool mf_mix_type_needs_imatrix(enum mf_type type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return types[i].imatrix;
    return false;
}
