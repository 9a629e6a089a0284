/* SPDX-License-Identifier: MIT
 *
 * steady.h - whether a model's files are still those that were read
 *
 * A file's size and time of writing show most changes, but the time can be set
 * back.  The time of its last change of status cannot; but it also changes with
 * the file's mode, owner and names.  So if nothing else has changed, the bytes
 * are read again and compared: the header here, tensor data by its users.  As
 * long as nothing touches a file, this costs one fstat(2) for each.
 */
#ifndef MF_LIB_STEADY_H
#define MF_LIB_STEADY_H

#include "lib/model/model.h"

/* After data was read: MF_ERR_IO where a file was changed.  *again: where it
 * may have been; its header is the same, and what follows from its data has to
 * be computed again, and then this to be called again. */
enum mf_status mf_model_steady(struct mf_model *model, bool *again);

/* The error of env, of the model or of who reads it, is about that shard. */
enum mf_status mf_shard_error(struct mf_env *env, const struct mf_model *model,
                              size_t shard);

/* For a loop around work that reads these models, begun with `round` 0: whether
 * it has to be done (again).  False once it is done and the files are those
 * that were read, or after an error, such as files that change again and again.
 *
 *     for (unsigned round = 0; mf_steady_next(env, models, count, &round);)
 *         work(models);
 */
bool mf_steady_next(struct mf_env *env, struct mf_model *const *models,
                    size_t count, unsigned *round);

/* ---- files that were read next to a model, and closed ---- */

/* Before such a file is read for the model: it must not change until the model
 * is closed. */
enum mf_status mf_seen_add(const struct mf_model *model, const char *name,
                           const char *path, const struct mf_source *source);

/* MF_ERR_IO where one of them is not.  One whose bytes are the same is. */
enum mf_status mf_seen_check(const struct mf_model *model);

/* When the model is closed. */
void mf_seen_forget(const struct mf_model *model);

#endif
