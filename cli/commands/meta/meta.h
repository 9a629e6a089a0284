/* SPDX-License-Identifier: MIT
 *
 * meta.h - the parts of the commands modelfile meta
 */
#ifndef MF_CLI_COMMANDS_META_META_H
#define MF_CLI_COMMANDS_META_META_H

#include "cli/buffer.h"
#include "cli/cli.h"
#include "cli/textfile.h"

/* ---- edits from arguments: KEY=VALUE, KEY:TYPE=VALUE ---- */

/* Memory that an edit points to. */
struct held {
    struct textfile file; /* what @FILE names: read once for all models */
    bool read;
    size_t value_size;    /* of the file, without its last newline */
    struct textfile key;  /* a copy that is cut */
    struct textfile text; /* a copy of a list that is split */
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
                     struct mf_meta *out, size_t *at, const char **type);

/* Parses KEY=VALUE or KEY:TYPE=VALUE; false after a report. */
bool edit_value_parse(struct editing *editing, const char *argument,
                      struct mf_edit *edit, struct held *held);

/* Of one model; file: also what was read for all. */
void edit_value_release(struct run *run, struct held *held, bool file);

/* ---- what edits change, and which of them look like a mistake ---- */

/* Remarks on values that are the name of a file, and on new keys that are
 * nearly known ones. */
void changes_warn(const struct editing *editing);

/* With --json a member "changes".  Else lines "key: old → new" are put into
 * text, to be printed if the edits are made: the old values cannot be read any
 * more then.  False after a report. */
bool changes_show(const struct editing *editing, struct buffer *text);

#endif
