/* SPDX-License-Identifier: MIT
 *
 * compare.c - a pair of models: an element of "compare"
 *
 * A fault in one of the two does not hide the rest: data that cannot be
 * compared, and a model that cannot be verified, are a reason in the document.
 * Only memory, reading and being stopped end the report.
 */
#include "lib/report/compare.h"

#include <string.h>

#include "lib/model/model.h"

struct pair {
    struct mf_model *a, *b;
    struct mf_report_both both;
    struct mf_json_out *json;
    size_t keys, tensors;  /* that differ, and are written */
    size_t skip;           /* keys that an attempt before has written */
    bool in_tensors;       /* that array is open */
    struct mf_error error; /* of a key's value */
};

bool mf_report_can_go_on(enum mf_status status)
{
    return status == MF_ERR_UNSUPPORTED || status == MF_ERR_CORRUPT ||
           status == MF_ERR_FORMAT;
}

bool mf_report_can_go_on_after(const struct mf_error *error)
{
    return mf_report_can_go_on(error->status) ||
           strcmp(error->rule, "IMATRIX-MISMATCH") == 0 ||
           strcmp(error->rule, "SHARD-STRAY") == 0;
}

/* How much of the message is the name of a file of the model, as
 * mf_file_add_context writes it. */
static size_t name_size(const struct mf_model *model, const char *message)
{
    for (size_t i = 0; i < model->file_count; i++) {
        const char *path = model->file[i].path;
        struct mf_quoted name = mf_quote((struct mf_str){ path, strlen(path) });
        size_t size = strlen(name.text);

        if (*message == '\'' && strncmp(message + 1, name.text, size) == 0 &&
            strncmp(message + 1 + size, "': ", 3) == 0)
            return 1 + size + 3;
    }
    return 0;
}

void mf_report_reason(struct mf_json_out *json, const char *key,
                      const char *message, const struct mf_report_both *both)
{
    bool one = !both->b;
    size_t of_a = both->paths ? 0 : name_size(both->a, message);
    size_t of_b = both->paths || of_a || one ? 0 : name_size(both->b, message);
    const char *which = one    ? ""
                        : of_a ? "the first model: "
                        : of_b ? "the other model: "
                               : "";

    message += of_a + of_b;
    mf_json_key(json, key);
    mf_json_open_string(json);
    mf_json_piece(json, which, strlen(which));
    mf_json_piece(json, message, strlen(message));
    mf_json_close_string(json, false);
}

void mf_report_errors(struct mf_json_out *json, const char *key,
                      const struct mf_value_errors *errors)
{
    mf_json_key(json, key);
    mf_json_begin(json, '{');
    mf_put_number(json, "count", errors->count);
    mf_json_key(json, "rmse");
    mf_json_f64(json, errors->rmse);
    mf_json_key(json, "cosine");
    mf_json_f64(json, errors->cosine);
    mf_json_key(json, "max_absolute");
    mf_json_f64(json, errors->max_absolute);
    mf_json_key(json, "max_relative");
    mf_json_f64(json, errors->max_relative);
    mf_put_number(json, "from_zero", errors->from_zero);
    mf_put_number(json, "nan_a", errors->nan_a);
    mf_put_number(json, "nan_b", errors->nan_b);
    mf_put_number(json, "inf_a", errors->inf_a);
    mf_put_number(json, "inf_b", errors->inf_b);
    mf_json_end(json, '}');
}

/* ---- a difference ---- */

static void what_put(struct mf_json_out *json, unsigned what)
{
    static const struct {
        enum mf_difference_what bit;
        const char *name;
    } words[] = {
        { MF_ONLY_A, "only_a" },     { MF_ONLY_B, "only_b" },
        { MF_DIFFERS_TYPE, "type" }, { MF_DIFFERS_SHAPE, "shape" },
        { MF_DIFFERS_DATA, "data" },
    };

    mf_json_key(json, "what");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (what & words[i].bit)
            mf_json_string(json, words[i].name, strlen(words[i].name));
    mf_json_end(json, ']');
}

static void entry_put(struct pair *pair, const char *key,
                      struct mf_model *model, size_t index)
{
    if (index == SIZE_MAX)
        return;
    mf_json_key(pair->json, key);
    if (mf_report_entry(model, index, pair->json) != MF_OK &&
        pair->error.status == MF_OK)
        pair->error = pair->a->env->error;
}

static void key_put(struct pair *pair, const struct mf_difference *difference)
{
    struct mf_json_out *json = pair->json;
    bool in_a = difference->a != SIZE_MAX;
    struct mf_meta meta;

    if (pair->skip > 0) {
        pair->skip--;
        return;
    }
    pair->keys++;
    if (!mf_meta_at(in_a ? pair->a : pair->b,
                    in_a ? difference->a : difference->b, &meta))
        return;
    mf_json_begin(json, '{');
    mf_put_text(json, "key", meta.key);
    what_put(json, difference->what);
    entry_put(pair, "a", pair->a, difference->a);
    entry_put(pair, "b", pair->b, difference->b);
    if (difference->what & MF_DIFFERS_DATA)
        mf_put_number(json, "first", difference->first);
    mf_json_end(json, '}');
}

static void index_put(struct mf_json_out *json, const char *key, size_t index)
{
    if (index != SIZE_MAX)
        mf_put_number(json, key, index);
}

