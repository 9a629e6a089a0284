/* SPDX-License-Identifier: MIT
 *
 * check_choose.c - which entries of a manifest are about a model
 *
 * A manifest may list several models under names from another folder, and
 * digests of several kinds.  First the kind is chosen, the strongest unless
 * --algo is given; then for each file its entries, by name, or the only ones
 * that there are.
 */
#include "cli/commands/hash/hash.h"

#include <strings.h>

#include "cli/report.h"

#define UUID_SIZE 16

bool check_choose_kind(struct run *run, const char *path, unsigned algo,
                       struct wanted *wanted)
{
    struct mf_digest_info *kind = &wanted->kind;
    unsigned chosen = 0;
    bool found = false;

    for (size_t i = 0; i < wanted->manifest.count; i++) {
        unsigned has = wanted->manifest.entry[i].kind;

        if (algo > 0 && has != algo - 1)
            continue;
        if (!found || chosen == KIND_UUID || (has != KIND_UUID && has > chosen))
            chosen = has;
        found = true;
    }
    wanted->chosen = chosen;
    *kind = (struct mf_digest_info){ .name = "uuid", .size = UUID_SIZE };
    if (found)
        return chosen == KIND_UUID || mf_digest_at(chosen, kind);
    if (algo > 0 && mf_digest_at(algo - 1, kind))
        report_input(run, path, "the manifest has no %s digests", kind->name);
    else
        report_input(run, path,
                     "the manifest has only digests of an unsupported kind");
    return false;
}

/* Sets the entries of the model whose last entry is number whole. */
static void set_entries(struct check *check, size_t whole)
{
    const struct manifest *manifest = &check->wanted->manifest;
    size_t first = whole;

    while (first > 0 && (manifest->form == MANIFEST_LLAMA ||
                         !manifest->entry[first - 1].whole))
        first--;
    check->entry = manifest->entry + first;
    check->count = whole + 1 - first;
    check->whole = manifest->entry + whole;
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
static int match_name(const struct check *check, const struct entry *entry)
{
    const char *path = check->path;

    if (str_same(entry->name, str_of(path)))
        return 2;
    return check->wanted->manifest.form == MANIFEST_SUMS &&
           str_same(last_part(entry->name), last_part(str_of(path)));
}

/* Equal digests; in lists of files the names may differ in their folders. */
static bool same_entry(const struct check *check, const struct entry *a,
                       const struct entry *b)
{
    size_t digits = strcspn(a->hex, " \n");

    return a->kind == b->kind &&
           (check->wanted->manifest.form == MANIFEST_SUMS ||
            str_same(a->name, b->name)) &&
           digits == strcspn(b->hex, " \n") &&
           strncasecmp(a->hex, b->hex, digits) == 0;
}

/* The entries that end with number whole are the same as the model's. In a
 * manifest of llama-gguf-hash tensors have one entry each. */
static bool same_entries(const struct check *check, size_t whole)
{
    struct check other = { .run = check->run, .wanted = check->wanted };
    const struct manifest *manifest = &check->wanted->manifest;

    if (manifest->form != MANIFEST_OWN)
        return same_entry(check, check->whole, &manifest->entry[whole]);
    set_entries(&other, whole);
    for (size_t i = 0; i < check->count && check->count == other.count; i++)
        if (!same_entry(check, &check->entry[i], &other.entry[i]))
            return false;
    return check->count == other.count;
}

bool check_choose_entries(struct check *check)
{
    const struct manifest *manifest = &check->wanted->manifest;
    size_t models = 0;
    bool named = false;
    int best = 1;

    for (size_t i = 0; i < manifest->count && best < 2; i++)
        if (manifest->entry[i].whole &&
            check_is_chosen(check->wanted, &manifest->entry[i]) &&
            match_name(check, &manifest->entry[i]) == 2)
            best = 2;
    for (size_t i = 0; i < manifest->count; i++) {
        const struct entry *entry = &manifest->entry[i];
        bool fits = match_name(check, entry) == best;

        if (!entry->whole || !check_is_chosen(check->wanted, entry))
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
