/* SPDX-License-Identifier: MIT
 *
 * rope.c - how a model stretches positions (rope scaling)
 *
 * transformers describes a longer context in rope_scaling (older) or
 * rope_parameters.  GGUF has three ways to say the same:
 *
 *     linear, yarn   metadata: rope.scaling.type and factor (hub.c)
 *     llama3         a tensor, rope_freqs.weight: for each pair of elements the
 *                    factor by which its frequency is divided
 *     longrope       two tensors of factors, which Hugging Face's models keep
 *                    in config.json; not supported
 *
 * Llama 3's rule: waves much shorter than the original context keep their
 * frequency, waves longer than it are stretched by the whole factor, and in
 * between the two are mixed.  The factors are data of the model, so they must
 * be the same bits wherever they are computed: floats, in the order of
 * operations of llama.cpp's converter.
 */
#include "lib/hub/rope.h"

#include <math.h>

#define FREQUENCIES "rope_freqs.weight"
#define WIDTH_MAX   65536 /* of a head; real ones have 64 to 256 */

static bool has(const struct mf_config *config, enum mf_config_field field)
{
    return config->value[field].given;
}

const char *mf_rope_type(const struct mf_config *config)
{
    const struct mf_config_value *value = &config->value[MF_CONFIG_ROPE_TYPE];

    if (!value->given)
        value = &config->value[MF_CONFIG_ROPE_KIND];
    return !value->given || strcmp(value->text, "default") == 0 ? ""
                                                                : value->text;
}

bool mf_rope_needs_tensor(const struct mf_config *config)
{
    const char *type = mf_rope_type(config);

    return strcmp(type, "llama3") == 0 || strcmp(type, "longrope") == 0;
}

enum mf_status mf_rope_check(struct mf_env *env, const struct mf_config *config,
                             const struct mf_hub_class *class)
{
    static const enum mf_config_field fields[] = { MF_CONFIG_ROPE_FACTOR,
                                                   MF_CONFIG_ROPE_ORIGINAL,
                                                   MF_CONFIG_ROPE_LOW,
                                                   MF_CONFIG_ROPE_HIGH };
    const char *type = mf_rope_type(config);
    bool llama3 = (class->traits & MF_HUB_LLAMA3_ROPE) != 0 &&
                  strcmp(type, "llama3") == 0;
    /* How many of the fields it needs, from the first on. */
    size_t needed = strcmp(type, "linear") == 0 ? 1
                    : strcmp(type, "yarn") == 0 ? 2
                    : llama3                    ? 4
                                                : 0;

    if (*type && needed == 0)
        return mf_config_unsupported(env, "rope_type", type);
    if (*config->rope_key)
        return mf_config_unsupported(env, config->rope_key, "");
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        bool low_or_high = i >= 2;

        if (i < needed && !has(config, fields[i]))
            return mf_config_missing(env, fields[i]);
        if (low_or_high && i >= needed && has(config, fields[i]))
            return mf_config_unsupported(env, mf_config_rows[fields[i]].path,
                                         "");
    }
    return MF_OK;
}

/* ---- Llama 3 ---- */

struct rope {
    float theta, factor, low, high, original;
    uint64_t width; /* of a head */
};

static float float_of(const struct mf_config *config,
                      enum mf_config_field field)
{
    const struct mf_config_value *value = &config->value[field];
    union mf_number number = { .f64 = 0 };

    mf_number_as(value->type, value->number, MF_VALUE_F32, &number);
    return (float)number.f64;
}

static struct rope rope_of(const struct mf_config *config)
{
    const struct mf_config_value *value = config->value;
    struct rope rope = {
        .theta = 10000, /* transformers' default */
        .factor = float_of(config, MF_CONFIG_ROPE_FACTOR),
        .low = float_of(config, MF_CONFIG_ROPE_LOW),
        .high = float_of(config, MF_CONFIG_ROPE_HIGH),
        .original = float_of(config, MF_CONFIG_ROPE_ORIGINAL),
        .width = value[MF_CONFIG_EMBEDDING].number.u64 /
                 value[MF_CONFIG_HEADS].number.u64,
    };

