/* SPDX-License-Identifier: MIT
 *
 * check.h - between the files of modelfile hash --check
 */
#ifndef MF_CLI_HASH_CHECK_H
#define MF_CLI_HASH_CHECK_H

#include <string.h>

#include "cli/commands/hash/hash.h"

/* What all models are compared with. */
struct wanted {
    struct manifest manifest;
    struct mf_digest_info kind; /* of the digests to check */
    unsigned chosen;            /* the same, as entries have it */
};

/* One model, and its entries. */
struct check {
    const struct wanted *wanted;
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
    const struct entry *metadata; /* that differs, else any; NULL: none */
    bool metadata_differs;
    size_t contradicted; /* line with other digests of the model; or 0 */
};

static inline bool check_same_text(struct mf_str a, struct mf_str b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

static inline bool check_is_chosen(const struct wanted *wanted,
                                   const struct entry *entry)
{
    return entry->kind == wanted->chosen;
}

/* ---- check_choose.c ---- */

/* The kind of that number and 1, else the strongest in the manifest; a UUID is
 * the weakest, as it covers no tensor.  False after report_input. */
bool check_choose_kind(struct run *run, const char *path, unsigned algo,
                       struct wanted *wanted);

/* The entries of the file: the ones with its name, or all of the only model in
 * the manifest.  False if there are none, or if two lists contradict. */
bool check_choose_entries(struct check *check);

#endif
