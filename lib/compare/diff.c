/* SPDX-License-Identifier: MIT
 *
 * diff.c - differences between two models
 *
 * Where a damaged file repeats a name, its first row is compared; the others
 * are left out.
 */
#include "lib/compare/diff.h"
#include "lib/base/options.h"

#include <string.h>

#include "lib/compare/compare.h"
#include "lib/model/steady.h"

struct diff {
    struct mf_model *a, *b;
    struct mf_pair *pair; /* tensors whose bytes are compared, in a's order */
    size_t pair_count;
    struct mf_valued *valued; /* whose numbers are, likewise */
    size_t valued_count;
    mf_diff_found *found;
    void *user;
};

static void report(const struct diff *diff,
                   const struct mf_difference *difference)
{
    if (difference->what != 0)
        diff->found(diff->user, difference);
}

/* ---- metadata ---- */

static enum mf_status diff_metadata(const struct diff *diff)
{
    const struct mf_index *a = &diff->a->index, *b = &diff->b->index;

    if (diff->a->format != diff->b->format)
        return mf_diff_carried(diff->a, diff->b, diff->found, diff->user);
    for (size_t i = 0; i < a->meta_count; i++) {
        struct mf_difference found = {
            .a = i, .b = mf_names_find(&b->meta_names, a->meta[i].key)
        };
        bool equal = true;

        if (mf_names_find(&a->meta_names, a->meta[i].key) != i)
            continue;
        if (found.b == MF_NOT_FOUND)
            found.what = MF_ONLY_A;
        else if (mf_meta_equal(diff->a, i, diff->b, found.b, &equal,
                               &found.first) != MF_OK)
            return diff->a->env->error.status;
        if (!equal)
            found.what = MF_DIFFERS_DATA;
        report(diff, &found);
    }
    for (size_t i = 0; i < b->meta_count; i++) {
        struct mf_difference found = { .what = MF_ONLY_B,
                                       .a = MF_NOT_FOUND,
                                       .b = i };

        if (mf_names_find(&a->meta_names, b->meta[i].key) == MF_NOT_FOUND &&
            mf_names_find(&b->meta_names, b->meta[i].key) == i)
            report(diff, &found);
    }
    return MF_OK;
}

/* ---- tensors ---- */

static size_t find(const struct mf_index *index, const struct mf_record *like)
{
    return mf_names_find(&index->tensor_names,
                         (struct mf_str){ like->name, like->name_size });
}

/* Unknown types are the same where one format gives them one number. */
static bool same_type(const struct diff *diff, const struct mf_record *a,
                      const struct mf_record *b)
{
    if (a->type != MF_TYPE_UNKNOWN || b->type != MF_TYPE_UNKNOWN)
        return a->type == b->type;
    return a->type_id == b->type_id && diff->a->format == diff->b->format;
}

/* A format lists the contiguous dimension either first or last. */
static bool same_shape(const struct diff *diff, const struct mf_record *a,
                       const struct mf_record *b)
{
    bool turned = diff->a->info.fastest_first != diff->b->info.fastest_first;

    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[turned ? a->rank - 1 - i : i])
            return false;
    return true;
}

/* Everything but the bytes; data of another size is different data. */
static unsigned compare_entries(const struct diff *diff,
                                const struct mf_record *a,
                                const struct mf_record *b)
{
    unsigned what = 0;

    if (!same_type(diff, a, b))
        what |= MF_DIFFERS_TYPE;
    if (!same_shape(diff, a, b))
        what |= MF_DIFFERS_SHAPE;
    if (what == 0 && a->size != b->size)
        what = MF_DIFFERS_DATA;
    return what;
}

static bool comparable(const struct diff *diff, const struct mf_record *a,
                       const struct mf_record *b)
{
    return a->size == b->size && same_type(diff, a, b);
}

static enum mf_status compare_data(struct diff *diff)
{
    const struct mf_index *a = &diff->a->index, *b = &diff->b->index;

    diff->pair_count = 0;
    for (size_t i = 0; i < a->tensor_count; i++) {
        size_t other = find(b, &a->tensor[i]);

        if (other != MF_NOT_FOUND && find(a, &a->tensor[i]) == i &&
            comparable(diff, &a->tensor[i], &b->tensor[other]))
            diff->pair[diff->pair_count++] =
                (struct mf_pair){ .a = { 0, (uint32_t)i },
                                  .b = { 1, (uint32_t)other } };
    }
    return mf_compare((struct mf_model *[]){ diff->a, diff->b }, diff->pair,
                      diff->pair_count);
}

/* The differences of tensor i of a.  *pair is the next pair to use: it belongs
 * to this tensor or to a later one. */
