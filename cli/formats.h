/* SPDX-License-Identifier: MIT
 *
 * formats.h - the formats that can be written, by name
 */
#ifndef MF_CLI_FORMATS_H
#define MF_CLI_FORMATS_H

#include "lib/modelfile.h"

/* Which formats an option offers. */
enum formats {
    FORMATS_WRITABLE, /* those that convert writes */
    FORMATS_BLOCKS    /* of these, those that can hold quantized types */
};

/* The name of format number index; NULL after the last. */
const char *formats_name(enum formats which, size_t index);

/* A format has several rows in the library, one for each dialect.  True for the
 * main row, which has no variant. */
bool formats_is_main(const struct mf_format_info *format);

/* Finds the main row of a format; false if the name is unknown. */
bool formats_find(const char *name, struct mf_format_info *out);

/* Whether a model can be quantized into the format. */
bool formats_holds_blocks(const char *name);

#endif