    if (has(config, MF_CONFIG_THETA))
        rope.theta = float_of(config, MF_CONFIG_THETA);
    else if (has(config, MF_CONFIG_ROPE_THETA))
        rope.theta = float_of(config, MF_CONFIG_ROPE_THETA);
    if (has(config, MF_CONFIG_HEAD_SIZE))
        rope.width = value[MF_CONFIG_HEAD_SIZE].number.u64;
    return rope;
}

/* What the frequency of pair i is divided by.  In floats, step by step as in
 * transformers and llama.cpp's converter; only powf may differ from theirs in
 * the last bit. */
static float frequency_factor(const struct rope *rope, uint64_t i)
{
    const float pi = 3.14159265358979F;
    float power = (float)(2 * i) / (float)rope->width;
    float wave = 2 * pi / (1 / powf(rope->theta, power));
    float smooth =
        (rope->original / wave - rope->low) / (rope->high - rope->low);

    if (wave < rope->original / rope->high)
        return 1;
    if (wave > rope->original / rope->low)
        return rope->factor;
    return 1 / ((1 - smooth) / rope->factor + smooth);
}

static enum mf_status check_rope(struct mf_env *env, const struct rope *rope)
{
    if (rope->width < 2 || rope->width > WIDTH_MAX || rope->width % 2 != 0)
        return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "llama3 rope scaling of heads of %" PRIu64
                       " elements is not supported: an even number up to %d "
                       "expected",
                       rope->width, WIDTH_MAX);
    if (!(rope->high > rope->low))
        return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s' must be greater than '%s'",
                       mf_config_rows[MF_CONFIG_ROPE_HIGH].path,
                       mf_config_rows[MF_CONFIG_ROPE_LOW].path);
    return MF_OK;
}

/* Little-endian, as all of the draft. */
static void write_factors(const struct rope *rope, uint8_t *out)
{
    for (uint64_t i = 0; i < rope->width / 2; i++) {
        float factor = frequency_factor(rope, i);
        uint32_t bits;

        memcpy(&bits, &factor, sizeof(bits));
        for (size_t byte = 0; byte < sizeof(bits); byte++)
            out[i * sizeof(bits) + byte] = (uint8_t)(bits >> 8 * byte);
    }
}

enum mf_status mf_rope_add_factors(struct mf_draft *draft,
                                   const struct mf_model *model,
                                   const struct mf_config *config,
                                   size_t *tensors)
{
    struct rope rope = rope_of(config);
    uint64_t count = rope.width / 2;
    struct mf_draft_tensor *tensor;
    struct mf_source *source;
    struct mf_tensor existing;
    uint64_t *dim;
    uint8_t *bytes;

    if (strcmp(mf_rope_type(config), "llama3") != 0 ||
        mf_tensor_find(model, FREQUENCIES, strlen(FREQUENCIES), &existing,
                       NULL))
        return MF_OK;
    if (check_rope(draft->env, &rope) != MF_OK)
        return draft->env->error.status;
    bytes = mf_arena_take(&draft->arena, count * sizeof(float));
    source = mf_arena_take(&draft->arena, sizeof(*source));
    dim = mf_arena_take(&draft->arena, sizeof(*dim));
    tensor = bytes && source && dim ? mf_draft_add_tensor(draft) : NULL;
    if (!tensor)
        return draft->env->error.status;
    write_factors(&rope, bytes);
    mf_source_open_memory(FREQUENCIES, bytes, count * sizeof(float), source);
    *dim = count;
    tensor->name = (struct mf_str){ FREQUENCIES, strlen(FREQUENCIES) };
    tensor->dim = dim;
    tensor->rank = 1;
    tensor->from = tensor->type = MF_TYPE_F32;
    tensor->type_id = draft->format->type_id(MF_TYPE_F32);
    tensor->size = source->size;
    tensor->made = source;
    ++*tensors;
    return MF_OK;
}
