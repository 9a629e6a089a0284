/* SPDX-License-Identifier: MIT
 *
 * verify.h - the parts of modelfile verify
 */
#ifndef MF_CLI_VERIFY_VERIFY_H
#define MF_CLI_VERIFY_VERIFY_H

#include "cli/cli.h"

/* Which array of the JSON answer is open. */
enum verify_list { LIST_NONE, LIST_KEYS, LIST_TENSORS, LIST_MISSING, LIST_END };

struct verify {
    struct run *run;
    const char *path, *from;
    struct mf_model *model, *source;
    bool strict, silent; /* standard output is the statement's */
    const char *statement;
    struct mf_verify_result result;
    size_t weighted;
    enum verify_list list;
};

/* For mf_verify_options; user is a struct verify. */
void verify_key(void *user, const struct mf_verified_key *key);
void verify_tensor(void *user, const struct mf_verified_tensor *tensor);

/* After all of these. */
void verify_verdict(struct verify *verify);

#endif
