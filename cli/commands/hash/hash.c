/* SPDX-License-Identifier: MIT
 *
 * hash.c - modelfile hash: digests of tensors, of a model, and what is twice
 */
#include "cli/commands/hash/hash.h"

#include <inttypes.h>
#include <string.h>

const struct option hash_options[] = {
    /* in the order of enum mf_digest_kind */
    { "--algo", OPTION_CHOICE, "crc32|xxh64|xxh3|xxh128|sha1|sha256", 1,
      offsetof(struct options, algo), "which digest; xxh3 if not given" },
    { "--check", OPTION_TEXT, "MANIFEST", 0, offsetof(struct options, check),
      "compares with what was printed before" },
    { "--format", OPTION_CHOICE, "modelfile|llama-gguf-hash", 0,
      offsetof(struct options, manifest_form),
      "of the manifest; the latter with xxh64 (if not given), sha1 or sha256" },
    { "--duplicates", OPTION_FLAG, NULL, 0,
      offsetof(struct options, duplicates), "lists tensors with equal bytes" },
    OPTIONS_LONG,
    { "--one-file", OPTION_FLAG, NULL, 0, offsetof(struct options, one_file),
      "this file only, without the other shards of its model" },
    { 0 },
};

struct hex_text hex_text(const uint8_t *digest, size_t size)
{
    struct hex_text text;
    char *at = text.at;

    for (size_t i = 0; i < size; i++) {
        *at++ = "0123456789abcdef"[digest[i] >> 4];
        *at++ = "0123456789abcdef"[digest[i] & 15];
    }
    *at = 0;
    return text;
}

/* ---- digests ---- */

static size_t digests_size(const struct mf_model *model,
                           const struct digests *digests)
{
    return (mf_model_info(model)->tensor_count + 1) * digests->info.size;
}

bool digests_take(struct run *run, const char *path, struct mf_model *model,
                  struct digests *digests)
{
    digests->tensor =
        mf_env_resize(run->env, NULL, 0, digests_size(model, digests));
    if (digests->tensor && mf_model_hash_tensors(model, digests->info.kind,
                                                 digests->tensor) == MF_OK)
        return true;
    report_failure(run, path);
    return false;
}

void digests_release(struct run *run, const struct mf_model *model,
                     struct digests *digests)
{
    if (digests->tensor)
        mf_env_resize(run->env, digests->tensor, digests_size(model, digests),
                      0);
}

/* ---- a manifest ---- */

struct lines {
    struct run *run;
    const char *algo;
};

static void line_text(void *user, size_t tensor, const char *text, size_t size)
{
    struct lines *lines = user;

    (void)tensor;
    out_text(&lines->run->out, lines->algo);
    out_text(&lines->run->out, ":");
    out_bytes(&lines->run->out, text, size);
}

/* As the names of tensors are: the line ends where it should, and says the same
 * name when it is read. */
static void path_text(struct out *out, const char *path)
{
    for (;;) {
        size_t plain = strcspn(path, "\\");

        out_escaped(out, (struct mf_str){ path, plain }, "");
        path += plain;
        if (!*path)
            return;
        out_text(out, "\\\\");
        path++;
    }
}

