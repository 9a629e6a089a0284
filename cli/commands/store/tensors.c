/* SPDX-License-Identifier: MIT
 *
 * tensors.c - modelfile store duplicates --tensors: equal tensors of all models
 *
 * Whatever the containers: weights that a GGUF file and a safetensors file both
 * have are found as well.  Files that several models share are one place.
 */
#include <string.h>

#include "cli/commands/store/store.h"
#include "cli/json.h"
#include "cli/report.h"

struct all {
    struct scan *scan;
    struct mf_model **model; /* those that can be opened */
    uint32_t *row;           /* of each, in scan_models */
    size_t count, tensors;
    uint32_t *same, *place; /* see mf_models_duplicates */
    uint64_t bytes;         /* of all copies */
};

/* The copies among the tensors of a model. */
struct copies {
    size_t tensors;
    uint64_t bytes;
};

static void open_all(struct all *all)
{
    struct scan *scan = all->scan;
    const struct store_model *row = scan_models(scan);

    for (size_t i = 0; i < scan_model_count(scan); i++) {
        struct mf_open_options options = { .size = sizeof(options),
                                           .shards = row[i].shards,
                                           .tensors_only = true,
                                           .allow_missing = true };

        if (mf_model_open(scan->run->env, scan_text(scan, row[i].path),
                          &options, &all->model[all->count]) != MF_OK)
            continue; /* it is a problem of the scan */
        all->row[all->count] = (uint32_t)i;
        all->tensors += mf_model_info(all->model[all->count++])->tensor_count;
    }
}

static struct copies copies_of(const struct all *all, size_t index,
                               size_t first)
{
    struct copies copies = { 0, 0 };
    struct mf_tensor tensor;

    for (size_t i = 0; mf_tensor_at(all->model[index], i, &tensor); i++) {
        size_t number = first + i;

        if (all->place[number] != number || all->same[number] == number)
            continue;
        copies.tensors++;
        copies.bytes += tensor.data.size;
    }
    return copies;
}

static void show_model(const struct all *all, size_t index,
                       const struct copies *copies)
{
    const struct scan *scan = all->scan;
    const struct store_model *row = &scan_models(scan)[all->row[index]];
    struct run *run = scan->run;

    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "name", str_of(scan_text(scan, row->name)));
        json_str(run, "file", str_of(scan_text(scan, row->file)));
        json_number(run, "tensors", copies->tensors);
        json_number(run, "bytes", copies->bytes);
        mf_json_end(&run->json, '}');
        return;
    }
    scan_show_name(scan, row);
    out_format(&run->out, ": %zu tensor%s, %s bytes, equal to others\n",
               copies->tensors, copies->tensors == 1 ? "" : "s",
               number_text(copies->bytes).at);
}

static void show_all(struct all *all)
{
    struct run *run = all->scan->run;
    size_t first = 0;

    if (run->options->json) {
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    }
    for (size_t i = 0; i < all->count; i++) {
        struct copies copies = copies_of(all, i, first);

        if (copies.tensors > 0)
            show_model(all, i, &copies);
        all->bytes += copies.bytes;
        first += mf_model_info(all->model[i])->tensor_count;
    }
    if (run->options->json) {
        mf_json_end(&run->json, ']');
        json_number(run, "superfluous_tensor_bytes", all->bytes);
        return;
    }
    out_format(&run->out, "%zu tensors of %zu models, %s bytes are copies\n",
               all->tensors, all->count, number_text(all->bytes).at);
}

static void compare(struct all *all)
{
    struct mf_env *env = all->scan->run->env;
    size_t room = 2 * (all->tensors + 1) * sizeof(*all->same);

    all->same = mf_env_resize(env, NULL, 0, room);
    all->place = all->same ? all->same + all->tensors + 1 : NULL;
    if (all->same && mf_models_duplicates(all->model, all->count, all->same,
                                          all->place) == MF_OK)
        show_all(all);
    else
        report_failure(all->scan->run, NULL);
    if (all->same)
        mf_env_resize(env, all->same, room, 0);
}

void tensors_show(struct scan *scan)
{
    struct mf_env *env = scan->run->env;
    struct all all = { .scan = scan };
    size_t count = scan_model_count(scan) + 1;

    all.model = mf_env_resize(env, NULL, 0, count * sizeof(*all.model));
    all.row = mf_env_resize(env, NULL, 0, count * sizeof(*all.row));
    if (all.model && all.row) {
        open_all(&all);
        compare(&all);
    } else {
        report_failure(scan->run, NULL);
    }
    for (size_t i = 0; i < all.count; i++)
        mf_model_close(all.model[i]);
    if (all.model)
        mf_env_resize(env, all.model, count * sizeof(*all.model), 0);
    if (all.row)
        mf_env_resize(env, all.row, count * sizeof(*all.row), 0);
}