static void tensor_put(struct pair *pair,
                       const struct mf_difference *difference)
{
    struct mf_json_out *json = pair->json;
    bool in_a = difference->a != SIZE_MAX;
    struct mf_tensor tensor;

    pair->tensors++;
    if (!mf_tensor_at(in_a ? pair->a : pair->b,
                      in_a ? difference->a : difference->b, &tensor))
        return;
    mf_json_begin(json, '{');
    mf_put_text(json, "name", tensor.name);
    index_put(json, "a", difference->a);
    index_put(json, "b", difference->b);
    what_put(json, difference->what);
    if (difference->what & MF_DIFFERS_DATA)
        mf_put_number(json, "first", difference->first);
    if (difference->values)
        mf_report_errors(json, "values", difference->values);
    if (difference->no_values)
        mf_report_reason(json, "no_values", difference->no_values, &pair->both);
    mf_json_end(json, '}');
}

static void begin_tensors(struct pair *pair)
{
    if (pair->in_tensors)
        return;
    pair->in_tensors = true;
    mf_json_end(pair->json, ']');
    mf_json_key(pair->json, "tensors");
    mf_json_begin(pair->json, '[');
}

static void found(void *user, const struct mf_difference *difference)
{
    struct pair *pair = user;

    if (!difference->is_tensor) {
        key_put(pair, difference);
        return;
    }
    begin_tensors(pair);
    tensor_put(pair, difference);
}

/* ---- all of them ---- */

/* The others are compared although some tensors are not read: the document has
 * how many there are. */
static enum mf_status diff(struct pair *pair, bool data)
{
    const struct mf_diff_options options = { .size = sizeof(options),
                                             .no_data = !data,
                                             .values = data };
    bool *allowed[] = { &pair->a->index.missing.allowed,
                        &pair->b->index.missing.allowed };
    const bool before[] = { *allowed[0], *allowed[1] };
    enum mf_status status;

    *allowed[0] = *allowed[1] = true;
    status = mf_model_diff(pair->a, pair->b, &options, found, pair);
    *allowed[0] = before[0];
    *allowed[1] = before[1];
    if (pair->error.status == MF_OK)
        return status;
    pair->a->env->error = pair->error;
    return pair->error.status;
}

/* With the data, or else without; reason: why without, or why not at all. */
static enum mf_status diff_as_possible(struct pair *pair, bool data,
                                       bool *compared, char *reason)
{
    const struct mf_error *error = &pair->a->env->error;
    enum mf_status status = diff(pair, data);

    *compared = status == MF_OK;
    if (!mf_report_can_go_on(status) || pair->error.status != MF_OK)
        return status;
    memcpy(reason, error->message, sizeof(error->message));
    if (data) {
        pair->skip = pair->keys;
        status = diff(pair, false);
        *compared = status == MF_OK;
    }
    return mf_report_can_go_on(status) && pair->error.status == MF_OK ? MF_OK
                                                                      : status;
}

/* Formats have other keys for the same thing: between two of them, keys that
 * differ do not make the models different. */
static bool are_same(const struct pair *pair)
{
    return pair->tensors == 0 &&
           (pair->keys == 0 || pair->a->format != pair->b->format) &&
           pair->a->info.missing_count + pair->b->info.missing_count == 0;
}

static void unread_put(const struct pair *pair)
{
    const size_t counts[] = { pair->a->info.missing_count,
                              pair->b->info.missing_count };

    if (counts[0] + counts[1] == 0)
        return;
    mf_json_key(pair->json, "unread");
    mf_json_begin(pair->json, '{');
    mf_put_number(pair->json, "a", counts[0]);
    mf_put_number(pair->json, "b", counts[1]);
    mf_json_end(pair->json, '}');
}

static enum mf_status differences_put(struct pair *pair, bool data)
{
    char reason[sizeof(pair->error.message)] = "";
    struct mf_json_out *json = pair->json;
    enum mf_status status;
    bool compared;

    mf_json_key(json, "metadata");
    mf_json_begin(json, '[');
    status = diff_as_possible(pair, data, &compared, reason);
    begin_tensors(pair);
    mf_json_end(json, ']');
    mf_put_bool(json, "data", compared && data && !*reason);
    if (compared && (!are_same(pair) || (data && !*reason)))
        mf_put_bool(json, "same", are_same(pair));
    if (*reason)
        mf_report_reason(json, "reason", reason, &pair->both);
    unread_put(pair);
    if (status == MF_OK) /* what is only a reason in the document */
        mf_clear_error(pair->a->env);
    return status;
}

enum mf_status mf_report_pair(struct mf_model *const *models, size_t a,
                              size_t b, const struct mf_report_options *options,
                              struct mf_json_out *json)
{
    struct pair pair = { .a = models[a],
                         .b = models[b],
                         .both = { models[a], models[b],
                                   options && options->paths },
                         .json = json };
    bool data = !options || !options->no_compare;
    enum mf_status status;

    mf_json_begin(json, '{');
    mf_put_number(json, "a", a);
    mf_put_number(json, "b", b);
    status = differences_put(&pair, data);
    if (status == MF_OK && data)
        status = mf_report_verify(models, a, b, options, json);
    mf_json_end(json, '}');
    return status;
}
