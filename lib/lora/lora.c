/* SPDX-License-Identifier: MIT
 *
 * lora.c - reads an adapter: its configuration, and its tensors' names
 */
#include "lib/lora/lora.h"

#include <assert.h>
#include <math.h>

#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"

#define CONFIG "adapter_config.json"

static enum mf_status failed(const struct mf_lora *lora)
{
    return lora->env->error.status;
}

/* ---- names ---- */

/* Removes every occurrence of a text, in place. */
static void remove_all(char *text, struct mf_str *name, const char *what)
{
    size_t size = strlen(what), out = 0;

    for (size_t i = 0; i < name->size;) {
        if (name->size - i >= size && memcmp(text + i, what, size) == 0)
            i += size;
        else
            text[out++] = text[i++];
    }
    name->size = out;
}

/* How names of parts end, in the folder and in GGUF. */
static const struct {
    const char *end, *instead;
    enum mf_lora_part part;
    bool embedding;
} ends[] = {
    { ".lora_A.weight", ".weight", MF_LORA_A, false },
    { ".lora_B.weight", ".weight", MF_LORA_B, false },
    { ".lora_embedding_A", ".weight", MF_LORA_A, true },
    { ".lora_embedding_B", ".weight", MF_LORA_B, true },
    { ".base_layer.weight", ".base_layer.weight", MF_LORA_BASE, false },
    { ".lora_a", "", MF_LORA_A, false },
    { ".lora_b", "", MF_LORA_B, false },
};
#define FIRST_OF_GGUF 5
#define ENDS          (sizeof(ends) / sizeof(*ends))

static enum mf_status read_name(struct mf_lora *lora,
                                const struct mf_record *record,
                                struct mf_lora_entry *entry)
{
    struct mf_str name = { record->name, record->name_size };
    size_t first = lora->gguf ? FIRST_OF_GGUF : 0;
    size_t last = lora->gguf ? ENDS : FIRST_OF_GGUF;
    char *text = mf_arena_text(&lora->arena, name.size + sizeof(".weight"));

    if (!text)
        return failed(lora);
    if (name.size > 0)
        memcpy(text, name.at, name.size);
    *entry = (struct mf_lora_entry){ .part = MF_LORA_OTHER };
    if (!lora->gguf)
        remove_all(text, &name, "base_model.model.");
    name.at = text;
    for (size_t i = first; i < last; i++) {
        if (!mf_str_ends(name, ends[i].end))
            continue;
        name.size -= strlen(ends[i].end);
        memcpy(text + name.size, ends[i].instead, strlen(ends[i].instead));
        name.size += strlen(ends[i].instead);
        entry->part = ends[i].part;
        entry->embedding = ends[i].embedding;
        break;
    }
    text[name.size] = 0;
    entry->name = name;
    if (lora->gguf)
        entry->embedding = mf_str_is(name, "token_embd.weight");
    return MF_OK;
}

static int compare(struct mf_str a, struct mf_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_lora_entry *entry = table;
    int order = compare(entry[a].name, entry[b].name);

    return order != 0 ? order < 0 : entry[a].part < entry[b].part;
}

static enum mf_status read_names(struct mf_lora *lora)
{
    const struct mf_index *index = &lora->model->index;
    size_t count = index->tensor_count;

    lora->entry =
        mf_arena_take(&lora->arena, (count + 1) * sizeof(*lora->entry));
    lora->order =
        mf_arena_take(&lora->arena, (count + 1) * sizeof(*lora->order));
    if (!lora->entry || !lora->order)
        return failed(lora);
    for (size_t i = 0; i < count; i++) {
        if (read_name(lora, &index->tensor[i], &lora->entry[i]) != MF_OK)
            return failed(lora);
        lora->order[i] = (uint32_t)i;
    }
    mf_sort(lora->order, count, is_before, lora->entry);
    return MF_OK;
}

/* ---- the configuration ---- */

