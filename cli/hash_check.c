/* SPDX-License-Identifier: MIT
 *
 * hash_check.c - modelfile hash --check: models against a manifest
 */
#include "cli/hash.h"

#include <string.h>
#include <strings.h>

#define NO_TENSOR SIZE_MAX

static struct manifest manifest;
static struct mf_digest_info kind; /* of its digests, the one to check */

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

/* The kind that was asked for, else the strongest that the manifest has; false
 * after report_input. */
static bool choose_kind(struct run *run)
{
    unsigned wanted = run->options.algo, best = 0;

    for (size_t i = 0; i < manifest.count; i++) {
        unsigned has = manifest.entry[i].kind;

        if (has != KIND_FOREIGN && (wanted == 0 || has == wanted - 1) &&
            has + 1 > best)
            best = has + 1;
    }
    if (best > 0)
        return mf_digest_at(best - 1, &kind);
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
    return entry->kind == (unsigned)kind.kind;
}

/* The entries from the one behind the last model's to this model's. */
static void take_entries(struct check *check, size_t whole)
{
    size_t first = whole;

    while (first > 0 && (manifest.foreign || !manifest.entry[first - 1].whole))
        first--;
    check->entry = manifest.entry + first;
    check->count = whole + 1 - first;
    check->whole = manifest.entry + whole;
}

static bool same_name(const struct entry *entry, struct mf_str name)
{
    return entry->name.size == name.size &&
           memcmp(entry->name.at, name.at, name.size) == 0;
}

/* One line says what the other does. */
static bool same_entry(const struct entry *a, const struct entry *b)
{
    size_t digits = strcspn(a->hex, " ");

    return a->kind == b->kind && same_name(a, b->name) &&
           digits == strcspn(b->hex, " ") &&
           strncasecmp(a->hex, b->hex, digits) == 0;
}

/* The entries up to whole say of the model what its entries do.  In a manifest
 * of llama-gguf-hash those of tensors are the same ones. */
static bool same_entries(const struct check *check, size_t whole)
{
    struct check other = { .run = check->run };

    if (manifest.foreign)
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

    for (size_t i = 0; i < manifest.count; i++) {
        const struct entry *entry = &manifest.entry[i];
        bool fits = same_name(entry, str_of(check->path));

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

static bool is_digest(const struct check *check, const struct entry *entry,
                      const uint8_t *digest)
{
    size_t size = check->digests.info.size;

    return strncasecmp(entry->hex, hex_text(digest, size).at, 2 * size) == 0;
}

/* All the digests that the entries ask for; false after report_failure. */
static bool take_digests(struct check *check)
{
    struct digests *digests = &check->digests;
    enum mf_status status;

    if ((check->has_tensors || !manifest.foreign) &&
        !digests_take(check->run, check->path, check->model, digests))
        return false;
    status = manifest.foreign
                 ? mf_hash_data(check->model, kind.kind, digests->model)
                 : mf_hash_model(check->model, kind.kind, digests->tensor,
                                 digests->model, NULL, NULL);
    if (status != MF_OK)
        report_failure(check->run, check->path);
    return status == MF_OK;
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

/* A tensor that is "different", with its digest and what that should be, or
 * "missing" or "extra", without (NULL). */
static void tell(const struct check *check, const char *problem,
                 struct mf_str name, const uint8_t *digest,
                 const char *expected)
{
    struct run *run = check->run;
    size_t size = check->digests.info.size;

    if (!run->options.json) {
        begin_line(check, &name);
        out_format(&run->out, "is %s%s", problem, digest ? ": " : "\n");
        if (digest)
            out_format(&run->out, "%s, the manifest has %.*s\n",
                       hex_text(digest, size).at, (int)(2 * size), expected);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_str(run, "name", name);
    json_text(run, "problem", problem);
    if (digest) {
        json_text(run, "digest", hex_text(digest, size).at);
        json_str(run, "expected", (struct mf_str){ expected, 2 * size });
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
        if (!is_digest(check, entry, digest)) {
            check->different++;
            tell(check, "different", entry->name, digest, entry->hex);
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
    size_t size = check->digests.info.size;
    bool match;

    if (run->options.json) {
        json_text(run, "algo", check->digests.info.name);
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    }
    compare_tensors(check);
    match = check->different + check->missing + check->extra == 0 &&
            is_digest(check, check->whole, check->digests.model);
    if (!match)
        report_worse(run, EXIT_NO);
    if (!run->options.json) {
        show_verdict(check, match);
        return;
    }
    mf_json_end(&run->json, ']');
    json_text(run, "model", hex_text(check->digests.model, size).at);
    json_str(run, "expected", (struct mf_str){ check->whole->hex, 2 * size });
    json_bool(run, "match", match);
}

/* ---- the command ---- */

static void check_model(struct check *check)
{
    struct run *run = check->run;
    size_t size = mf_model_info(check->model)->tensor_count + 1;

    check->named = mf_resize(run->env, NULL, 0, size);
    if (!check->named) {
        report_failure(run, check->path);
        return;
    }
    memset(check->named, 0, size);
    find_tensors(check);
    if (take_digests(check))
        compare(check);
    digests_release(run, check->model, &check->digests);
    mf_resize(run->env, check->named, size, 0);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct check check = { .run = run, .path = path, .digests.info = kind };

    if (run->options.json)
        json_str(run, "file", str_of(path));
    if (!choose_entries(&check)) {
        if (check.contradicted > 0)
            report_no(run,
                      "%s: lines %zu and %zu of the manifest, and what stands "
                      "before them, contradict each other",
                      path, check.whole->line, check.contradicted);
        else
            report_no(run,
                      "%s: the manifest has no %s of a model with this name",
                      path, kind.name);
        if (run->options.json)
            json_bool(run, "match", false);
        return;
    }
    check.model = inputs_open(run, path, shards, false);
    if (check.model)
        check_model(&check);
    mf_close(check.model);
}

void hash_check(struct run *run)
{
    if (!manifest_read(run, run->options.check, &manifest))
        return;
    if (choose_kind(run))
        inputs_each(run, show, report_failure);
    manifest_release(run, &manifest);
}
