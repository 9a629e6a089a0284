/* SPDX-License-Identifier: MIT
 *
 * types.h - quantization types and tensor types on the command line
 */
#ifndef MF_CLI_TYPES_H
#define MF_CLI_TYPES_H

#include "cli/cli.h"
#include "cli/nearest.h"

/* False after report_usage with the nearest name: the TYPE of quantize, and a
 * tensor's type given to an option. */
bool types_check_mix(struct run *run, const char *name);
bool types_check_tensor(struct run *run, const char *option, const char *name);

/* The same for names with commas between them. */
bool types_check_list(struct run *run, const char *option, const char *list);

/* The same for what --errors gets: "all" as well. */
bool types_check_errors(struct run *run, const char *list);

/* Whether that is a type that tensors can be quantized to. */
bool types_is_tensor(const char *name);

struct nearest types_nearest(const char *name); /* of tensor types */

/* The word is a mistyped TYPE rather than a file name. */
bool types_is_near(const char *word);

#endif
