/* SPDX-License-Identifier: MIT
 *
 * list.c - modelfile store list: the models of stores, by their headers
 */
#include <string.h>

#include "cli/answer.h"
#include "cli/commands/store/store.h"
#include "cli/json.h"
#include "cli/report.h"

struct listing {
    struct scan scan;
    uint64_t bytes;  /* of all files, each counted once */
    uint64_t shared; /* of files that several models have */
    uint64_t partial;
    size_t partials, invalid;
};

static struct store_use *uses_of(const struct scan *scan)
{
    return (struct store_use *)(void *)scan->uses.at;
}

/* ---- what is shared ---- */

static bool by_inode(const void *table, uint32_t a, uint32_t b)
{
    const struct store_use *use = table;

    if (use[a].device != use[b].device)
        return use[a].device < use[b].device;
    if (use[a].inode != use[b].inode)
        return use[a].inode < use[b].inode;
    return use[a].model < use[b].model;
}

static bool same_file(const struct store_use *a, const struct store_use *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Of the uses of one file, in the order of models. */
static void count_file(struct listing *listing, const struct store_use *use,
                       const uint32_t *row, size_t count)
{
    struct store_model *model = scan_models(&listing->scan);
    bool several = use[row[0]].model != use[row[count - 1]].model;

    listing->bytes += use[row[0]].size;
    listing->shared += several ? use[row[0]].size : 0;
    for (size_t i = 0; several && i < count; i++)
        model[use[row[i]].model].shared += use[row[i]].size;
}

static bool count_shared(struct listing *listing)
{
    struct scan *scan = &listing->scan;
    const struct store_use *use = uses_of(scan);
    size_t count = scan->uses.size / sizeof(*use);
    uint32_t *row =
        mf_env_resize(scan->run->env, NULL, 0, (count + 1) * sizeof(*row));

    if (!row) {
        report_failure(scan->run, NULL);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        row[i] = (uint32_t)i;
    mf_sort(row, count, by_inode, use);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && same_file(&use[row[i]], &use[row[end]]);)
            end++;
        count_file(listing, use, row + i, end - i);
    }
    mf_env_resize(scan->run->env, row, (count + 1) * sizeof(*row), 0);
    return true;
}

static void count_rest(struct listing *listing)
{
    const struct store_file *file = scan_files(&listing->scan);
    const struct store_problem *problem = scan_problems(&listing->scan);

    for (size_t i = 0; i < scan_file_count(&listing->scan); i++)
        if (file[i].partial) {
            listing->partials++;
            listing->partial += file[i].size;
        }
    for (size_t i = 0; i < scan_problem_count(&listing->scan); i++)
        listing->invalid += problem[i].trouble != TROUBLE_PARTIAL;
}

/* ---- text ---- */

#define NAME_WIDTH 44

static void show_model(struct run *run, const struct scan *scan,
                       const struct store_model *model)
{
    struct out *out = &run->out;
    size_t width;

    out_text(out, "  ");
    width = scan_show_name(scan, model);
    out_spaces(out, width < NAME_WIDTH ? NAME_WIDTH + 1 - width : 1);
    out_column(out, str_of(model->format), 12, false);
    out_text(out, " ");
    out_column(out, str_of(model->type), 10, false);
    out_format(out, " %10s", size_text(model->size).at);
    if (model->shared > 0)
        out_format(out, ", %s shared", size_text(model->shared).at);
    out_text(out, "\n");
}

static void show_total(struct run *run, const struct listing *listing)
{
    size_t models = scan_model_count(&listing->scan);
    struct out *out = &run->out;

    out_format(out, "%zu model%s, %s", models, models == 1 ? "" : "s",
               size_text(listing->bytes).at);
    if (listing->shared > 0)
        out_format(out, ", of which several models share %s",
                   size_text(listing->shared).at);
    if (listing->partials > 0)
        out_format(out, "; %zu half-fetched file%s, %s", listing->partials,
                   listing->partials == 1 ? "" : "s",
                   size_text(listing->partial).at);
    if (listing->invalid > 0)
        out_format(out, "; %zu problem%s: see 'modelfile store check'",
                   listing->invalid, listing->invalid == 1 ? "" : "s");
    out_text(out, "\n");
}

static void show_text(struct run *run, const struct listing *listing)
{
    const struct store_places *places = store_places(run);
    const struct store_model *model = scan_models(&listing->scan);

    for (size_t p = 0; p < places->count; p++) {
        out_bold(&run->out, places->at[p].kind->name);
        out_text(&run->out, " ");
        out_escaped(&run->out, str_of(places->at[p].path), "");
        out_text(&run->out, "\n");
        for (size_t i = 0; i < scan_model_count(&listing->scan); i++)
            if (model[i].place == p)
                show_model(run, &listing->scan, &model[i]);
    }
    show_total(run, listing);
}

/* ---- JSON ---- */

static void model_json(struct run *run, const struct scan *scan,
                       const struct store_model *model)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "store", store_places(run)->at[model->place].kind->name);
    json_text(run, "folder", store_places(run)->at[model->place].path);
    json_str(run, "name", str_of(scan_text(scan, model->name)));
    json_str(run, "file", str_of(scan_text(scan, model->file)));
    json_text(run, "format", model->format);
    json_text(run, "type", model->type);
    json_number(run, "bytes", model->size);
    json_number(run, "shared_bytes", model->shared);
    mf_json_end(&run->json, '}');
}

static void partials_json(struct run *run, const struct scan *scan)
{
    const struct store_file *file = scan_files(scan);

    mf_json_key(&run->json, "partial");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < scan_file_count(scan); i++) {
        if (!file[i].partial)
            continue;
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(scan_text(scan, file[i].path)));
        json_number(run, "bytes", file[i].size);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void show_json(struct run *run, const struct listing *listing)
{
    const struct scan *scan = &listing->scan;

    mf_json_key(&run->json, "models");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < scan_model_count(scan); i++)
        model_json(run, scan, &scan_models(scan)[i]);
    mf_json_end(&run->json, ']');
    partials_json(run, scan);
    json_number(run, "bytes", listing->bytes);
    json_number(run, "shared_bytes", listing->shared);
    json_number(run, "partial_bytes", listing->partial);
    json_number(run, "problems", listing->invalid);
}

static void list(struct run *run)
{
    struct listing listing = { .bytes = 0 };

    answer_begin(run);
    if (scan_all(run, true, &listing.scan) && count_shared(&listing)) {
        count_rest(&listing);
        if (run->options->json)
            show_json(run, &listing);
        else
            show_text(run, &listing);
    }
    scan_release(&listing.scan);
    answer_end(run);
}

const struct command command_store_list = {
    .name = "store",
    .sub = "list",
    .operands = "[STORE...]",
    .operands_max = SIZE_MAX,
    .summary = "list the models that other programs keep on this machine",
    .about = "Lists models in the caches of huggingface_hub, Ollama, llama.cpp "
             "and LM Studio, with format, type, size and the part that several "
             "models share; then half-fetched files. Only headers are read. A "
             "STORE is a folder, or one of huggingface, ollama, llama.cpp and "
             "lmstudio; without any, all that exist. See docs/stores.md.\n",
    .examples = "modelfile store list\n"
                "modelfile store list ollama\n"
                "modelfile store list --json huggingface\n",
    .execute = list,
};
