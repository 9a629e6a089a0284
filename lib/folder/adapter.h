/* SPDX-License-Identifier: MIT
 *
 * adapter.h - LoRA adapters: which tensors they change, and by how much
 *
 * An adapter is a folder of adapter_config.json and safetensors, as PEFT saves
 * it, or a GGUF file that llama.cpp's converter made of one.  Tensors of both
 * have names that say what they change, and which half of a pair they are.
 *
 * What a change is scaled with follows the reader of each: PEFT, with an alpha
 * of its own for some modules, and llama.cpp, which ignores an alpha of 0.
 */
#ifndef MF_LIB_ADAPTER_H
#define MF_LIB_ADAPTER_H

#include "lib/folder/sidecar.h"

#define MF_ADAPTER_CONFIG "adapter_config.json"

enum mf_adapter_part {
    MF_ADAPTER_A,
    MF_ADAPTER_B,
    MF_ADAPTER_BASE, /* the model's own, which is passed over */
    MF_ADAPTER_WHOLE /* takes the place of the model's */
};

/* A tensor of the adapter. */
struct mf_adapter_entry {
    struct mf_str name; /* of what it changes, in the model */
    enum mf_adapter_part part;
    bool embedding; /* its matrices belong to the transposed one */
    bool used;      /* for the caller */
};

struct mf_adapter {
    struct mf_model *model;
    struct mf_arena *arena;
    bool gguf;              /* names are GGUF's */
    struct mf_node *config; /* adapter_config.json; NULL: there is none */
    struct mf_adapter_entry *entry; /* one for each of the model's tensors */
    uint32_t *order;                /* of them, by name and part */
};

/* Whether the model says that it is an adapter, of LoRA or of another kind. */
bool mf_model_is_adapter(const struct mf_model *model);

/* Whether it is an adapter of LoRA; false after mf_fail, too. */
bool mf_model_is_lora(const struct mf_model *model);

/* Reads names and the configuration; all of it goes into the arena. */
enum mf_status mf_adapter_read(struct mf_adapter *adapter,
                               struct mf_model *model, struct mf_arena *arena);

/* The entry at a place of the order, and the tensor that it is about. */
struct mf_adapter_entry *mf_adapter_at(const struct mf_adapter *adapter,
                                       size_t place);
const struct mf_record *mf_adapter_record(const struct mf_adapter *adapter,
                                          size_t place);

/* The first place whose name is not before that one. */
size_t mf_adapter_find(const struct mf_adapter *adapter, struct mf_str name);

/* Whether an entry with that name and part is there. */
bool mf_adapter_has(const struct mf_adapter *adapter, size_t place,
                    struct mf_str name, enum mf_adapter_part part);

/* Whether A of a pair is there, and B comes next, and there is one of each. */
bool mf_adapter_is_pair(const struct mf_adapter *adapter, size_t place);

/* The rank of the pair at that place, if both halves have one and it is the
 * same; else false, with the numbers that differ. */
bool mf_adapter_rank(const struct mf_adapter *adapter, size_t place,
                     uint64_t *of_a, uint64_t *of_b);

/* alpha of all modules: MF_ERR_CORRUPT where it is missing or not a finite
 * number. */
enum mf_status mf_adapter_alpha(const struct mf_adapter *adapter, double *out);

/* Refuses an adapter_config.json with so many patterns that it would take long
 * to look for each pair's. */
enum mf_status mf_adapter_check_effort(const struct mf_adapter *adapter);

/* What the product of the pair with that name and rank is multiplied with.
 * factor: what the caller wants of it, 1 for all. */
enum mf_status mf_adapter_scale(const struct mf_adapter *adapter,
                                struct mf_str name, uint64_t rank,
                                double factor, double *out);

/* The rank that adapter_config.json gives the pair with that name: 0 where it
 * says nothing. */
enum mf_status mf_adapter_claim(const struct mf_adapter *adapter,
                                struct mf_str name, uint64_t *rank);

/* Whether that key of adapter_config.json is true. */
bool mf_adapter_is_true(const struct mf_adapter *adapter, const char *key);

/* Adds findings about an adapter. */
enum mf_status mf_adapter_check(struct mf_model *model);

#endif
