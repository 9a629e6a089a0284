/* SPDX-License-Identifier: MIT
 *
 * check.c - modelfile hash --check: models against a manifest
 *
 * check_choose.c says which entries of the manifest are about a model; here
 * they are compared with it.
 */
#include "cli/commands/hash/hash.h"

#include <string.h>
#include <strings.h>

#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/report.h"

#define NO_TENSOR SIZE_MAX

static struct wanted wanted;

/* Finds the tensors of the entries. */
static void find_tensors(struct check *check)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < check->count; i++) {
        struct entry *entry = &check->entry[i];

        entry->tensor = NO_TENSOR;
        if (!entry_is_tensor(entry) || !check_is_chosen(&wanted, entry))
            continue;
        check->has_tensors = true;
        if (mf_tensor_find(check->model, entry->name.at, entry->name.size,
                           &tensor, &entry->tensor))
            check->named[entry->tensor] = true;
    }
}

/* ---- comparing ---- */

/* As in manifests: a UUID has dashes. */
static struct hex_text digest_text(const uint8_t *digest)
{
    struct hex_text text = hex_text(digest, wanted.kind.size);

    for (size_t at = 8; wanted.chosen == KIND_UUID && at <= 23; at += 5) {
        memmove(text.at + at + 1, text.at + at, strlen(text.at + at) + 1);
        text.at[at] = '-';
    }
    return text;
}

static struct mf_str expected_text(const struct entry *entry)
{
    return (struct mf_str){ entry->hex, strcspn(entry->hex, " \n") };
}

static bool is_digest(const struct entry *entry, const uint8_t *digest)
{
    struct mf_str expected = expected_text(entry);

    return strncasecmp(expected.at, digest_text(digest).at, expected.size) == 0;
}

/* The digest of the model; false after report_failure. */
static bool compute_whole(struct check *check)
{
    struct digests *digests = &check->digests;
    enum mf_status status;

    if (wanted.chosen == KIND_UUID)
        status = mf_model_uuid(check->model, digests->model);
    else if (wanted.manifest.form == MANIFEST_LLAMA)
        status =
            mf_model_hash_data(check->model, wanted.kind.kind, digests->model);
    else
        status = mf_model_hash(check->model, wanted.kind.kind, digests->tensor,
                               digests->model, NULL, NULL);
    if (status != MF_OK)
        report_failure(check->run, check->path);
    return status == MF_OK;
}

/* Every digest that the entries have; false after report_failure. */
static bool compute_digests(struct check *check)
{
    if ((check->has_tensors || wanted.manifest.form == MANIFEST_OWN) &&
        !digests_compute(check->run, check->path, check->model,
                         &check->digests))
        return false;
    if (!compute_whole(check))
        return false;
    if (wanted.chosen == KIND_UUID ||
        mf_model_hash_metadata(check->model, wanted.kind.kind,
                               check->digests.metadata) == MF_OK)
        return true;
    report_failure(check->run, check->path);
    return false;
}

/* ---- output ---- */

/* "FILE: ", and with a name "tensor 'NAME' ". */
static void begin_line(const struct check *check, const struct mf_str *name)
{
    struct out *out = &check->run->out;

    out_escaped(out, str_of(check->path), "");
    out_text(out, ": ");
    if (name) {
        out_text(out, "tensor '");
        out_escaped(out, *name, "");
        out_text(out, "' ");
    }
}

static void print_digests(struct run *run, const uint8_t *digest,
                          const struct entry *entry)
{
    struct mf_str expected = expected_text(entry);

    out_format(&run->out, "%s, the manifest has %.*s\n", digest_text(digest).at,
               (int)expected.size, expected.at);
}

/* A tensor that is "different", with its digest and the expected one, or
 * "missing" or "extra", without. */
