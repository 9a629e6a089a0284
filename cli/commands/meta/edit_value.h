/* SPDX-License-Identifier: MIT
 *
 * edit_value.h - values that stand in arguments, as KEY:TYPE=VALUE
 */
#ifndef CLI_META_VALUE_H
#define CLI_META_VALUE_H

#include "cli/cli.h"

/* What an edit takes from the heap until it is done. */
struct held {
    struct textfile text; /* of a file, or a list being cut */
    void *elements;
    size_t elements_size;
};

struct editing {
    struct run *run;
    const char *path, *format;
    struct mf_model *model; /* as it was; NULL once it is closed */
    struct mf_edit *edit;
    struct held *held;
    size_t count;
};

/* The metadatum of that key, or, where the format's keys tell types, that of
 * KEY:TYPE.  *type: what stands behind the colon, or "". */
bool meta_named(const struct editing *editing, const char *key,
                struct mf_meta *out, const char **type);

/* Takes KEY=VALUE or KEY:TYPE=VALUE apart; false after a report. */
bool meta_value_take(struct editing *editing, char *argument,
                     struct mf_edit *edit, struct held *held);
void meta_value_release(struct editing *editing, struct held *held);

#endif