static bool number_of(const struct mf_node *node, double *out)
{
    union mf_number number;

    if (!node || node->kind != MF_NODE_NUMBER ||
        !mf_number_as(node->type, node->number, MF_VALUE_F64, &number))
        return false;
    *out = number.f64;
    return true;
}

static enum mf_status read_config(struct mf_lora *lora)
{
    const struct mf_node *alpha;

    if (mf_sidecar_tree(lora->model, &lora->arena, CONFIG, MF_SIDECAR_LIMIT,
                        &lora->config) != MF_OK)
        return failed(lora);
    if (!lora->config || lora->config->kind != MF_NODE_OBJECT)
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this is not an adapter: its folder has no '" CONFIG
                       "'");
    alpha = mf_node_at(lora->config, "lora_alpha");
    if (number_of(alpha, &lora->alpha) && isfinite(lora->alpha))
        return MF_OK;
    return mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "'" CONFIG "': 'lora_alpha' is %s, expected a finite number",
                   !alpha                          ? "missing"
                   : alpha->kind == MF_NODE_NUMBER ? "not finite"
                                                   : mf_node_kind_name(alpha));
}

static bool text_is(const struct mf_model *model, const char *key,
                    const char *text)
{
    struct mf_meta meta;

    return mf_meta_find(model, key, strlen(key), &meta, NULL) &&
           meta.type == MF_VALUE_STRING && mf_str_is(meta.text, text);
}

static enum mf_status read_metadata(struct mf_lora *lora)
{
    static const char key[] = "adapter.lora.alpha";
    struct mf_meta meta;
    union mf_number number;

    if (!mf_model_is_lora(lora->model))
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this is not a LoRA adapter: 'general.type' is not "
                       "'adapter', or 'adapter.type' not 'lora'");
    if (!mf_meta_find(lora->model, key, strlen(key), &meta, NULL) ||
        !mf_number_as(meta.type, meta.number, MF_VALUE_F64, &number) ||
        !isfinite(number.f64))
        return mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s' is missing, or not a finite number", key);
    lora->alpha = number.f64;
    return MF_OK;
}

bool mf_model_is_lora(const struct mf_model *model)
{
    struct mf_arena arena;
    bool found;

    if (model->format->values == MF_VALUES_TYPED)
        return text_is(model, "general.type", "adapter") &&
               text_is(model, "adapter.type", "lora");
    if (model->file[0].source.fd < 0)
        return false;
    mf_arena_init(&arena, model->env);
    found = mf_sidecar_exists(model, &arena, CONFIG);
    mf_arena_release(&arena);
    return found;
}

/* ---- opening ---- */

static enum mf_status read_all(struct mf_lora *lora)
{
    enum mf_status status;

    lora->gguf = lora->model->format->values == MF_VALUES_TYPED;
    if (lora->model->index.damage_count > 0)
        return mf_decline(lora->env, MF_REASON_INPUT_INVALID, MF_NO_OFFSET,
                          "the adapter has %zu error%s",
                          lora->model->index.damage_count,
                          lora->model->index.damage_count == 1 ? "" : "s");
    status = lora->gguf ? read_metadata(lora) : read_config(lora);
    return status == MF_OK ? read_names(lora) : status;
}

enum mf_status mf_lora_read(struct mf_lora *lora, struct mf_model *model)
{
    *lora = (struct mf_lora){ .env = model->env, .model = model, .factor = 1 };
    mf_arena_init(&lora->arena, lora->env);
    return read_all(lora);
}

enum mf_status mf_lora_open(struct mf_lora *lora, struct mf_env *env,
                            const char *path)
{
    *lora = (struct mf_lora){ .env = env, .factor = 1 };
    mf_arena_init(&lora->arena, env);
    if (mf_model_open(env, path, NULL, &lora->model) != MF_OK)
        return failed(lora);
    lora->owned = true;
    return read_all(lora);
}

void mf_lora_close(struct mf_lora *lora)
{
    if (!lora->env)
        return;
    if (lora->owned)
        mf_model_close(lora->model);
    mf_arena_release(&lora->arena);
    *lora = (struct mf_lora){ .env = NULL };
}