static void print_tensor(const struct check *check, const char *problem,
                         struct mf_str name, const uint8_t *digest,
                         const struct entry *entry)
{
    struct run *run = check->run;

    if (!run->options->json) {
        begin_line(check, &name);
        out_format(&run->out, "is %s%s", problem, digest ? ": " : "\n");
        if (digest)
            print_digests(run, digest, entry);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_str(run, "name", name);
    json_text(run, "problem", problem);
    if (digest) {
        json_text(run, "digest", digest_text(digest).at);
        json_str(run, "expected", expected_text(entry));
    }
    mf_json_end(&run->json, '}');
}

static void compare_tensors(struct check *check)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < check->count; i++) {
        const struct entry *entry = &check->entry[i];
        const uint8_t *digest;

        if (!entry_is_tensor(entry) || !check_is_chosen(&wanted, entry))
            continue;
        if (entry->tensor == NO_TENSOR) {
            check->missing++;
            print_tensor(check, "missing", entry->name, NULL, NULL);
            continue;
        }
        digest = digests_at(&check->digests, entry->tensor);
        if (!is_digest(entry, digest)) {
            check->different++;
            print_tensor(check, "different", entry->name, digest, entry);
        }
    }
    /* In a manifest of whole models no tensor is extra. */
    for (size_t i = 0;
         check->has_tensors && mf_tensor_at(check->model, i, &tensor); i++)
        if (!check->named[i]) {
            check->extra++;
            print_tensor(check, "extra", tensor.name, NULL, NULL);
        }
}

/* Metadata of another format is never the same; what is the same in it is for
 * `diff` to say. */
static bool is_comparable(const struct check *check)
{
    return check->metadata &&
           str_same(check->metadata->format,
                    str_of(mf_model_info(check->model)->format));
}

static void compare_metadata(struct check *check)
{
    const uint8_t *digest = check->digests.metadata;

    for (size_t i = 0; i < check->count && !check->metadata_differs; i++) {
        const struct entry *entry = &check->entry[i];

        if (entry->format.size == 0 || !check_is_chosen(&wanted, entry))
            continue;
        check->metadata = entry;
        check->metadata_differs =
            is_comparable(check) && !is_digest(entry, digest);
    }
    if (!check->metadata_differs || check->run->options->json)
        return;
    begin_line(check, NULL);
    out_text(&check->run->out, "metadata is different: ");
    print_digests(check->run, digest, check->metadata);
}

/* What was found about metadata, at the end of a line. */
static void show_metadata(const struct check *check)
{
    struct out *out = &check->run->out;

    if (!check->metadata)
        out_text(out, "; metadata not covered\n");
    else if (!is_comparable(check))
        out_format(out, "; metadata not compared: %.*s in the manifest\n",
                   (int)check->metadata->format.size,
                   check->metadata->format.at);
    else
        out_text(out, check->metadata_differs ? "; metadata differs\n"
                                              : "; metadata matches\n");
}

static void json_null(struct run *run, const char *key)
{
    mf_json_key(&run->json, key);
    mf_json_null(&run->json);
}

static void metadata_json(const struct check *check)
{
    struct run *run = check->run;

    if (wanted.chosen == KIND_UUID)
        json_null(run, "metadata");
    else
        json_text(run, "metadata", digest_text(check->digests.metadata).at);
    if (is_comparable(check))
        json_str(run, "metadata_expected", expected_text(check->metadata));
    else
        json_null(run, "metadata_expected");
}

static void show_verdict(const struct check *check, bool match)
{
    const char *algo = check->digests.info.name;
    struct out *out = &check->run->out;
    size_t tensors = mf_model_info(check->model)->tensor_count;

    begin_line(check, NULL);
    if (match)
        out_format(out, "%zu tensor%s, %s matches", tensors,
                   tensors == 1 ? "" : "s", algo);
    else if (check->different + check->missing + check->extra > 0)
        out_format(out, "%zu tensor%s, %zu different, %zu missing, %zu extra",
                   tensors, tensors == 1 ? "" : "s", check->different,
                   check->missing, check->extra);
    else
        out_format(out, "%zu tensor%s, %s of the model does not match", tensors,
                   tensors == 1 ? "" : "s", algo);
    missing_counted(check->run, check->model);
    show_metadata(check);
}

