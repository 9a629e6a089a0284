/* SPDX-License-Identifier: MIT
 *
 * asking.h - the parser's questions to the process that talks to the network
 */
#ifndef MF_CLI_REMOTE_ASKING_H
#define MF_CLI_REMOTE_ASKING_H

#include "cli/remote/shelf.h"
#include "cli/remote/wire.h"

/* fd: of the helper. */
void asking_begin(int fd, const struct shelf *shelf);

/* For run->remote. */
const struct remote_cost *asking_cost(void);

/* Whether --resume is given: then a file needs a version. */
void asking_resumes(bool resumes);

/* Nothing more will be read: asks what all of it has cost. */
void asking_cost_of_all(void);

/* More about a failure with that number of errno, or "". */
const char *asking_why(int reason);

/* Keeps why something has failed, for run->why; returns the reason, a number of
 * errno. */
int asking_failed(int reason, const char *why);

/* Opens what the question and its name are about.  0, or a number of errno. */
int asking_open(const struct wire_ask *ask, const char *name,
                struct wire_answer *out);

/* Reads bytes of a file that was opened: as struct mf_byte_source has it. */
int64_t asking_read(uint32_t file, uint64_t offset, void *buffer, size_t count);

/* See WIRE_EXPECT. */
void asking_expect(uint32_t file, uint64_t offset, uint64_t size);

/* Opens a model whose source has failed: the library says so like any other
 * error. */
enum mf_status asking_open_failed(struct run *run, const char *name, int reason,
                                  const struct mf_open_options *options,
                                  struct mf_model **out);

#endif
