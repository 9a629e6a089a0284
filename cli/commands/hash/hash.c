/* SPDX-License-Identifier: MIT
 *
 * hash.c - modelfile hash: digests of tensors and of a model
 */
#include "cli/commands/hash/hash.h"

#include <string.h>

#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/report.h"

enum form { FORM_OWN, FORM_LLAMA };

static struct {
    unsigned algo; /* 1 + enum mf_digest_kind; 0: not given */
    const char *check;
    unsigned form; /* enum form */
    bool duplicates;
} options;

static const struct option table[] = {
    /* in the order of enum mf_digest_kind */
    OPTION_CHOICE("--algo", "crc32|xxh64|xxh3|xxh128|sha1|sha256", 1,
                  options.algo, "digest to compute (default xxh3)"),
    OPTION_TEXT("--check", "MANIFEST", options.check,
                "compare with a manifest that was printed before"),
    OPTION_CHOICE("--format", "modelfile|llama-gguf-hash", FORM_OWN,
                  options.form,
                  "form of the manifest; llama-gguf-hash: with xxh64 "
                  "(default), sha1 or sha256"),
    OPTION_FLAG("--duplicates", options.duplicates,
                "list tensors with equal bytes, over all FILEs"),
    OPTIONS_WORK,
    OPTION_ONE_FILE,
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTION_FILES_FROM,
    OPTIONS_JOBS,
    { 0 },
};

/* ---- our manifest ---- */

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

static void digests_json(struct run *run, const struct mf_model *model,
                         const struct digests *digests)
{
    struct mf_json_out *json = &run->json;
    size_t size = digests->info.size;
    struct mf_tensor tensor;

    json_text(run, "algo", digests->info.name);
    json_text(run, "model", hex_text(digests->model, size).at);
    json_text(run, "metadata", hex_text(digests->metadata, size).at);
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

/* ---- llama-gguf-hash's manifest ---- */

static void llama_line(struct run *run, const struct digests *digests,
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

/* A line for each tensor, in the order of the file.  The model's digest covers
 * the bytes of all tensors. */
static void llama_show(struct run *run, const char *path,
                       struct mf_model *model, struct digests *digests)
{
    struct mf_tensor tensor;

    if (mf_model_hash_data(model, digests->info.kind, digests->model) !=
        MF_OK) {
        report_failure(run, path);
        return;
    }
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        llama_line(run, digests, digests_at(digests, i), path, &tensor);
    llama_line(run, digests, digests->model, path, NULL);
}

/* Whether llama-gguf-hash has the digest, too; xxh64 if none was given. */
static bool check_llama_algo(struct run *run)
{
    struct mf_digest_info info;
    unsigned *algo = &options.algo;

    for (unsigned i = 0; *algo == 0 && mf_digest_at(i, &info); i++)
        if (strcmp(info.name, "xxh64") == 0)
            *algo = i + 1;
    if (mf_digest_at(*algo - 1, &info) &&
        (info.kind == MF_XXH64 || info.kind == MF_SHA1 ||
         info.kind == MF_SHA256))
        return true;
    report_usage(run,
                 "'--format llama-gguf-hash' does not support %s: use xxh64, "
                 "sha1 or sha256",
                 info.name);
    return false;
}

/* The last lines: WORDS DIGEST FILE, the file's name escaped as in lines of
 * tensors. */
static void whole_line(struct run *run, const struct digests *digests,
                       const uint8_t *digest, const char *path)
{
    out_format(&run->out, "%s:%s  ", digests->info.name,
               hex_text(digest, digests->info.size).at);
    out_reversible(&run->out, str_of(path));
    out_text(&run->out, "\n");
}

static void digests_show(struct run *run, const char *path,
                         struct mf_model *model, struct digests *digests)
{
    const struct mf_digest_info *info = &digests->info;
    struct lines lines = { run, info->name };

    if (mf_model_hash_metadata(model, info->kind, digests->metadata) != MF_OK ||
        mf_model_hash(model, info->kind, digests->tensor, digests->model,
                      run->options->json ? NULL : line_text, &lines) != MF_OK) {
        report_failure(run, path);
    } else if (run->options->json) {
        digests_json(run, model, digests);
    } else {
        out_format(&run->out, "metadata %s ", mf_model_info(model)->format);
        whole_line(run, digests, digests->metadata, path);
        out_text(&run->out, "model ");
        whole_line(run, digests, digests->model, path);
    }
}

static void show_digests(struct run *run, const char *path,
                         enum mf_shards shards)
{
    unsigned algo = options.algo;
    struct digests digests = { 0 };
    struct mf_model *model;

    mf_digest_at(algo > 0 ? algo - 1 : KIND_DEFAULT, &digests.info);
    model = inputs_open(run, path, shards, false);
    if (!model)
        return;
    if (!digests_compute(run, path, model, &digests))
        ; /* reported */
    else if (options.form == FORM_LLAMA)
        llama_show(run, path, model, &digests);
    else
        digests_show(run, path, model, &digests);
    digests_release(run, model, &digests);
    mf_model_close(model);
}

/* ---- the command ---- */

static void hash(struct run *run)
{
    bool llama = options.form == FORM_LLAMA;

    if ((options.duplicates && !jobs_allow(run, "--duplicates")) ||
        (options.check && !jobs_allow(run, "--check")))
        return;
    if (options.duplicates && (options.check || options.algo > 0))
        report_usage(run, "'--duplicates' cannot be given with '%s'",
                     options.check ? "--check" : "--algo");
    else if (llama &&
             (options.duplicates || options.check || run->options->json))
        report_usage(run, "'--format llama-gguf-hash' cannot be given with "
                          "'--json', '--check' or '--duplicates'");
    else if (llama && !check_llama_algo(run))
        return;
    else if (options.duplicates)
        hash_duplicates(run);
    else if (options.check)
        hash_check(run, options.check, options.algo);
    else
        inputs_each(run, show_digests, report_failure);
}

const struct command command_hash = {
    .name = "hash",
    .sub = "",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .summary = "compute or check digests of tensors and models",
    .about = "Prints a digest of each tensor, of all tensors together "
             "and of the metadata, so that models can be compared "
             "whatever their format and order. --check compares with a "
             "manifest, which can be the output of this command, of "
             "llama-gguf-hash, or of sha256sum and sha1sum. --duplicates "
             "lists tensors with the same bytes, over all FILEs.\n",
    .examples = "modelfile hash model.gguf >manifest\n"
                "modelfile hash --check manifest model.safetensors\n"
                "modelfile hash --algo sha256 --json model.gguf\n"
                "modelfile hash --duplicates model.gguf other.safetensors\n",
    .exit_no = "--check: a model differs from the manifest",
    .options = table,
    .remote = true,
    .in_order = true,
    .shared = true,
    .execute = hash,
    .check_operands = files_from_operands,
};
