/* SPDX-License-Identifier: MIT
 *
 * former.c - config.json as metadata of GGUF, where no recipe is used
 */
#include "lib/hub/hub.h"

#include <assert.h>
#include <stdio.h>

#include "lib/folder/sidecar.h"
#include "lib/hub/config.h"
#include "lib/hub/rename_table.h"
#include "lib/hub/rope.h"
#include "lib/io/path.h"
#include "lib/tokenizer/tokenizer.h"

struct hub {
    struct mf_env *env;
    struct mf_draft *draft;
    const struct mf_model *model;
    struct mf_config config;
    const struct mf_hub_class *class;
};

static enum mf_status failed(const struct hub *hub)
{
    return hub->env->error.status;
}

/* ---- what GGUF cannot express ---- */

static bool has(const struct hub *hub, enum mf_config_field field)
{
    return hub->config.value[field].given;
}

static struct mf_str text_of(const struct hub *hub, enum mf_config_field field)
{
    const struct mf_config_value *value = &hub->config.value[field];

    return value->given ? (struct mf_str){ value->text, strlen(value->text) }
                        : (struct mf_str){ NULL, 0 };
}

static bool has_trait(const struct hub *hub, enum mf_hub_trait trait)
{
    return (hub->class->traits & trait) != 0;
}

static enum mf_status check_fields(struct hub *hub)
{
    const struct mf_config_value *partial =
        &hub->config.value[MF_CONFIG_PARTIAL];
    bool whole = !partial->given ||
                 (partial->type == MF_VALUE_F64 ? partial->number.f64 == 1
                                                : partial->number.u64 == 1);

    if (!hub->class)
        return mf_config_missing(hub->env, MF_CONFIG_CLASS);
    if (has(hub, MF_CONFIG_QUANTIZATION))
        return mf_config_unsupported(
            hub->env, mf_config_rows[MF_CONFIG_QUANTIZATION].path, "");
    for (unsigned i = 0; i < MF_CONFIG_COUNT; i++)
        if (mf_config_rows[i].needed && !has(hub, (enum mf_config_field)i))
            return mf_config_missing(hub->env, (enum mf_config_field)i);
    if (!has(hub, MF_CONFIG_HEADS_KV) && !has_trait(hub, MF_HUB_KV_IS_HEADS))
        return mf_config_missing(hub->env, MF_CONFIG_HEADS_KV);
    if (has_trait(hub, MF_HUB_PHI3_ROPE) && !has(hub, MF_CONFIG_ORIGINAL))
        return mf_config_missing(hub->env, MF_CONFIG_ORIGINAL);
    if (!whole && !has_trait(hub, MF_HUB_PHI3_ROPE))
        return mf_config_unsupported(
            hub->env, mf_config_rows[MF_CONFIG_PARTIAL].path, "");
    return mf_rope_check(hub->env, &hub->config, hub->class);
}

/* ---- adding to the draft ---- */

/* "*" in the pattern stands for the architecture. */
static bool key_matches(struct mf_str key, const char *architecture,
                        const char *pattern)
{
    size_t size = *pattern == '*' ? strlen(architecture) : 0;

    pattern += *pattern == '*';
    return key.size == size + strlen(pattern) &&
           memcmp(key.at, architecture, size) == 0 &&
           memcmp(key.at + size, pattern, strlen(pattern)) == 0;
}

/* A new entry of that key; *out is NULL where the draft has one already, which
 * stays: metadata of the model itself goes before that of sidecars. */
static enum mf_status add(struct hub *hub, const char *pattern,
                          enum mf_value_type type, struct mf_entry **out)
{
    struct mf_draft *draft = hub->draft;
    const char *architecture = hub->class->gguf;
    size_t room = strlen(architecture) + strlen(pattern);
    char *key;

    *out = NULL;
    for (size_t i = 0; i < draft->entry_count; i++)
        if (key_matches(draft->entry[i].key, architecture, pattern))
            return MF_OK;
    key = mf_arena_text(&draft->arena, room);
    *out = key ? mf_draft_add_entry(draft) : NULL;
    if (!*out)
        return failed(hub);
    snprintf(key, room + 1, "%s%s", *pattern == '*' ? architecture : "",
             pattern + (*pattern == '*'));
    (*out)->key = (struct mf_str){ key, strlen(key) };
    (*out)->type = type;
    return MF_OK;
}

static enum mf_status add_number(struct hub *hub, const char *pattern,
                                 enum mf_value_type type,
                                 const struct mf_config_value *value)
{
    struct mf_entry *entry;

    if (add(hub, pattern, type, &entry) != MF_OK)
        return failed(hub);
    if (entry) /* its range was checked when config.json was read */
        mf_number_as(value->type, value->number, type, &entry->number);
    return MF_OK;
}

static enum mf_status add_count(struct hub *hub, const char *pattern,
                                uint64_t count)
{
    const struct mf_config_value value = { .type = MF_VALUE_U64,
                                           .number = { .u64 = count } };

    return add_number(hub, pattern, MF_VALUE_U32, &value);
}

