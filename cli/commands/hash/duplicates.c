/* SPDX-License-Identifier: MIT
 *
 * duplicates.c - modelfile hash --duplicates: tensors with equal bytes
 *
 * One answer about all models that the operands name.  Tensors are numbered on
 * from one model to the next, as in mf_models_duplicates.
 */
#include <string.h>

#include "cli/buffer.h"
#include "cli/commands/hash/hash.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/report.h"

/* Lists of tensors: next[i] is the one after tensor i, 0 at the end. */
struct lists {
    uint32_t *next;
    size_t count; /* lists of two or more */
};

static struct {
    struct mf_model **model;
    size_t count;
    struct buffer models; /* where their pointers are */
    struct buffer paths;  /* of each, terminated */
    size_t tensors;
    uint32_t *same, *place; /* see mf_models_duplicates */
    struct lists copies;    /* equal tensors: the first one of each place */
    struct lists shared;    /* tensors in one place */
    uint64_t superfluous;   /* bytes of all copies but the first */
} all;

/* ---- tensors by number ---- */

/* The tensor of that number, and the path of its model. */
static const char *tensor_at(uint32_t number, struct mf_tensor *out)
{
    const char *path = all.paths.at;

    for (size_t m = 0;; m++) {
        size_t count = mf_model_info(all.model[m])->tensor_count;

        if (number < count) {
            mf_tensor_at(all.model[m], number, out);
            return path;
        }
        number -= (uint32_t)count;
        path += strlen(path) + 1;
    }
}

/* From the last tensor to the first, so that each list is in order. */
static void link_after(struct lists *lists, uint32_t first, uint32_t number)
{
    lists->count += lists->next[first] == 0;
    lists->next[number] = lists->next[first];
    lists->next[first] = number;
}

static void link_all(void)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < all.tensors; i++)
        all.copies.next[i] = all.shared.next[i] = 0;
    for (uint32_t i = (uint32_t)all.tensors; i-- > 0;)
        if (all.place[i] != i) {
            link_after(&all.shared, all.place[i], i);
        } else if (all.same[i] != i) {
            tensor_at(i, &tensor);
            all.superfluous += tensor.data.size;
            link_after(&all.copies, all.same[i], i);
        }
}

/* ---- JSON ---- */

/* If a name is not UTF-8, all names of the list are printed as hexadecimal
 * digits, too. */
static void names_json(struct run *run, const struct lists *lists,
                       uint32_t first, bool hex)
{
    struct mf_json_out *json = &run->json;
    struct mf_tensor tensor;
    bool clean = true;
    uint32_t i = first;

    mf_json_key(json, hex ? "tensors_hex" : "tensors");
    mf_json_begin(json, '[');
    do {
        tensor_at(i, &tensor);
        clean = clean && mf_text_is_utf8(tensor.name.at, tensor.name.size);
        if (hex)
            json_hex(run, tensor.name);
        else
            mf_json_string(json, tensor.name.at, tensor.name.size);
    } while ((i = lists->next[i]) != 0);
    mf_json_end(json, ']');
    if (!hex && !clean)
        names_json(run, lists, first, true);
}

/* The file of each, in the order of their names. */
static void files_json(struct run *run, const struct lists *lists,
                       uint32_t first)
{
    struct mf_tensor tensor;
    uint32_t i = first;

    mf_json_key(&run->json, "files");
    mf_json_begin(&run->json, '[');
    do {
        const char *path = tensor_at(i, &tensor);

        mf_json_string(&run->json, path, strlen(path));
    } while ((i = lists->next[i]) != 0);
    mf_json_end(&run->json, ']');
}

static void list_json(struct run *run, const struct lists *lists,
                      uint32_t first)
{
    struct mf_tensor tensor;

    tensor_at(first, &tensor);
    mf_json_begin(&run->json, '{');
    json_number(run, "bytes", tensor.data.size);
    names_json(run, lists, first, false);
    files_json(run, lists, first);
    mf_json_end(&run->json, '}');
}

/* ---- text ---- */