static void digests_json(struct run *run, const struct mf_model *model,
                         const struct digests *digests)
{
    struct mf_json_out *json = &run->json;
    size_t size = digests->info.size;
    struct mf_tensor tensor;

    json_text(run, "algo", digests->info.name);
    json_text(run, "model", hex_text(digests->model, size).at);
    mf_json_key(json, "tensors");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        mf_json_begin(json, '{');
        json_str(run, "name", tensor.name);
        json_text(run, "digest", hex_text(digests_at(digests, i), size).at);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

/* ---- that of llama-gguf-hash ---- */

static void foreign_line(struct run *run, const struct digests *digests,
                         const uint8_t *digest, const char *path,
                         const struct mf_tensor *tensor)
{
    struct out *out = &run->out;

    out_format(out, "%-8s  %s  ", digests->info.name,
               hex_text(digest, digests->info.size).at);
    out_escaped(out, str_of(path), "");
    if (tensor) {
        out_text(out, ":");
        out_escaped(out, tensor->name, "");
    }
    out_text(out, "\n");
}

/* A line for each tensor, in the order of the file; the model's digest is that
 * of all their bytes. */
static void foreign_show(struct run *run, const char *path,
                         struct mf_model *model, struct digests *digests)
{
    struct mf_tensor tensor;

    if (mf_model_hash_data(model, digests->info.kind, digests->model) !=
        MF_OK) {
        report_failure(run, path);
        return;
    }
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        foreign_line(run, digests, digests_at(digests, i), path, &tensor);
    foreign_line(run, digests, digests->model, path, NULL);
}

/* The digests that llama-gguf-hash has, too. */
static bool algo_is_foreign(struct run *run)
{
    struct mf_digest_info info;
    unsigned *algo = &run->options.algo;

    for (unsigned i = 0; *algo == 0 && mf_digest_at(i, &info); i++)
        if (strcmp(info.name, "xxh64") == 0)
            *algo = i + 1;
    if (mf_digest_at(*algo - 1, &info) &&
        (info.kind == MF_XXH64 || info.kind == MF_SHA1 ||
         info.kind == MF_SHA256))
        return true;
    report_usage(run,
                 "llama-gguf-hash has no %s: give '--algo xxh64', "
                 "'--algo sha1' or '--algo sha256'",
                 info.name);
    return false;
}

static void digests_show(struct run *run, const char *path,
                         struct mf_model *model, struct digests *digests)
{
    const struct mf_digest_info *info = &digests->info;
    struct lines lines = { run, info->name };

    if (mf_model_hash(model, info->kind, digests->tensor, digests->model,
                      run->options.json ? NULL : line_text, &lines) != MF_OK) {
        report_failure(run, path);
    } else if (run->options.json) {
        digests_json(run, model, digests);
    } else {
        out_format(&run->out, "model %s:%s  ", info->name,
                   hex_text(digests->model, info->size).at);
        path_text(&run->out, path);
        out_text(&run->out, "\n");
    }
}

static void show_digests(struct run *run, const char *path,
                         enum mf_shards shards)
{
    unsigned algo = run->options.algo;
    struct digests digests = { 0 };
    struct mf_model *model;

    mf_digest_at(algo > 0 ? algo - 1 : KIND_DEFAULT, &digests.info);
    if (run->options.json)
        json_str(run, "file", str_of(path));
    model = inputs_open(run, path, shards, false);
    if (!model)
        return;
    if (!digests_take(run, path, model, &digests))
        ; /* which was reported */
    else if (run->options.manifest_form == 1)
        foreign_show(run, path, model, &digests);
    else
        digests_show(run, path, model, &digests);
    digests_release(run, model, &digests);
    mf_model_close(model);
}

/* ---- what is twice ---- */

/* Groups of equal tensors: same[i] is the first tensor of i's group, next[i]
 * the one behind i, 0 at its end. */
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

/* Names that JSON cannot say are escaped; then all are given as hexadecimal
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

    if (!run->options.json) {
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

    if (run->options.json) {
        mf_json_key(json, "duplicates");
        mf_json_begin(json, '[');
    }
    for (uint32_t i = 0; i < mf_model_info(groups->model)->tensor_count; i++)
        if (groups->same[i] == i && groups->next[i] != 0)
            group_show(run, groups, i);
    if (run->options.json) {
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

    if (run->options.json)
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

/* ---- the command ---- */

void command_hash(struct run *run)
{
    const struct options *options = &run->options;

    if (options->duplicates && (options->check || options->algo > 0))
        report_usage(run, "'--duplicates' goes with neither '--check' nor "
                          "'--algo'");
    else if (options->manifest_form == 1 &&
             (options->duplicates || options->check || options->json))
        report_usage(run, "'--format llama-gguf-hash' is a text of its own: "
                          "not with '--json', '--check' or '--duplicates'");
    else if (options->manifest_form == 1 && !algo_is_foreign(run))
        return;
    else if (options->duplicates)
        inputs_each(run, show_duplicates, report_failure);
    else if (options->check)
        hash_check(run);
    else
        inputs_each(run, show_digests, report_failure);
}
