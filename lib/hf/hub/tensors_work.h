/* SPDX-License-Identifier: MIT
 *
 * tensors_work.h - between tensors*.c
 */
#ifndef MF_LIB_HUB_TENSORS_WORK_H
#define MF_LIB_HUB_TENSORS_WORK_H

#include "lib/derive/derive.h"
#include "lib/hf/hub/compressed.h"
#include "lib/hf/hub/naming.h"
#include "lib/hf/hub/tensor_rows.h"
#include "lib/hf/hub/tensors.h"

#define MF_GROUP_BUCKETS 1024

/* Tensors that wait for others to become one with them. */
struct mf_tensor_group {
    struct mf_tensor_group *next; /* in its bucket, or among spare ones */
    size_t row;
    int64_t block;
    size_t total, filled;
    const struct mf_derived *node[];
};

struct mf_tensor_work {
    struct mf_hub_tensors *hub;
    uint64_t blocks;
    struct mf_env *env;
    struct mf_derivation derive;
    struct mf_tensor_rows rows;
    const struct mf_naming_arch *arch;
    enum mf_tensor_row_kind pass; /* TENSOR, or EARLY */
    struct mf_tensor_name name;   /* the tensor's, after the filter */
    int64_t bid; /* the first part of it that is a number; -1: there is none
                  */
    bool named;  /* a row gave the tensor a name */
    bool done;   /* a pass over all tensors can end */
    struct mf_compressed compressed;
    enum mf_compressed_use use; /* of the tensor, which is named like what it
                                   becomes */
    bool is_q8;                 /* it was f8, and is to become q8_0 */
    mf_hub_put *put;            /* gets what becomes of the tensors, and those
                                   that are dropped; or NULL */
    void *user;                 /* of a pass over all tensors */
    uint64_t once;   /* rows whose tensor was there, by their number % 64 */
    uint32_t *order; /* of the model's tensors */
    size_t order_count;
    struct mf_tensor_group *group[MF_GROUP_BUCKETS], *spare;
    size_t waiting;  /* groups */
    uint64_t places; /* in them */
    uint8_t *qkv;    /* of each block: which parts of it the folder has */
    uint64_t expert_sum, expert_tensors;
};

static inline enum mf_status mf_work_failed(const struct mf_tensor_work *work)
{
    return work->env->error.status;
}

/* The tensor's name after `skip`, `rename` and `replace`; *skipped: it is not
 * part of the model. */
enum mf_status mf_tensor_filter(struct mf_tensor_work *work,
                                const struct mf_record *record, bool *skipped);

/* Takes a tensor through the row and those after it (tensors_flow.c). */
enum mf_status mf_tensor_flow(struct mf_tensor_work *work,
                              const struct mf_tensor_row *row,
                              const struct mf_tensor_name *name,
                              const struct mf_derived *node);

/* ---- groups (tensors_group.c) ---- */

/* Puts the node to its place in the group of that row and block, a new one of
 * `total` if need be.  *out is the group once it is complete, else NULL; then
 * give it back. */
enum mf_status mf_group_put(struct mf_tensor_work *work, size_t row,
                            int64_t block, size_t total, size_t place,
                            const struct mf_derived *node,
                            struct mf_tensor_group **out);
void mf_group_give_back(struct mf_tensor_work *work,
                        struct mf_tensor_group *group);

/* The error that some were never completed; MF_OK: all were. */
enum mf_status mf_group_check(struct mf_tensor_work *work);

/* ---- the end of the way (tensors_emit.c) ---- */

/* Adds a tensor under its name in GGUF, joined with others where that is
 * asked for. */
enum mf_status mf_tensor_emit(struct mf_tensor_work *work, struct mf_str name,
                              const struct mf_derived *node);

/* The same under a name in GGUF that lib/hf/hub/names need not have. */
enum mf_status mf_tensor_emit_exactly(struct mf_tensor_work *work,
                                      struct mf_str name,
                                      const struct mf_derived *node);

/* Adds a vector of f32 as it is. */
enum mf_status mf_tensor_add_floats(struct mf_tensor_work *work,
                                    struct mf_str name, const float *values,
                                    size_t count);

/* Adds the tensors whose blocks are kept as they are, before all others
 * (tensors_blocks.c). */
enum mf_status mf_tensor_add_blocks(struct mf_tensor_work *work);

/* Adds the tensors of an adapter (tensors_adapter.c). */
enum mf_status mf_tensor_convert_adapter(struct mf_tensor_work *work);

/* Notes which parts of attention the folder has, for fuse_qkv. */
enum mf_status mf_tensor_find_qkv(struct mf_tensor_work *work);

/* Calls visit for each tensor that is part of the model, with work->name set.
 */
typedef enum mf_status mf_tensor_visit(struct mf_tensor_work *work,
                                       size_t record);
enum mf_status mf_tensor_each(struct mf_tensor_work *work,
                              mf_tensor_visit *visit);

/* ---- steps of a row that change tensors ---- */

struct mf_tensor_list {
    const struct mf_derived *node[MF_TENSOR_LIST];
    size_t count;
};

/* Does a step that works on the list alone; others (as, stack, drop ...) are
 * the caller's, and the list stays. */
enum mf_status mf_tensor_step_run(struct mf_derivation *derive,
                                  const struct mf_tensor_step *step,
                                  struct mf_tensor_list *list);

/* Whether the step is one of those. */
bool mf_tensor_step_is_local(const struct mf_tensor_step *step);

#endif
