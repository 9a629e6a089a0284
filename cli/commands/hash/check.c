/* SPDX-License-Identifier: MIT
 *
 * check.c - modelfile hash --check: models against a manifest
 *
 * A manifest may list several models under names from another folder, and
 * digests of several kinds.  First the kind is chosen, the strongest unless
 * --algo is given; then for each file its entries, by name, or the only ones
 * that there are.
 */
#include "cli/commands/hash/hash.h"

#include <string.h>
#include <strings.h>

#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/report.h"

#define NO_TENSOR SIZE_MAX
#define UUID_SIZE 16

static struct manifest manifest;
static struct mf_digest_info kind; /* of the digests to check */
static unsigned chosen;            /* the same, as entries have it */

/* One model, and its entries. */
struct check {
    struct run *run;
    const char *path;
    struct mf_model *model;
    struct digests digests;
    struct entry *entry; /* of this model, of all kinds */
    size_t count;
    const struct entry *whole; /* of the whole model */
    bool has_tensors;          /* there are entries of tensors */
    bool *named;               /* for each tensor: it has an entry */
    size_t different, missing, extra;
    size_t contradicted; /* line with other digests of the model; or 0 */
};

/* ---- which entries ---- */

/* The wanted kind, else the strongest in the manifest; a UUID is the weakest,
 * as it covers no tensor.  False after report_input. */
static bool choose_kind(struct run *run, const char *path, unsigned wanted)
{
    bool found = false;

    for (size_t i = 0; i < manifest.count; i++) {
        unsigned has = manifest.entry[i].kind;

        if (wanted > 0 && has != wanted - 1)
            continue;
        if (!found || chosen == KIND_UUID || (has != KIND_UUID && has > chosen))
            chosen = has;
        found = true;
    }
    kind = (struct mf_digest_info){ .name = "uuid", .size = UUID_SIZE };
    if (found)
        return chosen == KIND_UUID || mf_digest_at(chosen, &kind);
    if (wanted > 0 && mf_digest_at(wanted - 1, &kind))
        report_input(run, path, "the manifest has no %s digests", kind.name);
    else
        report_input(run, path,
                     "the manifest has only digests of an unsupported kind");
    return false;
}

static bool is_chosen(const struct entry *entry)
{
    return entry->kind == chosen;
}

/* Sets the entries of the model whose last entry is number whole. */
static void set_entries(struct check *check, size_t whole)
{
    size_t first = whole;

    while (first > 0 && (manifest.form == MANIFEST_LLAMA ||
                         !manifest.entry[first - 1].whole))
        first--;
    check->entry = manifest.entry + first;
    check->count = whole + 1 - first;
    check->whole = manifest.entry + whole;
}

