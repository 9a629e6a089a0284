/* SPDX-License-Identifier: MIT
 *
 * describe.h - shapes, types and formats in words
 */
#ifndef MF_CLI_DESCRIBE_H
#define MF_CLI_DESCRIBE_H

#include "cli/cli.h"

/* "4096x32000" in the file's order: one word, for awk and the like. */
struct shape_text {
    char at[128];
};
struct shape_text shape_text(const struct mf_tensor *tensor);

/* The member "shape", in the same order. */
void shape_json(struct run *run, const struct mf_tensor *tensor);

/* "u32", "string[32000]" */
struct type_text {
    char at[48];
};
struct type_text type_text(const struct mf_meta *meta);

/* What follows a format's name: " v1, version 1.0, big-endian". */
void dialect_text(struct out *out, const char *variant, uint32_t version,
                  uint32_t minor, enum mf_byte_order order);

/* The member "byte_order". */
void byte_order_json(struct run *run, enum mf_byte_order order);

#endif
