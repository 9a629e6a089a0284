/* SPDX-License-Identifier: MIT
 *
 * hash.h - digests of a model, and manifests that say what they should be
 */
#ifndef MF_CLI_HASH_H
#define MF_CLI_HASH_H

#include <limits.h>

#include "cli/cli.h"

#define KIND_DEFAULT MF_XXH3_64
#define KIND_UUID    UINT_MAX /* of an entry: that of llama-gguf-hash */

/* Digits of a digest, terminated. */
struct hex_text {
    char at[2 * MF_DIGEST_MAX + 1];
};
struct hex_text hex_text(const uint8_t *digest, size_t size);

/* Digests of a model's tensors, and of all together. */
struct digests {
    struct mf_digest_info info;
    uint8_t *tensor; /* one after the other; NULL: not asked for */
    uint8_t model[MF_DIGEST_MAX];
};

/* Of all tensors; false after report_failure. */
bool digests_take(struct run *run, const char *path, struct mf_model *model,
                  struct digests *digests);
void digests_release(struct run *run, const struct mf_model *model,
                     struct digests *digests);

static inline const uint8_t *digests_at(const struct digests *digests,
                                        size_t tensor)
{
    return digests->tensor + tensor * digests->info.size;
}

/* ---- manifest.c ---- */

struct entry {          /* a line of a manifest */
    struct mf_str name; /* of the tensor; of the file where whole is set */
    const char *hex;    /* as many digits as the kind has, in any case */
    unsigned kind;      /* enum mf_digest_kind or KIND_UUID */
    bool whole;         /* of all the file's tensors together, or its bytes */
    size_t line;
    size_t tensor; /* for whoever looks it up */
};

/* Whose form the lines of a manifest have. */
enum manifest_form {
    MANIFEST_OWN,
    MANIFEST_LLAMA, /* llama-gguf-hash: about one file */
    MANIFEST_SUMS   /* sha1sum, sha256sum: of files, whatever is in them */
};

/* The entries of a file end with one that is whole. */
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

void hash_check(struct run *run);

#endif
