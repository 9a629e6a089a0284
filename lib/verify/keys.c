/* SPDX-License-Identifier: MIT
 *
 * keys.c - metadata of the model that is not as in the source
 *
 * Both sides are compared as GGUF has them, whatever their formats, by a digest
 * of each value: a value may be a vocabulary of megabytes.  Keys that
 * quantizing and splitting write themselves say nothing about the origin.
 */
#include "lib/base/str.h"
#include "lib/io/digest.h"
#include "lib/quantize/mix.h"
#include "lib/verify/verify.h"

struct side {
    struct mf_draft own;         /* made for this; else not initialized */
    const struct mf_draft *keys; /* own, or the draft of the tensors */
    struct mf_names names;
};

struct keys {
    struct mf_verification *work;
    struct side source, model;
    struct mf_digest *digest;
    bool typed; /* the type of a number is part of the model's value */
};

static bool is_written_by_quantize(struct mf_str key)
{
    static const char *const keys[] = {
        "general.file_type",   "general.quantization_version", "split.no",
        "split.count",         "split.tensors.count",          MF_EFFORT_KEY,
        MF_EFFORT_VERSION_KEY,
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (mf_str_is(key, keys[i]))
            return true;
    return mf_str_begins(key, "quantize.imatrix.");
}

static enum mf_status index_side(struct keys *keys, struct side *side)
{
    struct mf_verification *work = keys->work;

    side->names = (struct mf_names){ .name_at = mf_draft_key_at,
                                     .table = side->keys,
                                     .seed = work->env->hash_seed };
    if (mf_names_init(&side->names, &work->arena, side->keys->entry_count) !=
        MF_OK)
        return work->env->error.status;
    for (size_t i = 0; i < side->keys->entry_count; i++)
        mf_names_add(&side->names, i);
    return MF_OK;
}

/* The draft that lists the tensors has the metadata, too, if its format is
 * typed: also what comes from the source's sidecars, which others lack. */
static enum mf_status begin_source(struct keys *keys)
{
    struct mf_verification *work = keys->work;

    keys->source.keys = &work->draft;
    if (work->draft.format->values == MF_VALUES_TYPED)
        return MF_OK;
    keys->source.keys = &keys->source.own;
    return mf_carry_as_gguf(&keys->source.own, work->source);
}

/* Adds a key to the list of those that changed.  Its text is the model's or the
 * source's, or lives in a draft that is released before. */
static enum mf_status add(struct mf_verification *work,
                          const struct mf_entry *source,
                          const struct mf_entry *model, unsigned what)
{
    struct mf_str key = source ? source->key : model->key;
    struct mf_changed_key *changed =
        mf_arena_take(&work->arena, sizeof(*changed));
    char *text = changed ? mf_arena_text(&work->arena, key.size) : NULL;

    if (!text)
        return work->env->error.status;
    memcpy(text, key.at, key.size);
    *changed = (struct mf_changed_key){
        .key = { .key = { text, key.size },
                 .what = what,
                 .source = source ? source->origin - 1 : SIZE_MAX,
                 .model = model ? model->origin - 1 : SIZE_MAX },
    };
    *work->changed_end = changed;
    work->changed_end = &changed->next;
    work->result.changed_keys++;
    return MF_OK;
}

static bool same_type(const struct mf_entry *a, const struct mf_entry *b)
{
    return a->type == b->type && (a->type != MF_VALUE_ARRAY || a->of == b->of);
}

static enum mf_status compare(struct keys *keys, const struct mf_entry *source,
                              const struct mf_entry *model)
{
    struct mf_verification *work = keys->work;
    uint8_t before[MF_DIGEST_MAX] = { 0 }, after[MF_DIGEST_MAX] = { 0 };
    bool same = !keys->typed || same_type(source, model);

    if (same &&
        (mf_entry_sum(keys->digest, work->env, source, before) != MF_OK ||
         mf_entry_sum(keys->digest, work->env, model, after) != MF_OK))
        return work->env->error.status;
    if (same && memcmp(before, after, sizeof(before)) == 0)
        return MF_OK;
    return add(work, source, model, MF_DIFFERS_DATA);
}

/* The keys of one side: of the source all, of the model those that only it
 * has. */
static enum mf_status compare_side(struct keys *keys, bool of_model)
{
    const struct side *side = of_model ? &keys->model : &keys->source;
    const struct side *other = of_model ? &keys->source : &keys->model;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < side->keys->entry_count && status == MF_OK; i++) {
        const struct mf_entry *entry = &side->keys->entry[i];
        size_t found = mf_names_find(&other->names, entry->key);

        if (is_written_by_quantize(entry->key) ||
            mf_names_find(&side->names, entry->key) != i)
            continue;
        if (found == MF_NOT_FOUND)
            status = of_model ? add(keys->work, NULL, entry, MF_ONLY_B)
                              : add(keys->work, entry, NULL, MF_ONLY_A);
        else if (!of_model)
            status = compare(keys, entry, &other->keys->entry[found]);
    }
    return status;
}

static enum mf_status compare_keys(struct keys *keys)
{
    struct mf_verification *work = keys->work;

    keys->typed = work->model->format->values == MF_VALUES_TYPED;
    keys->model.keys = &keys->model.own;
    keys->digest = mf_digest_new(work->env, MF_XXH3_128);
    if (!keys->digest || begin_source(keys) != MF_OK ||
        mf_carry_as_gguf(&keys->model.own, work->model) != MF_OK ||
        index_side(keys, &keys->source) != MF_OK ||
        index_side(keys, &keys->model) != MF_OK ||
        compare_side(keys, false) != MF_OK)
        return work->env->error.status;
    return compare_side(keys, true);
}

enum mf_status mf_verify_keys(struct mf_verification *work)
{
    struct keys keys = { .work = work };
    enum mf_status status;

    mf_draft_init(&keys.source.own, work->env, work->draft.format);
    mf_draft_init(&keys.model.own, work->env, work->draft.format);
    status = compare_keys(&keys);
    mf_digest_free(keys.digest);
    mf_draft_release(&keys.source.own);
    mf_draft_release(&keys.model.own);
    return status;
}
