/* SPDX-License-Identifier: MIT
 *
 * lowrank.h - between the files that make nodes and lowrank.c
 *
 * Each is true where it has made the node, *out, NULL after mf_fail; false: the
 * node is read as any other.
 */
#ifndef MF_LIB_DERIVE_LOWRANK_H
#define MF_LIB_DERIVE_LOWRANK_H

#include "lib/derive/node.h"

bool mf_lowrank_reshape(const struct mf_derivation *d,
                        const struct mf_derived *node, uint32_t rank,
                        const uint64_t *dim, const struct mf_derived **out);
bool mf_lowrank_swap(const struct mf_derivation *d,
                     const struct mf_derived *node, uint32_t a, uint32_t b,
                     const struct mf_derived **out);
bool mf_lowrank_slice(const struct mf_derivation *d,
                      const struct mf_derived *node,
                      struct mf_derived_slice slice,
                      const struct mf_derived **out);
bool mf_lowrank_join(const struct mf_derivation *d, uint32_t axis,
                     const struct mf_derived *const *nodes, size_t count,
                     bool stack, const struct mf_derived **out);
bool mf_lowrank_map(const struct mf_derivation *d,
                    const struct mf_derived *node, enum mf_map map,
                    double constant, const struct mf_derived **out);
bool mf_lowrank_cast(const struct mf_derivation *d,
                     const struct mf_derived *node, enum mf_type type,
                     const struct mf_derived **out);

#endif
