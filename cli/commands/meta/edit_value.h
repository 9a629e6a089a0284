/* SPDX-License-Identifier: MIT
 *
 * edit_value.h - edits from arguments: KEY=VALUE, KEY:TYPE=VALUE
 */
#ifndef MF_CLI_META_EDIT_VALUE_H
#define MF_CLI_META_EDIT_VALUE_H

#include "cli/cli.h"
#include "cli/textfile.h"

/* Memory that an edit points to. */
struct held {
    struct textfile text; /* of a file, or a copy of a list to be split */
    void *elements;
    size_t elements_size;
};

struct editing {
    struct run *run;
    const char *path;
    enum mf_values_kind values; /* of the model's format */
    struct mf_model *model;     /* before the edits */
    struct mf_edit *edit;
    struct held *held; /* one for each edit */
    size_t count;
};

/* Finds the value of a key.  In formats whose keys include a type, KEY also
 * finds KEY:TYPE; *type is then the part after the colon, else "". */
bool edit_value_find(const struct editing *editing, const char *key,
                     struct mf_meta *out, const char **type);

/* Parses KEY=VALUE or KEY:TYPE=VALUE, in place; false after a report. */
bool edit_value_parse(struct editing *editing, char *argument,
                      struct mf_edit *edit, struct held *held);
void edit_value_release(struct editing *editing, struct held *held);

#endif