static bool same_text(struct mf_str a, struct mf_str b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Without the folders in front. */
static struct mf_str last_part(struct mf_str path)
{
    size_t before = path.size;

    while (before > 0 && path.at[before - 1] != '/')
        before--;
    return (struct mf_str){ path.at + before, path.size - before };
}

/* 2: the entry has the name of this file; 1: the same last part, in a list that
 * may have been made in another folder; 0: neither. */
static int match_name(const struct entry *entry, const char *path)
{
    if (same_text(entry->name, str_of(path)))
        return 2;
    return manifest.form == MANIFEST_SUMS &&
           same_text(last_part(entry->name), last_part(str_of(path)));
}

/* Equal digests; in lists of files the names may differ in their folders. */
static bool same_entry(const struct entry *a, const struct entry *b)
{
    size_t digits = strcspn(a->hex, " \n");

    return a->kind == b->kind &&
           (manifest.form == MANIFEST_SUMS || same_text(a->name, b->name)) &&
           digits == strcspn(b->hex, " \n") &&
           strncasecmp(a->hex, b->hex, digits) == 0;
}

/* The entries that end with number whole are the same as those of the model. In
 * a manifest of llama-gguf-hash tensors have one entry each. */
static bool same_entries(const struct check *check, size_t whole)
{
    struct check other = { .run = check->run };

    if (manifest.form != MANIFEST_OWN)
        return same_entry(check->whole, &manifest.entry[whole]);
    set_entries(&other, whole);
    for (size_t i = 0; i < check->count && check->count == other.count; i++)
        if (!same_entry(&check->entry[i], &other.entry[i]))
            return false;
    return check->count == other.count;
}

/* The entries of the file: those with its name, or those of the only model in
 * the manifest.  False if there are none, or if two lists contradict. */
static bool choose_entries(struct check *check)
{
    size_t models = 0;
    bool named = false;
    int best = 1;

    for (size_t i = 0; i < manifest.count && best < 2; i++)
        if (manifest.entry[i].whole && is_chosen(&manifest.entry[i]) &&
            match_name(&manifest.entry[i], check->path) == 2)
            best = 2;
    for (size_t i = 0; i < manifest.count; i++) {
        const struct entry *entry = &manifest.entry[i];
        bool fits = match_name(entry, check->path) == best;

        if (!entry->whole || !is_chosen(entry))
            continue;
        if (named && fits && !same_entries(check, i)) {
            check->contradicted = entry->line;
            return false;
        }
        if (models++ == 0 || (fits && !named))
            set_entries(check, i);
        named = named || fits;
    }
    return named || models == 1;
}

/* Finds the tensors of the entries. */
static void find_tensors(struct check *check)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < check->count; i++) {
        struct entry *entry = &check->entry[i];

        entry->tensor = NO_TENSOR;
        if (entry->whole || !is_chosen(entry))
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
    struct hex_text text = hex_text(digest, kind.size);

    for (size_t at = 8; chosen == KIND_UUID && at <= 23; at += 5) {
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

    if (chosen == KIND_UUID)
        status = mf_model_uuid(check->model, digests->model);
    else if (manifest.form == MANIFEST_LLAMA)
        status = mf_model_hash_data(check->model, kind.kind, digests->model);
    else
        status = mf_model_hash(check->model, kind.kind, digests->tensor,
                               digests->model, NULL, NULL);
    if (status != MF_OK)
        report_failure(check->run, check->path);
    return status == MF_OK;
}

/* Every digest that the entries have; false after report_failure. */
static bool compute_digests(struct check *check)
{
    if ((check->has_tensors || manifest.form == MANIFEST_OWN) &&
        !digests_compute(check->run, check->path, check->model,
                         &check->digests))
        return false;
    return compute_whole(check);
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

        if (entry->whole || !is_chosen(entry))
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

static void show_verdict(const struct check *check, bool match)
{
    const char *algo = check->digests.info.name;
    struct out *out = &check->run->out;
    size_t tensors = mf_model_info(check->model)->tensor_count;

    begin_line(check, NULL);
    if (match)
        out_format(out, "%zu tensor%s, %s matches\n", tensors,
                   tensors == 1 ? "" : "s", algo);
    else if (check->different + check->missing + check->extra > 0)
        out_format(out, "%zu tensor%s, %zu different, %zu missing, %zu extra\n",
                   tensors, tensors == 1 ? "" : "s", check->different,
                   check->missing, check->extra);
    else
        out_format(out, "%zu tensor%s, %s of the model does not match\n",
                   tensors, tensors == 1 ? "" : "s", algo);
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
    match = check->different + check->missing + check->extra == 0 &&
            is_digest(check->whole, check->digests.model);
    if (!match)
        report_code(run, EXIT_NO);
    if (!run->options->json) {
        show_verdict(check, match);
        return;
    }
    mf_json_end(&run->json, ']');
    json_text(run, "model", digest_text(check->digests.model).at);
    json_str(run, "expected", expected_text(check->whole));
    json_bool(run, "match", match);
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
    bool files = manifest.form == MANIFEST_SUMS;

    if (choose_entries(check))
        return true;
    if (check->contradicted > 0)
        report_no(run,
                  "%s: lines %zu and %zu of the manifest%s contradict each "
                  "other",
                  check->path, check->whole->line, check->contradicted,
                  files ? "" : ", or those before them,");
    else
        report_no(run, "%s: the manifest has no %s digest for this %s",
                  check->path, kind.name, files ? "file" : "model");
    if (run->options->json)
        json_bool(run, "match", false);
    return false;
}

/* The digest of all bytes of a file, which may not be a model. */
static void show_file(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = { .run = run, .path = path };
    uint8_t digest[MF_DIGEST_MAX];
    bool match;

    (void)shards;
    if (!find_entries(&check))
        return;
    if (mf_file_hash(run->env, inputs_path(path), kind.kind, digest) != MF_OK) {
        report_failure(run, path);
        return;
    }
    match = is_digest(check.whole, digest);
    if (!match)
        report_code(run, EXIT_NO);
    if (run->options->json) {
        json_text(run, "algo", kind.name);
        json_text(run, "digest", digest_text(digest).at);
        json_str(run, "expected", expected_text(check.whole));
        json_bool(run, "match", match);
        return;
    }
    begin_line(&check, NULL);
    out_format(&run->out, "%s of the file %s", kind.name,
               match ? "matches\n" : "is different: ");
    if (!match)
        print_digests(run, digest, check.whole);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = { .run = run, .path = path, .digests.info = kind };

    if (!find_entries(&check))
        return;
    check.model = inputs_open(run, path, shards, false);
    if (check.model)
        check_model(&check);
    mf_model_close(check.model);
}

void hash_check(struct run *run, const char *path, unsigned algo)
{
    if (!manifest_read(run, path, &manifest))
        return;
    if (!choose_kind(run, path, algo))
        ; /* reported */
    else if (manifest.form == MANIFEST_SUMS)
        inputs_files(run, show_file);
    else
        inputs_each(run, show, report_failure);
    manifest_release(run, &manifest);
}
