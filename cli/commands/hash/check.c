/* SPDX-License-Identifier: MIT
 *
 * check.c - modelfile hash --check: models against a manifest
 */
#include "cli/commands/hash/hash.h"

#include <string.h>
#include <strings.h>

#define NO_TENSOR SIZE_MAX
#define UUID_SIZE 16

static struct manifest manifest;
static struct mf_digest_info kind; /* of its digests, the one to check */
static unsigned chosen;            /* that of its entries */

/* What the manifest says of one model, and what its file says. */
struct check {
    struct run *run;
    const char *path;
    struct mf_model *model;
    struct digests digests;
    struct entry *entry; /* of this model, those of other kinds among them */
    size_t count;
    const struct entry *whole; /* of the whole model */
    bool has_tensors;          /* there are entries of tensors, too */
    bool *named;               /* of each tensor: there is one */
    size_t different, missing, extra;
    size_t contradicted; /* line that says otherwise of the model; 0: none */
};

/* ---- which entries ---- */

/* The kind that was asked for, else the strongest that the manifest has, which
 * a UUID is not, as it says nothing of tensors; false after report_input. */
static bool choose_kind(struct run *run)
{
    unsigned wanted = run->options.algo;
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
        report_input(run, run->options.check, "the manifest has no %s digests",
                     kind.name);
    else
        report_input(run, run->options.check,
                     "the manifest has no digests but uuid, which is not known "
                     "here");
    return false;
}

static bool concerns(const struct entry *entry)
{
    return entry->kind == chosen;
}

/* The entries from the one behind the last model's to this model's. */
static void take_entries(struct check *check, size_t whole)
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

/* Without the folders before it. */
static struct mf_str last_part(struct mf_str path)
{
    size_t before = path.size;

    while (before > 0 && path.at[before - 1] != '/')
        before--;
    return (struct mf_str){ path.at + before, path.size - before };
}

/* 2: an entry has the name of this file; 1: at least its last part, which is
 * for a list of files that was made in another folder; 0: neither. */
static int fit(const struct entry *entry, const char *path)
{
    if (same_text(entry->name, str_of(path)))
        return 2;
    return manifest.form == MANIFEST_SUMS &&
           same_text(last_part(entry->name), last_part(str_of(path)));
}

/* One line says what the other does; two of files that both fit may have
 * different names. */
static bool same_entry(const struct entry *a, const struct entry *b)
{
    size_t digits = strcspn(a->hex, " \n");

    return a->kind == b->kind &&
           (manifest.form == MANIFEST_SUMS || same_text(a->name, b->name)) &&
           digits == strcspn(b->hex, " \n") &&
           strncasecmp(a->hex, b->hex, digits) == 0;
}

/* The entries up to whole say of the model what its entries do.  In a manifest
 * of llama-gguf-hash those of tensors are the same ones. */
static bool same_entries(const struct check *check, size_t whole)
{
    struct check other = { .run = check->run };

    if (manifest.form != MANIFEST_OWN)
        return same_entry(check->whole, &manifest.entry[whole]);
    take_entries(&other, whole);
    for (size_t i = 0; i < check->count && check->count == other.count; i++)
        if (!same_entry(&check->entry[i], &other.entry[i]))
            return false;
    return check->count == other.count;
}

/* The only model of the manifest, whatever it is called, or the one with the
 * name of this file; false where there is none, or where two are not the same.
 */
static bool choose_entries(struct check *check)
{
    size_t models = 0;
    bool named = false;
    int best = 1;

    for (size_t i = 0; i < manifest.count && best < 2; i++)
        if (manifest.entry[i].whole && concerns(&manifest.entry[i]) &&
            fit(&manifest.entry[i], check->path) == 2)
            best = 2;
    for (size_t i = 0; i < manifest.count; i++) {
        const struct entry *entry = &manifest.entry[i];
        bool fits = fit(entry, check->path) == best;

        if (!entry->whole || !concerns(entry))
            continue;
        if (named && fits && !same_entries(check, i)) {
            check->contradicted = entry->line;
            return false;
        }
        if (models++ == 0 || (fits && !named))
            take_entries(check, i);
        named = named || fits;
    }
    return named || models == 1;
}

/* Finds the tensors that entries name. */
static void find_tensors(struct check *check)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < check->count; i++) {
        struct entry *entry = &check->entry[i];

        entry->tensor = NO_TENSOR;
        if (entry->whole || !concerns(entry))
            continue;
        check->has_tensors = true;
        if (mf_tensor_find(check->model, entry->name.at, entry->name.size,
                           &tensor, &entry->tensor))
            check->named[entry->tensor] = true;
    }
}

