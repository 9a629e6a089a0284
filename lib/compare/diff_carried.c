/* SPDX-License-Identifier: MIT
 *
 * diff_carried.c - metadata of models of two formats
 *
 * Formats have different keys and types for the same value.  So both sides are
 * converted to GGUF's, as mf_model_convert would, and compared there: by key,
 * and by a digest of each value, read event by event in the type that it has
 * there.  Digests, because a value may be a vocabulary of megabytes, and the
 * two sides need not list their keys in one order.
 */
#include <string.h>

#include "lib/compare/diff.h"
#include "lib/draft/carry.h"

struct side {
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_names names;
    uint8_t (*sum)[MF_DIGEST_MAX]; /* of each entry */
    size_t *entry;                 /* of each metadatum of the model */
};

struct carried {
    struct side a, b;
    struct mf_digest *digest;
    mf_diff_found *found;
    void *user;
};

/* ---- a value's digest ---- */

struct summing {
    struct mf_digest *digest;
    enum mf_value_type type; /* of numbers */
    uint64_t text;           /* bytes of the string so far */
};

static void add_number(struct mf_digest *digest, char tag, uint64_t number)
{
    mf_digest_add(digest, &tag, 1);
    mf_digest_add(digest, &number, sizeof(number));
}

/* Tells -1 as i64 from 2^64 - 1 as u64, which have the same bits. */
static char sign_of(enum mf_value_type type, union mf_number number)
{
    return mf_value_is_signed(type) && number.i64 < 0 ? '-' : '+';
}

/* Each string is followed by its length, so that different lists of strings
 * never give the same bytes. */
static void add_text(struct summing *summing, const struct mf_value *value)
{
    mf_digest_add(summing->digest, value->text.at, value->text.size);
    summing->text += value->text.size;
    if (value->more)
        return;
    add_number(summing->digest, 't', summing->text);
    summing->text = 0;
}

static enum mf_status add_event(void *user, const struct mf_value *value)
{
    struct summing *summing = user;
    union mf_number number;

    if (value->event == MF_EVENT_BEGIN || value->event == MF_EVENT_END)
        add_number(summing->digest, 'b', value->event);
    else if (value->event == MF_EVENT_ITEM && value->type == MF_VALUE_BOOL)
        add_number(summing->digest, 'l', value->number.boolean);
    else if (value->event == MF_EVENT_ITEM &&
             mf_value_as(value, summing->type, &number))
        add_number(summing->digest, sign_of(summing->type, number), number.u64);
    else
        add_text(summing, value);
    return MF_OK;
}

enum mf_status mf_entry_sum(struct mf_digest *digest, struct mf_env *env,
                            const struct mf_entry *entry,
                            uint8_t out[MF_DIGEST_MAX])
{
    struct summing summing = { .digest = digest,
                               .type = entry->type == MF_VALUE_ARRAY
                                           ? entry->of
                                           : entry->type };

    mf_digest_restart(digest);
    if (mf_entry_read(env, entry, add_event, &summing) != MF_OK)
        return env->error.status;
    mf_digest_finish(digest, out);
    return MF_OK;
}

static enum mf_status sum_up(const struct carried *carried, struct side *side)
{
    struct mf_draft *draft = &side->draft;

    for (size_t i = 0; i < draft->entry_count; i++)
        if (mf_entry_sum(carried->digest, draft->env, &draft->entry[i],
                         side->sum[i]) != MF_OK)
            return draft->env->error.status;
    return MF_OK;
}

/* ---- a side ---- */

static enum mf_status carry(const struct carried *carried, struct side *side)
{
    struct mf_draft *draft = &side->draft;
    struct mf_env *env = side->model->env;
    size_t count = side->model->index.meta_count;

    /* What the format leaves out is compared as it is in the file. */
    if (mf_carry_as_gguf(draft, side->model) != MF_OK)
        return env->error.status;
    side->sum = mf_arena_take(&draft->arena,
                              (draft->entry_count + 1) * sizeof(*side->sum));
    side->entry =
        mf_arena_take(&draft->arena, (count + 1) * sizeof(*side->entry));
    if (!side->sum || !side->entry)
        return env->error.status;
    memset(side->sum, 0, draft->entry_count * sizeof(*side->sum));
    memset(side->entry, 0, count * sizeof(*side->entry));
    side->names = (struct mf_names){ .name_at = mf_draft_key_at,
                                     .table = draft,
                                     .seed = env->hash_seed };
    if (mf_names_init(&side->names, &draft->arena, draft->entry_count) != MF_OK)
        return env->error.status;
    for (size_t i = 0; i < draft->entry_count; i++) {
        mf_names_add(&side->names, i);
        if (draft->entry[i].origin > 0)
            side->entry[draft->entry[i].origin - 1] = i + 1;
    }
    return sum_up(carried, side);
}