static void list_text(struct run *run, const struct lists *lists,
                      uint32_t first)
{
    struct mf_tensor tensor;
    uint32_t i = first;

    do {
        const char *path = tensor_at(i, &tensor);

        if (i == first)
            out_format(&run->out, "%s bytes %s\n",
                       number_text(tensor.data.size).at,
                       lists == &all.copies ? "each" : "in one place");
        out_text(&run->out, "  ");
        if (all.count > 1) {
            out_escaped(&run->out, str_of(path), "");
            out_text(&run->out, ": ");
        }
        out_escaped(&run->out, tensor.name, "");
        out_text(&run->out, "\n");
    } while ((i = lists->next[i]) != 0);
}

static void summary_text(struct run *run)
{
    struct out *out = &run->out;
    size_t copies = all.copies.count, shared = all.shared.count;

    if (all.count == 1)
        out_escaped(out, str_of(all.paths.at), "");
    else
        out_format(out, "%zu models", all.count);
    if (copies == 0)
        out_text(out, shared == 0 ? ": no two tensors have the same bytes"
                                  : ": no tensor is a copy of another");
    else
        out_format(
            out, ": %zu group%s of equal tensors, %s bytes could be saved",
            copies, copies == 1 ? "" : "s", number_text(all.superfluous).at);
    if (shared > 0)
        out_format(out, "; %zu group%s of tensors that share their bytes",
                   shared, shared == 1 ? "" : "s");
    out_text(out, "\n");
}

/* ---- both ---- */

static void lists_show(struct run *run, const char *key,
                       const struct lists *lists)
{
    if (run->options->json) {
        mf_json_key(&run->json, key);
        mf_json_begin(&run->json, '[');
    }
    for (uint32_t i = 0; i < all.tensors; i++) {
        /* Both lists begin with tensors in a place of their own. */
        bool begins =
            all.place[i] == i && (lists == &all.shared || all.same[i] == i);

        if (!begins || lists->next[i] == 0)
            continue;
        if (run->options->json)
            list_json(run, lists, i);
        else
            list_text(run, lists, i);
    }
    if (run->options->json)
        mf_json_end(&run->json, ']');
}

static void all_show(struct run *run)
{
    lists_show(run, "duplicates", &all.copies);
    lists_show(run, "shared", &all.shared);
    if (run->options->json)
        json_number(run, "superfluous_bytes", all.superfluous);
    else
        summary_text(run);
}

/* ---- the command ---- */

static void add_model(struct run *run, const char *path, enum mf_shards shards)
{
    struct mf_model *model = NULL;

    if (inputs_try(run, path, shards, &model) != MF_OK ||
        !buffer_add(run, &all.paths, path, strlen(path) + 1) ||
        !buffer_add(run, &all.models, (const char *)&model, sizeof(model))) {
        report_failure(run, path);
        mf_model_close(model);
        return;
    }
    missing_show(run, path, model);
    all.model = (struct mf_model **)(void *)all.models.at;
    all.count++;
    all.tensors += mf_model_info(model)->tensor_count;
}

/* Room for a number of each tensor, four times; NULL after an error. */
static uint32_t *numbers_new(struct run *run)
{
    uint32_t *at =
        mf_env_resize(run->env, NULL, 0, 4 * (all.tensors + 1) * sizeof(*at));

    all.same = at;
    all.place = at + all.tensors;
    all.copies.next = at + 2 * all.tensors;
    all.shared.next = at + 3 * all.tensors;
    return at;
}

static void compare_models(struct run *run)
{
    uint32_t *numbers;

    if (all.count == 0 || run->code != EXIT_DONE)
        return;
    numbers = numbers_new(run);
    if (numbers && mf_models_duplicates(all.model, all.count, all.same,
                                        all.place) == MF_OK) {
        link_all();
        all_show(run);
    } else {
        report_failure(run, all.count == 1 ? all.paths.at : NULL);
    }
    if (numbers)
        mf_env_resize(run->env, numbers,
                      4 * (all.tensors + 1) * sizeof(*numbers), 0);
}

static void finish(struct run *run)
{
    compare_models(run);
    for (size_t m = 0; m < all.count; m++)
        mf_model_close(all.model[m]);
    buffer_release(run, &all.models);
    buffer_release(run, &all.paths);
}

void hash_duplicates(struct run *run)
{
    inputs_together(run, add_model, report_failure, finish);
}