/* ---- comparing ---- */

/* As manifests have it: a UUID has dashes. */
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

/* Of a model; false after report_failure. */
static bool take_whole(struct check *check)
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

/* All the digests that the entries ask for; false after report_failure. */
static bool take_digests(struct check *check)
{
    if ((check->has_tensors || manifest.form == MANIFEST_OWN) &&
        !digests_take(check->run, check->path, check->model, &check->digests))
        return false;
    return take_whole(check);
}

/* ---- telling ---- */

/* "FILE: ", and of a tensor "tensor 'NAME' ". */
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

static void tell_digests(struct run *run, const uint8_t *digest,
                         const struct entry *entry)
{
    struct mf_str expected = expected_text(entry);

    out_format(&run->out, "%s, the manifest has %.*s\n", digest_text(digest).at,
               (int)expected.size, expected.at);
}

/* A tensor that is "different", with its digest and what that should be, or
 * "missing" or "extra", without (NULL). */
static void tell(const struct check *check, const char *problem,
                 struct mf_str name, const uint8_t *digest,
                 const struct entry *entry)
{
    struct run *run = check->run;

    if (!run->options.json) {
        begin_line(check, &name);
        out_format(&run->out, "is %s%s", problem, digest ? ": " : "\n");
        if (digest)
            tell_digests(run, digest, entry);
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

        if (entry->whole || !concerns(entry))
            continue;
        if (entry->tensor == NO_TENSOR) {
            check->missing++;
            tell(check, "missing", entry->name, NULL, NULL);
            continue;
        }
        digest = digests_at(&check->digests, entry->tensor);
        if (!is_digest(entry, digest)) {
            check->different++;
            tell(check, "different", entry->name, digest, entry);
        }
    }
    /* A manifest of the whole alone leaves no tensor out. */
    for (size_t i = 0;
         check->has_tensors && mf_tensor_at(check->model, i, &tensor); i++)
        if (!check->named[i]) {
            check->extra++;
            tell(check, "extra", tensor.name, NULL, NULL);
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
        out_format(out, "%zu tensor%s, %s of the whole does not match\n",
                   tensors, tensors == 1 ? "" : "s", algo);
}

static void compare(struct check *check)
{
    struct run *run = check->run;
    bool match;

    if (run->options.json) {
        json_text(run, "algo", check->digests.info.name);
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    }
    compare_tensors(check);
    match = check->different + check->missing + check->extra == 0 &&
            is_digest(check->whole, check->digests.model);
    if (!match)
        report_worse(run, EXIT_NO);
    if (!run->options.json) {
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
    if (take_digests(check))
        compare(check);
    digests_release(run, check->model, &check->digests);
    mf_env_resize(run->env, check->named, size, 0);
}

/* False after report_no. */
static bool find_entries(struct check *check)
{
    struct run *run = check->run;
    bool files = manifest.form == MANIFEST_SUMS;

    if (run->options.json)
        json_str(run, "file", str_of(check->path));
    if (choose_entries(check))
        return true;
    if (check->contradicted > 0)
        report_no(run,
                  "%s: lines %zu and %zu of the manifest%s contradict each "
                  "other",
                  check->path, check->whole->line, check->contradicted,
                  files ? "" : ", and what stands before them,");
    else
        report_no(run, "%s: the manifest has no %s of a %s with this name",
                  check->path, kind.name, files ? "file" : "model");
    if (run->options.json)
        json_bool(run, "match", false);
    return false;
}

/* All bytes of a file, which need not be a model. */
static void show_file(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = { .run = run, .path = path };
    uint8_t digest[MF_DIGEST_MAX];
    bool match;

    (void)shards; /* a shard is a file of its own */
    if (!find_entries(&check))
        return;
    if (mf_file_hash(run->env, inputs_path(path), kind.kind, digest) != MF_OK) {
        report_failure(run, path);
        return;
    }
    match = is_digest(check.whole, digest);
    if (!match)
        report_worse(run, EXIT_NO);
    if (run->options.json) {
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
        tell_digests(run, digest, check.whole);
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

void hash_check(struct run *run)
{
    if (!manifest_read(run, run->options.check, &manifest))
        return;
    if (!choose_kind(run))
        ; /* which was reported */
    else if (manifest.form == MANIFEST_SUMS)
        inputs_files(run, show_file);
    else
        inputs_each(run, show, report_failure);
    manifest_release(run, &manifest);
}