/* ---- both ---- */

/* The entry made from value i; NULL where there is no such entry. */
static const struct mf_entry *entry_of(const struct side *side, size_t i)
{
    return side->entry[i] > 0 ? &side->draft.entry[side->entry[i] - 1] : NULL;
}

/* The other side's value for this one: the one that is converted to the same
 * key, or that has the same key in its file.  *made: there is none, but one is
 * computed for GGUF. */
static size_t partner_of(const struct side *side, size_t i,
                         const struct side *other, bool *made)
{
    const struct mf_entry *entry = entry_of(side, i);
    size_t found =
        entry ? mf_names_find(&other->names, entry->key) : MF_NOT_FOUND;

    *made = found != MF_NOT_FOUND && other->draft.entry[found].origin == 0;
    if (found != MF_NOT_FOUND && !*made)
        return other->draft.entry[found].origin - 1;
    return mf_names_find(&other->model->index.meta_names,
                         side->model->index.meta[i].key);
}

static bool same_sums(const struct carried *carried, size_t a, size_t b)
{
    size_t left = carried->a.entry[a], right = carried->b.entry[b];

    return left > 0 && right > 0 &&
           memcmp(carried->a.sum[left - 1], carried->b.sum[right - 1],
                  MF_DIGEST_MAX) == 0;
}

/* Not a duplicate key, and not padding. */
static bool counts(struct side *side, size_t i)
{
    const struct mf_index *index = &side->model->index;

    return mf_names_find(&index->meta_names, index->meta[i].key) == i &&
           (side->entry[i] > 0 ||
            !mf_carry_omits(&side->draft, side->model, i));
}

static enum mf_status compare_one(struct carried *carried, size_t i)
{
    struct mf_difference difference = { .what = MF_DIFFERS_DATA, .a = i };
    bool made, equal = false;

    difference.b = partner_of(&carried->a, i, &carried->b, &made);
    if (difference.b == MF_NOT_FOUND)
        difference.what = MF_ONLY_A;
    else if (same_sums(carried, i, difference.b))
        equal = true;
    else if (mf_meta_equal(carried->a.model, i, carried->b.model, difference.b,
                           &equal, &difference.first) != MF_OK)
        return carried->a.model->env->error.status;
    if (!equal && !made)
        carried->found(carried->user, &difference);
    return MF_OK;
}

static enum mf_status compare(struct carried *carried)
{
    struct side *a = &carried->a, *b = &carried->b;

    for (size_t i = 0; i < a->model->index.meta_count; i++)
        if (counts(a, i) && compare_one(carried, i) != MF_OK)
            return a->model->env->error.status;
    for (size_t i = 0; i < b->model->index.meta_count; i++) {
        struct mf_difference difference = { .what = MF_ONLY_B,
                                            .a = MF_NOT_FOUND,
                                            .b = i };
        bool made;

        if (counts(b, i) && partner_of(b, i, a, &made) == MF_NOT_FOUND && !made)
            carried->found(carried->user, &difference);
    }
    return MF_OK;
}

enum mf_status mf_diff_carried(struct mf_model *a, struct mf_model *b,
                               mf_diff_found *found, void *user)
{
    struct carried carried = {
        .a.model = a, .b.model = b, .found = found, .user = user
    };
    enum mf_status status;

    carried.digest = mf_digest_new(a->env, MF_XXH3_128);
    status =
        carried.digest ? carry(&carried, &carried.a) : a->env->error.status;
    if (status == MF_OK)
        status = carry(&carried, &carried.b);
    if (status == MF_OK)
        status = compare(&carried);
    mf_digest_free(carried.digest);
    mf_draft_release(&carried.a.draft);
    mf_draft_release(&carried.b.draft);
    return status;
}