static struct mf_difference compare_tensor(const struct diff *diff, size_t i,
                                           size_t *pair)
{
    const struct mf_record *record = &diff->a->index.tensor[i];
    const struct mf_index *b = &diff->b->index;
    struct mf_difference found = { .is_tensor = true,
                                   .a = i,
                                   .b = find(b, record) };

    if (find(&diff->a->index, record) != i)
        return found;
    if (found.b == MF_NOT_FOUND)
        found.what = MF_ONLY_A;
    else
        found.what = compare_entries(diff, record, &b->tensor[found.b]);
    if (*pair < diff->pair_count && diff->pair[*pair].a.tensor == i) {
        uint64_t first = diff->pair[(*pair)++].first;

        if (first < record->size) {
            found.what |= MF_DIFFERS_DATA;
            found.first = first;
        }
    }
    return found;
}

static bool worth_decoding(const struct mf_difference *found)
{
    return found->what & (MF_DIFFERS_TYPE | MF_DIFFERS_DATA) &&
           !(found->what & MF_DIFFERS_SHAPE);
}

static enum mf_status compare_values(struct diff *diff)
{
    size_t pair = 0;

    diff->valued_count = 0;
    for (size_t i = 0; i < diff->a->index.tensor_count; i++) {
        struct mf_difference found = compare_tensor(diff, i, &pair);

        if (worth_decoding(&found))
            diff->valued[diff->valued_count++] =
                (struct mf_valued){ .a = (uint32_t)found.a,
                                    .b = (uint32_t)found.b };
    }
    return mf_diff_values(diff->a, diff->b, diff->valued, diff->valued_count);
}

static void report_values(const struct diff *diff,
                          const struct mf_valued *valued,
                          struct mf_difference *difference)
{
    struct mf_error why;

    if (valued->decoded) {
        difference->values = &valued->apart.errors;
        report(diff, difference);
        return;
    }
    mf_values_decodable(diff->a, diff->b, valued);
    why = diff->a->env->error;
    mf_clear_error(diff->a->env);
    difference->no_values = why.message;
    report(diff, difference);
    difference->no_values = NULL; /* the message ends here */
}

static void diff_tensors(const struct diff *diff)
{
    const struct mf_index *a = &diff->a->index, *b = &diff->b->index;
    size_t pair = 0, valued = 0;

    for (size_t i = 0; i < a->tensor_count; i++) {
        struct mf_difference found = compare_tensor(diff, i, &pair);

        if (diff->valued && worth_decoding(&found))
            report_values(diff, &diff->valued[valued++], &found);
        else
            report(diff, &found);
    }
    for (size_t i = 0; i < b->tensor_count; i++) {
        struct mf_difference found = {
            .is_tensor = true, .what = MF_ONLY_B, .a = MF_NOT_FOUND, .b = i
        };

        if (find(a, &b->tensor[i]) == MF_NOT_FOUND &&
            find(b, &b->tensor[i]) == i)
            report(diff, &found);
    }
}

/* ---- all ---- */

/* What was asked for. */
static enum mf_status compare_all(struct diff *diff)
{
    struct mf_model *const models[] = { diff->a, diff->b };
    struct mf_env *env = diff->a->env;

    for (unsigned round = 0; mf_steady_next(env, models, 2, &round);) {
        if (diff->pair && compare_data(diff) != MF_OK)
            break;
        if (diff->valued)
            compare_values(diff);
    }
    return env->error.status;
}

enum mf_status
mf_model_diff(struct mf_model *a, struct mf_model *b,
              const struct mf_diff_options *options,
              void (*found)(void *user, const struct mf_difference *difference),
              void *user)
{
    MF_NEED(NULL, a);
    MF_NEED(a->env, b);
    MF_NEED(a->env, found);

    struct mf_diff_options known;

    if (mf_options_take(a->env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    options = &known;

    struct mf_env *env = a->env;
    struct diff diff = { .a = a, .b = b, .found = found, .user = user };
    size_t tensors = a->index.tensor_count + 1;
    enum mf_status status;

    mf_clear_error(env);
    if (b->env != env)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "both models must belong to one env");
    if (options && options->no_data && options->values)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "values cannot be compared without data");
    if (mf_table_refuse(a) != MF_OK || mf_table_refuse(b) != MF_OK ||
        mf_compare_whole(a) != MF_OK || mf_compare_whole(b) != MF_OK)
        return env->error.status;
    status = diff_metadata(&diff);
    if (status == MF_OK && !options->no_data)
        diff.pair = mf_alloc(env, tensors * sizeof(*diff.pair));
    if (status == MF_OK && options->values)
        diff.valued = mf_alloc(env, tensors * sizeof(*diff.valued));
    if (env->error.status == MF_OK)
        status = compare_all(&diff);
    else
        status = env->error.status;
    if (status == MF_OK)
        diff_tensors(&diff);
    mf_release(env, diff.valued, tensors * sizeof(*diff.valued));
    mf_release(env, diff.pair, tensors * sizeof(*diff.pair));
    return status;
}
