/* SPDX-License-Identifier: MIT
 *
 * units.h - tokens of a context, and memory, on the command line
 */
#ifndef MF_CLI_UNITS_H
#define MF_CLI_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* 4096, 4k, 1M: k is 1024, as contexts are counted. */
bool units_tokens(const char *text, uint64_t *out);

/* Memory is sold in units of 1024: 24, 24G, 24GB and 24GiB are the same. */
bool units_memory(const char *text, uint64_t *out);

#endif
