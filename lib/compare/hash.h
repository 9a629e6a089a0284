/* SPDX-License-Identifier: MIT
 *
 * hash.h - digests of tensors' bytes
 *
 * The room compare/ reads the data of open models and answers questions about
 * it: digests, duplicates, differences, statistics.  In: models.  Out: numbers,
 * in the caller's memory or by a callback.  It writes no file.  Every answer is
 * the same for any number of threads: workers leave partial results in places
 * of their own, which are put together in order afterwards.
 */
#ifndef MF_LIB_HASH_H
#define MF_LIB_HASH_H

#include "lib/model/model.h"

/* MF_ERR_CORRUPT for a tensor that is MF_TENSOR_DAMAGED. */
enum mf_status mf_tensor_readable(struct mf_model *model, size_t tensor);

/* The digests of count tensors, which should be sorted with the largest first.
 * That of tensor i is written at i times the kind's size; the rest of digests
 * is not changed. */
enum mf_status mf_hash_some(struct mf_model *model, enum mf_digest_kind kind,
                            const uint32_t *tensor, size_t count,
                            uint8_t *digests);

/* The digests of all bytes of count files, each in one thread; digests has room
 * for count times the kind's size.  Fails where one of them has changed. */
enum mf_status mf_hash_sources(struct mf_env *env,
                               const struct mf_source *const *source,
                               size_t count, enum mf_digest_kind kind,
                               uint8_t *digests);

/* Clears the env's error; fails where the kind is unknown. */
enum mf_status mf_hash_begin(struct mf_env *env, enum mf_digest_kind kind);

/* As mf_digest_finish, but fails where libcrypto has no memory. */
enum mf_status mf_hash_finish(struct mf_env *env,
                              const struct mf_digest *digest,
                              uint8_t out[MF_DIGEST_MAX]);

#endif