static enum mf_status add_text(struct hub *hub, const char *pattern,
                               struct mf_str text)
{
    struct mf_entry *entry;

    if (add(hub, pattern, MF_VALUE_STRING, &entry) != MF_OK)
        return failed(hub);
    if (!entry)
        return MF_OK;
    entry->text = mf_draft_text(hub->draft, text);
    entry->count = text.size;
    return entry->text.at ? MF_OK : failed(hub);
}

/* A model is usually named by its folder. */
static enum mf_status add_name(struct hub *hub)
{
    const char *path = hub->model->file[0].path;
    const char *end = mf_base_name(path), *start;

    while (end > path && end[-1] == '/')
        end--;
    for (start = end; start > path && start[-1] != '/';)
        start--;
    if (end == start || *start == '.' ||
        !mf_text_is_utf8(start, (size_t)(end - start)))
        return MF_OK;
    return add_text(hub, "general.name",
                    (struct mf_str){ start, (size_t)(end - start) });
}

/* Only where all matrices have one type. */
static enum mf_status add_file_type(struct hub *hub)
{
    const struct mf_index *index = &hub->model->index;
    uint32_t type = MF_TYPE_UNKNOWN;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (record->rank < 2)
            continue;
        if (type != MF_TYPE_UNKNOWN && record->type != type)
            return MF_OK;
        type = record->type;
    }
    /* As llama.cpp numbers them: ALL_F32, MOSTLY_F16, MOSTLY_BF16. */
    return type == MF_TYPE_F32    ? add_count(hub, "general.file_type", 0)
           : type == MF_TYPE_F16  ? add_count(hub, "general.file_type", 1)
           : type == MF_TYPE_BF16 ? add_count(hub, "general.file_type", 32)
                                  : MF_OK;
}

static uint64_t count_of(const struct hub *hub, enum mf_config_field field)
{
    return hub->config.value[field].number.u64;
}

/* How many elements of a head rotate with the position. */
static enum mf_status add_rope_dimensions(struct hub *hub)
{
    const struct mf_config_value *partial =
        &hub->config.value[MF_CONFIG_PARTIAL];
    uint64_t width = count_of(hub, MF_CONFIG_EMBEDDING);
    uint64_t heads = count_of(hub, MF_CONFIG_HEADS);
    union mf_number factor = { .f64 = 1 };

    if (has(hub, MF_CONFIG_HEAD_SIZE)) {
        width = count_of(hub, MF_CONFIG_HEAD_SIZE);
        heads = 1;
    }
    if (width % heads != 0)
        return mf_fail(hub->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'hidden_size' %" PRIu64 " is not a multiple of "
                       "'num_attention_heads' %" PRIu64,
                       width, heads);
    if (partial->given)
        mf_number_as(partial->type, partial->number, MF_VALUE_F64, &factor);
    if (factor.f64 > 1)
        return mf_config_invalid(hub->env, MF_CONFIG_PARTIAL, MF_NO_OFFSET);
    return add_count(hub, "*.rope.dimension_count",
                     (uint64_t)(factor.f64 * (double)width) / heads);
}

static enum mf_status add_rope(struct hub *hub)
{
    const char *type = mf_rope_type(&hub->config);
    struct mf_str text = { type, strlen(type) };

    if (!has(hub, MF_CONFIG_THETA) && has(hub, MF_CONFIG_ROPE_THETA) &&
        add_number(hub, "*.rope.freq_base", MF_VALUE_F32,
                   &hub->config.value[MF_CONFIG_ROPE_THETA]) != MF_OK)
        return failed(hub);
    if (!*type || strcmp(type, "llama3") == 0)
        return MF_OK; /* llama3 becomes a tensor: rope.c */
    if (add_text(hub, "*.rope.scaling.type", text) != MF_OK ||
        add_number(hub, "*.rope.scaling.factor", MF_VALUE_F32,
                   &hub->config.value[MF_CONFIG_ROPE_FACTOR]) != MF_OK)
        return failed(hub);
    return has(hub, MF_CONFIG_ROPE_ORIGINAL)
               ? add_count(hub, "*.rope.scaling.original_context_length",
                           count_of(hub, MF_CONFIG_ROPE_ORIGINAL))
               : MF_OK;
}

/* A missing window is written as 0, which llama.cpp reads as none. */
static enum mf_status add_phi3_rope(struct hub *hub)
{
    uint64_t window =
        has(hub, MF_CONFIG_WINDOW) ? count_of(hub, MF_CONFIG_WINDOW) : 0;

    if (!has_trait(hub, MF_HUB_PHI3_ROPE))
        return MF_OK;
    if (add_count(hub, "*.rope.scaling.original_context_length",
                  count_of(hub, MF_CONFIG_ORIGINAL)) != MF_OK)
        return failed(hub);
    return add_count(hub, "*.attention.sliding_window", window);
}

static enum mf_status add_fields(struct hub *hub)
{
    const char *name = hub->class->gguf;

