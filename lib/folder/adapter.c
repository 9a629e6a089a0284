/* SPDX-License-Identifier: MIT
 *
 * adapter.c - reads an adapter: its tensors' names, and its configuration
 */
#include "lib/folder/adapter.h"

#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/model/nearby.h"

static enum mf_status failed(const struct mf_adapter *adapter)
{
    return adapter->model->env->error.status;
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
    enum mf_adapter_part part;
    bool embedding;
} ends[] = {
    { ".lora_A.weight", ".weight", MF_ADAPTER_A, false },
    { ".lora_B.weight", ".weight", MF_ADAPTER_B, false },
    { ".lora_embedding_A", ".weight", MF_ADAPTER_A, true },
    { ".lora_embedding_B", ".weight", MF_ADAPTER_B, true },
    { ".base_layer.weight", ".base_layer.weight", MF_ADAPTER_BASE, false },
    { ".lora_a", "", MF_ADAPTER_A, false },
    { ".lora_b", "", MF_ADAPTER_B, false },
};
#define FIRST_OF_GGUF 5
#define ENDS          (sizeof(ends) / sizeof(*ends))

static enum mf_status read_name(struct mf_adapter *adapter,
                                const struct mf_record *record,
                                struct mf_adapter_entry *entry)
{
    struct mf_str name = { record->name, record->name_size };
    size_t first = adapter->gguf ? FIRST_OF_GGUF : 0;
    size_t last = adapter->gguf ? ENDS : FIRST_OF_GGUF;
    char *text = mf_arena_text(adapter->arena, name.size + sizeof(".weight"));

    if (!text)
        return failed(adapter);
    if (name.size > 0)
        memcpy(text, name.at, name.size);
    *entry = (struct mf_adapter_entry){ .part = MF_ADAPTER_WHOLE };
    if (!adapter->gguf)
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
    if (adapter->gguf)
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
    const struct mf_adapter_entry *entry = table;
    int order = compare(entry[a].name, entry[b].name);

    return order != 0 ? order < 0 : entry[a].part < entry[b].part;
}

static enum mf_status read_names(struct mf_adapter *adapter)
{
    const struct mf_index *index = &adapter->model->index;
    size_t count = index->tensor_count;

    adapter->entry =
        mf_arena_take(adapter->arena, (count + 1) * sizeof(*adapter->entry));
    adapter->order =
        mf_arena_take(adapter->arena, (count + 1) * sizeof(*adapter->order));
    if (!adapter->entry || !adapter->order)
        return failed(adapter);
    for (size_t i = 0; i < count; i++) {
        if (read_name(adapter, &index->tensor[i], &adapter->entry[i]) != MF_OK)
            return failed(adapter);
        adapter->order[i] = (uint32_t)i;
    }
    mf_sort(adapter->order, count, is_before, adapter->entry);
    return MF_OK;
}

/* ---- places in the order ---- */

static size_t count_of(const struct mf_adapter *adapter)
{
    return adapter->model->index.tensor_count;
}

struct mf_adapter_entry *mf_adapter_at(const struct mf_adapter *adapter,
                                       size_t place)
{
    return &adapter->entry[adapter->order[place]];
}

const struct mf_record *mf_adapter_record(const struct mf_adapter *adapter,
                                          size_t place)
{
    return &adapter->model->index.tensor[adapter->order[place]];
}

size_t mf_adapter_find(const struct mf_adapter *adapter, struct mf_str name)
{
    size_t low = 0, high = count_of(adapter);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(mf_adapter_at(adapter, middle)->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mf_adapter_has(const struct mf_adapter *adapter, size_t place,
                    struct mf_str name, enum mf_adapter_part part)
{
    return place < count_of(adapter) &&
           mf_adapter_at(adapter, place)->part == part &&
           compare(mf_adapter_at(adapter, place)->name, name) == 0;
}

bool mf_adapter_is_pair(const struct mf_adapter *adapter, size_t place)
{
    struct mf_str name = mf_adapter_at(adapter, place)->name;

    return mf_adapter_has(adapter, place, name, MF_ADAPTER_A) &&
           mf_adapter_has(adapter, place + 1, name, MF_ADAPTER_B) &&
           !mf_adapter_has(adapter, place + 2, name, MF_ADAPTER_B);
}

/* ---- opening ---- */

static bool text_is(const struct mf_model *model, const char *key,
                    const char *text)
{
    const struct mf_meta *meta = mf_index_meta(&model->index, key);

    return meta && meta->type == MF_VALUE_STRING && meta->text.at &&
           mf_str_is(meta->text, text);
}

/* A folder may have both a model and the configuration of an adapter. */
static bool has_pairs(const struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        struct mf_str name = { index->tensor[i].name,
                               index->tensor[i].name_size };

        if (mf_str_holds(name, ".lora_") && /* nearly none does */
            (mf_str_holds(name, ".lora_A.") || mf_str_holds(name, ".lora_B.") ||
             mf_str_holds(name, ".lora_embedding_")))
            return true;
    }
    return false;
}

bool mf_model_is_adapter(const struct mf_model *model)
{
    return model->format->values == MF_VALUES_TYPED
               ? text_is(model, "general.type", "adapter")
               : (model->format->readers & MF_READER_TRANSFORMERS) != 0 &&
                     has_pairs(&model->index);
}

bool mf_model_is_lora(const struct mf_model *model)
{
    struct mf_arena arena;
    bool found;

    if (!mf_model_is_adapter(model))
        return false;
    if (model->format->values == MF_VALUES_TYPED)
        return text_is(model, "adapter.type", "lora");
    if (!mf_nearby_any(model))
        return false;
    mf_arena_init(&arena, model->env);
    found = mf_sidecar_exists(model, &arena, MF_ADAPTER_CONFIG);
    mf_arena_release(&arena);
    return found;
}

enum mf_status mf_adapter_read(struct mf_adapter *adapter,
                               struct mf_model *model, struct mf_arena *arena)
{
    *adapter = (struct mf_adapter){
        .model = model,
        .arena = arena,
        .gguf = model->format->values == MF_VALUES_TYPED,
    };
    if (!adapter->gguf && mf_nearby_any(model) &&
        mf_sidecar_tree(model, arena, MF_ADAPTER_CONFIG, MF_SIDECAR_LIMIT,
                        &adapter->config) != MF_OK)
        return failed(adapter);
    return mf_adapter_check_effort(adapter) == MF_OK ? read_names(adapter)
                                                     : failed(adapter);
}
