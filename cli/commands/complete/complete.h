/* SPDX-License-Identifier: MIT
 *
 * complete.h - what can follow on a command line, for the shells
 *
 * complete.c finds out where on the line it is, values.c offers what can be
 * there, names.c what is in a file; offer.c prints it.
 */
#ifndef MF_CLI_COMMANDS_COMPLETE_H
#define MF_CLI_COMMANDS_COMPLETE_H

#include "cli/cli.h"

/* What an operand or the value of an option can be. */
enum values {
    NOTHING,
    FILES,
    FOLDERS,
    MODELS,
    COMMANDS,
    TYPES, /* of tensors */
    MIXES,
    MIXES_TO_FILE, /* "Q4_K_M=" */
    CACHE_TYPES,
    RULES,
    ISAS,
    TENSORS,         /* names in the first operand, a file */
    TENSORS_TO_TYPE, /* "blk.0.attn_q.weight=q8_0" */
    KEYS,
    KEYS_TO_SET /* "general.name=" */
};

/* The word that is completed. */
struct place {
    const char *before; /* part that stays: "--type=" */
    const char *word;   /* the rest, of which a candidate is the continuation */
    const char *file;   /* the first operand; NULL: there is none */
    bool any;           /* what looks like an option would not be one */
};

/* What values.def says of an operand of the command; NULL: of an option, or of
 * its value. */
enum values values_of(const struct command *command, const char *name);

void values_offer(struct run *run, const struct place *place,
                  enum values values);

/* One candidate, if it continues the word and is printable, not empty; after:
 * what is typed next, as in "=", or "". */
void offer(struct run *run, const struct place *place, struct mf_str text,
           const char *after, const char *explanation);

/* Whether it goes on with the word that is typed. */
bool offer_continues(const struct place *place, struct mf_str text);

/* What the shell has to do itself: "files". */
void offer_by_shell(struct run *run, const char *what);

/* The same for a name that may be typed in upper or lower case. */
void offer_name(struct run *run, const struct place *place, const char *name,
                const char *after, const char *explanation);

/* Tensors or keys of place->file, which is opened by its header. */
void names_offer(struct run *run, const struct place *place, bool keys,
                 const char *after);

#endif
