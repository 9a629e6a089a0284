/* SPDX-License-Identifier: MIT
 *
 * hash.h - digests of a model, and manifests of them
 */
#ifndef MF_CLI_HASH_H
#define MF_CLI_HASH_H

#include <limits.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/textfile.h"

#define KIND_DEFAULT MF_XXH3_64
#define KIND_UUID    UINT_MAX /* llama-gguf-hash's uuid of a whole model */

/* ---- digests.c ---- */

/* Hexadecimal digits of a digest. */
struct hex_text {
    char at[2 * MF_DIGEST_MAX + 1];
};
struct hex_text hex_text(const uint8_t *digest, size_t size);

/* Digests of a model's tensors, and of all together. */
struct digests {
    struct mf_digest_info info;
    uint8_t *tensor; /* one after the other; NULL: not computed */
    uint8_t model[MF_DIGEST_MAX];
    uint8_t metadata[MF_DIGEST_MAX];
};

/* Computes the digests of all tensors; false after report_failure. */
bool digests_compute(struct run *run, const char *path, struct mf_model *model,
                     struct digests *digests);
void digests_release(struct run *run, const struct mf_model *model,
                     struct digests *digests);

static inline const uint8_t *digests_at(const struct digests *digests,
                                        size_t tensor)
{
    return digests->tensor + tensor * digests->info.size;
}

/* ---- manifest.c ---- */

struct entry {            /* a line of a manifest */
    struct mf_str name;   /* of the tensor; else of the file */
    struct mf_str format; /* of the file whose metadata this is; else empty */
    const char *hex;      /* the digest, in upper or lower case */
    unsigned kind;        /* enum mf_digest_kind or KIND_UUID */
    bool whole; /* of all tensors together, or all bytes of the file */
    size_t line;
    size_t tensor; /* set by check.c */
};

/* Which program's manifest it is. */
enum manifest_form {
    MANIFEST_OWN,
    MANIFEST_LLAMA, /* llama-gguf-hash: of one file */
    MANIFEST_SUMS   /* sha1sum, sha256sum: of any files */
};

/* Whether the entry is about a tensor. */
static inline bool entry_is_tensor(const struct entry *entry)
{
    return !entry->whole && entry->format.size == 0;
}

/* The entries of each model end with one that is whole. */
struct manifest {
    struct textfile file;
    struct entry *entry;
    size_t count, room;
    enum manifest_form form;
};

/* False after report_input. */
bool manifest_read(struct run *run, const char *path, struct manifest *out);
void manifest_release(struct run *run, struct manifest *manifest);

/* ---- check.c ---- */

/* --check: compares the models with the manifest.  algo: 1 + enum
 * mf_digest_kind, or 0 for the strongest that the manifest has. */
void hash_check(struct run *run, const char *path, unsigned algo);

/* ---- duplicates.c ---- */

/* --duplicates: lists tensors with equal bytes. */
void hash_duplicates(struct run *run);

/* ---- between the files of modelfile hash --check ---- */

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
