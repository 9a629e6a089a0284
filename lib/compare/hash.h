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

#include "lib/base/parallel.h"
#include "lib/io/digest.h"
#include "lib/model/model.h"

/* MF_ERR_CORRUPT for a tensor that is MF_TENSOR_DAMAGED. */
enum mf_status mf_tensor_readable(struct mf_model *model, size_t tensor);

/* The digests of count tensors, which should be sorted with the largest first.
 * Tensor i's digest is written at i times the kind's size; the rest of digests
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

/* Adds bytes of a file to a digest, and reports them as done. */
enum mf_status mf_hash_add(struct mf_worker *worker,
                           const struct mf_source *source, struct mf_span span,
                           struct mf_digest *digest);

/* Clears the env's error; fails where the kind is unknown. */
enum mf_status mf_hash_begin(struct mf_env *env, enum mf_digest_kind kind);

/* As mf_digest_finish, but fails where libcrypto has no memory. */
enum mf_status mf_hash_finish(struct mf_env *env,
                              const struct mf_digest *digest,
                              uint8_t out[MF_DIGEST_MAX]);

/* ---- hash_model.c ---- */

/* Room for the line of a name of that many bytes: one byte of a name becomes at
 * most four, "\x1b". */
#define MF_HASH_LINE_ROOM(size) (2 * MF_DIGEST_MAX + 3 + (size)*4)

/* Writes the line of a name with a digest of so many bytes, "DIGEST  NAME\n",
 * and returns its length. */
size_t mf_hash_line(struct mf_str name, const uint8_t *digest, size_t size,
                    char *out);

/* ---- hash_value.c ---- */

/* Adds type and value of that row of the metadata to a digest. */
enum mf_status mf_hash_value(struct mf_model *model, struct mf_digest *digest,
                             size_t at);

/* Adds a type as values have it. */
void mf_hash_type(struct mf_digest *digest, uint32_t type);

/* Adds all bytes up to the reader's limit. */
enum mf_status mf_hash_rest(struct mf_reader *reader, struct mf_digest *digest);

#endif