    if (add_text(hub, "general.architecture",
                 (struct mf_str){ name, strlen(name) }) != MF_OK ||
        add_name(hub) != MF_OK || add_file_type(hub) != MF_OK)
        return failed(hub);
    for (unsigned i = 0; i < MF_CONFIG_COUNT; i++)
        if (*mf_config_rows[i].gguf && has(hub, (enum mf_config_field)i) &&
            add_number(hub, mf_config_rows[i].gguf, mf_config_rows[i].type,
                       &hub->config.value[i]) != MF_OK)
            return failed(hub);
    if (!has(hub, MF_CONFIG_HEADS_KV) &&
        add_count(hub, mf_config_rows[MF_CONFIG_HEADS_KV].gguf,
                  count_of(hub, MF_CONFIG_HEADS)) != MF_OK)
        return failed(hub);
    if (has(hub, MF_CONFIG_HEAD_SIZE) &&
        add_count(hub, "*.attention.value_length",
                  count_of(hub, MF_CONFIG_HEAD_SIZE)) != MF_OK)
        return failed(hub);
    if (add_rope_dimensions(hub) != MF_OK || add_rope(hub) != MF_OK)
        return failed(hub);
    return add_phi3_rope(hub);
}

static enum mf_status put_tokenizer(struct hub *hub)
{
    static const char words[] = "sentencepiece | llama_hf | gpt2";
    struct mf_arena *arena = &hub->draft->arena;
    struct mf_vocab_request request = { .env = hub->env,
                                        .model = hub->model,
                                        .arena = arena,
                                        .arch = hub->class->gguf,
                                        .vocab_size = count_of(
                                            hub, MF_CONFIG_VOCABULARY) };
    struct mf_node *config;

    if (mf_sidecar_tree(hub->model, arena, "config.json", MF_SIDECAR_LIMIT,
                        &config) != MF_OK)
        return failed(hub);
    request.config = request.file = config;
    return mf_tokenizer_put(hub->draft, &request,
                            (struct mf_str){ words, strlen(words) });
}

/* With lossy a tokenizer that cannot be converted is left out. */
static enum mf_status add_tokenizer(struct hub *hub, size_t *left_out)
{
    struct mf_draft *draft = hub->draft;
    struct mf_env *env = hub->env;
    size_t before = draft->entry_count;

    if (put_tokenizer(hub) == MF_OK)
        return MF_OK;
    if (env->error.status == MF_ERR_MEMORY)
        return env->error.status;
    if (!draft->lossy && env->error.status != MF_ERR_LIMIT)
        env->error.rule = mf_reasons[MF_REASON_NOT_LOSSLESS].id;
    if (!draft->lossy)
        return env->error.status;
    mf_clear_error(env);
    draft->entry_count = before;
    ++*left_out;
    return MF_OK;
}

/* config.json, and the row of rename.def for it. */
static enum mf_status read_config(struct hub *hub)
{
    struct mf_str name, type;

    if (mf_config_read(&hub->config, hub->model, &hub->draft->arena) != MF_OK)
        return failed(hub);
    name = text_of(hub, MF_CONFIG_CLASS);
    type = text_of(hub, MF_CONFIG_MODEL_TYPE);
    hub->class = mf_hub_class_find(name, type);
    return !hub->class && (name.at || type.at)
               ? mf_hub_class_unknown(hub->env, name.at ? name : type)
               : MF_OK;
}

enum mf_status mf_hub_read(struct mf_draft *draft, const struct mf_model *model,
                           struct mf_hub_result *result)
{
    struct hub hub = { .env = model->env, .draft = draft, .model = model };

    assert(draft->format->values == MF_VALUES_TYPED); /* keys are GGUF's */
    if (read_config(&hub) != MF_OK)
        return failed(&hub);
    if (check_fields(&hub) != MF_OK || add_fields(&hub) != MF_OK)
        return mf_sidecar_fail(model->env, "config.json");
    if (!result)
        return MF_OK;
    result->predicting = count_of(&hub, MF_CONFIG_PREDICTING)
                             ? count_of(&hub, MF_CONFIG_PREDICTING)
                             : count_of(&hub, MF_CONFIG_PREDICTING2);
    if (mf_rope_add_factors(draft, model, &hub.config, &result->tensors) !=
        MF_OK)
        return mf_sidecar_fail(model->env, "config.json");
    return add_tokenizer(&hub, &result->left_out);
}

enum mf_status mf_hub_add_rope_factors(struct mf_draft *draft,
                                       const struct mf_model *model,
                                       struct mf_hub_result *result)
{
    struct hub hub = { .env = model->env, .draft = draft, .model = model };

    if (model->format->values == MF_VALUES_TYPED ||
        !mf_sidecar_exists(model, &draft->arena, "config.json"))
        return failed(&hub);
    if (read_config(&hub) != MF_OK)
        return failed(&hub);
    if (!mf_rope_needs_tensor(&hub.config))
        return MF_OK;
    if (check_fields(&hub) != MF_OK ||
        mf_rope_add_factors(draft, model, &hub.config, &result->tensors) !=
            MF_OK)
        return mf_sidecar_fail(model->env, "config.json");
    return MF_OK;
}
