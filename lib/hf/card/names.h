/* SPDX-License-Identifier: MIT
 *
 * names.h - what the name of a model says: "Llama-3.1-8B-Instruct-v0.2"
 *
 * Words between hyphens are sizes, versions and kinds of fine-tuning by how
 * they look, as gguf-py's metadata.py reads them.  In digits and in the words
 * it looks for, only ASCII counts; letters may be of any script.
 */
#ifndef MF_LIB_CARD_NAMES_H
#define MF_LIB_CARD_NAMES_H

#include "lib/base/heap.h"

/* Words of a name at most. */
#define MF_NAME_WORDS 256

struct mf_name_parts { /* at NULL: the name has no such part */
    struct mf_str full;
    struct mf_str organization; /* what is before a slash */
    struct mf_str basename, finetune, version, size_label;
};

/* Takes the name apart; its parts are in the arena or in the name.  total:
 * elements of all tensors, by which 128k is a length and not a size; negative
 * for an adapter, 0 where they were not counted. */
enum mf_status mf_name_split(struct mf_arena *arena, struct mf_str name,
                             int64_t total, struct mf_name_parts *out);

/* The name as a title: "my-model-7b" is "My Model 7b".  At NULL after mf_fail.
 */
struct mf_str mf_name_title(struct mf_arena *arena, struct mf_str name);

/* How many parameters, for people: "8.0B", "8x7B"; expert_count 0: the total,
 * else the parameters that all tokens share and one expert's. */
struct mf_name_counts {
    int64_t total, shared, expert, expert_count;
};
#define MF_NAME_SIZE_MAX 64
void mf_name_size_label(const struct mf_name_counts *counts,
                        char out[MF_NAME_SIZE_MAX]);

/* What a file is named by, without its suffix, for parts that may be missing;
 * type: "F16" or the like, kind: "vocab" or the like, NULL: none.  name counts
 * where there is no basename.  At NULL after mf_fail. */
struct mf_str mf_name_file(struct mf_arena *arena, struct mf_str name,
                           const struct mf_name_parts *parts, const char *type,
                           const char *kind);

#endif
