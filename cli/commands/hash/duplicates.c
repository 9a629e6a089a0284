/* SPDX-License-Identifier: MIT
 *
 * duplicates.c - modelfile hash --duplicates: tensors with equal bytes
 */
#include <string.h>

#include "cli/commands/hash/hash.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/report.h"

/* Groups of equal tensors, as linked lists: same[i] is the first tensor of the
 * group of tensor i, next[i] the one after it, or 0 at the end. */
struct groups {
    const struct mf_model *model;
    uint32_t *same, *next;
    size_t count;         /* groups of two or more */
    uint64_t superfluous; /* bytes of all but the first of each */
};

static void link_groups(struct groups *groups)
{
    struct mf_tensor tensor;
    uint32_t *next = groups->next;

    memset(next, 0, mf_model_info(groups->model)->tensor_count * sizeof(*next));
    for (size_t i = mf_model_info(groups->model)->tensor_count; i-- > 0;) {
        uint32_t first = groups->same[i];

        if (first == i || !mf_tensor_at(groups->model, i, &tensor))
            continue;
        groups->count += next[first] == 0;
        groups->superfluous += tensor.data.size;
        next[i] = next[first];
        next[first] = (uint32_t)i;
    }
}

/* If a name is not UTF-8, all names of the group are printed as hexadecimal
 * digits, too. */
static void group_json(struct run *run, const struct groups *groups,
                       uint32_t first, bool hex)
{
    struct mf_json_out *json = &run->json;
    struct mf_tensor tensor;
    bool clean = true;
    uint32_t i = first;

    mf_json_key(json, hex ? "tensors_hex" : "tensors");
    mf_json_begin(json, '[');
    do {
        mf_tensor_at(groups->model, i, &tensor);
        clean = clean && mf_text_is_utf8(tensor.name.at, tensor.name.size);
        if (hex)
            json_hex(run, tensor.name);
        else
            mf_json_string(json, tensor.name.at, tensor.name.size);
    } while ((i = groups->next[i]) != 0);
    mf_json_end(json, ']');
    if (!hex && !clean)
        group_json(run, groups, first, true);
}

static void group_text(struct run *run, const struct groups *groups,
                       uint32_t first)
{
    struct mf_tensor tensor;
    uint32_t i = first;

    do {
        mf_tensor_at(groups->model, i, &tensor);
        if (i == first)
            out_format(&run->out, "%s bytes each\n",
                       number_text(tensor.data.size).at);
        out_text(&run->out, "  ");
        out_escaped(&run->out, tensor.name, "");
        out_text(&run->out, "\n");
    } while ((i = groups->next[i]) != 0);
}

static void group_show(struct run *run, const struct groups *groups,
                       uint32_t first)
{
    struct mf_tensor tensor;

    if (!run->options->json) {
        group_text(run, groups, first);
        return;
    }
    mf_tensor_at(groups->model, first, &tensor);
    mf_json_begin(&run->json, '{');
    json_number(run, "bytes", tensor.data.size);
    group_json(run, groups, first, false);
    mf_json_end(&run->json, '}');
}

static void groups_show(struct run *run, const char *path,
                        const struct groups *groups)
{
    struct mf_json_out *json = &run->json;

    if (run->options->json) {
        mf_json_key(json, "duplicates");
        mf_json_begin(json, '[');
    }
    for (uint32_t i = 0; i < mf_model_info(groups->model)->tensor_count; i++)
        if (groups->same[i] == i && groups->next[i] != 0)
            group_show(run, groups, i);
    if (run->options->json) {
        mf_json_end(json, ']');
        json_number(run, "superfluous_bytes", groups->superfluous);
        return;
    }
    out_escaped(&run->out, str_of(path), "");
    if (groups->count == 0)
        out_line(&run->out, ": no two tensors have the same bytes");
    else
        out_format(&run->out,
                   ": %zu group%s of equal tensors, %s bytes could "
                   "be saved\n",
                   groups->count, groups->count == 1 ? "" : "s",
                   number_text(groups->superfluous).at);
}

static void show_duplicates(struct run *run, const char *path,
                            enum mf_shards shards)
{
    struct mf_model *model;
    struct groups groups;
    size_t size;

    if (run->options->json)
        json_str(run, "file", str_of(path));
    model = inputs_open(run, path, shards, false);
    if (!model)
        return;
    size = (mf_model_info(model)->tensor_count + 1) * sizeof(*groups.same);
    groups = (struct groups){ .model = model,
                              .same = mf_env_resize(run->env, NULL, 0, size) };
    if (groups.same)
        groups.next = mf_env_resize(run->env, NULL, 0, size);
    if (groups.next && mf_model_duplicates(model, groups.same) == MF_OK) {
        link_groups(&groups);
        groups_show(run, path, &groups);
    } else {
        report_failure(run, path);
    }
    if (groups.next)
        mf_env_resize(run->env, groups.next, size, 0);
    if (groups.same)
        mf_env_resize(run->env, groups.same, size, 0);
    mf_model_close(model);
}

void hash_duplicates(struct run *run)
{
    inputs_each(run, show_duplicates, report_failure);
}