static void compare(struct check *check)
{
    struct run *run = check->run;
    bool match;

    if (run->options->json) {
        json_text(run, "algo", check->digests.info.name);
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    }
    compare_tensors(check);
    compare_metadata(check);
    match = check->different + check->missing + check->extra == 0 &&
            is_digest(check->whole, check->digests.model);
    if (!match || check->metadata_differs)
        report_code(run, EXIT_NO);
    if (!run->options->json) {
        show_verdict(check, match);
        return;
    }
    mf_json_end(&run->json, ']');
    metadata_json(check);
    json_text(run, "model", digest_text(check->digests.model).at);
    json_str(run, "expected", expected_text(check->whole));
    json_bool(run, "match", match && !check->metadata_differs);
}

/* ---- the command ---- */

static void check_model(struct check *check)
{
    struct run *run = check->run;
    size_t size = mf_model_info(check->model)->tensor_count + 1;

    check->named = mf_env_resize(run->env, NULL, 0, size);
    if (!check->named) {
        report_failure(run, check->path);
        return;
    }
    memset(check->named, 0, size);
    find_tensors(check);
    if (compute_digests(check))
        compare(check);
    digests_release(run, check->model, &check->digests);
    mf_env_resize(run->env, check->named, size, 0);
}

/* False after report_no. */
static bool find_entries(struct check *check)
{
    struct run *run = check->run;
    bool files = wanted.manifest.form == MANIFEST_SUMS;

    if (check_choose_entries(check))
        return true;
    if (check->contradicted > 0)
        report_no(run,
                  "%s: lines %zu and %zu of the manifest%s contradict each "
                  "other",
                  check->path, check->whole->line, check->contradicted,
                  files ? "" : ", or those before them,");
    else
        report_no(run, "%s: the manifest has no %s digest for this %s",
                  check->path, wanted.kind.name, files ? "file" : "model");
    if (run->options->json)
        json_bool(run, "match", false);
    return false;
}

/* The digest of all bytes of a file, which may not be a model. */
static void show_file(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = { .wanted = &wanted, .run = run, .path = path };
    uint8_t digest[MF_DIGEST_MAX];
    bool match;

    (void)shards;
    if (!find_entries(&check))
        return;
    if (mf_file_hash(run->env, inputs_model_path(run, path), wanted.kind.kind,
                     digest) != MF_OK) {
        report_failure(run, path);
        return;
    }
    match = is_digest(check.whole, digest);
    if (!match)
        report_code(run, EXIT_NO);
    if (run->options->json) {
        json_text(run, "algo", wanted.kind.name);
        json_text(run, "digest", digest_text(digest).at);
        json_str(run, "expected", expected_text(check.whole));
        json_bool(run, "match", match);
        return;
    }
    begin_line(&check, NULL);
    out_format(&run->out, "%s of the file %s", wanted.kind.name,
               match ? "matches\n" : "is different: ");
    if (!match)
        print_digests(run, digest, check.whole);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = {
        .wanted = &wanted, .run = run, .path = path, .digests.info = wanted.kind
    };

    if (!find_entries(&check))
        return;
    check.model = inputs_open(run, path, shards, false);
    if (check.model)
        check_model(&check);
    mf_model_close(check.model);
}

void hash_check(struct run *run, const char *path, unsigned algo)
{
    if (!manifest_read(run, path, &wanted.manifest))
        return;
    if (!check_choose_kind(run, path, algo, &wanted))
        ; /* reported */
    else if (wanted.manifest.form == MANIFEST_SUMS)
        inputs_files(run, show_file);
    else
        inputs_each(run, show, report_failure);
    manifest_release(run, &wanted.manifest);
}
