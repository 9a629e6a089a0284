/* SPDX-License-Identifier: MIT
 *
 * stream.h - a model that comes through standard input, from a pipe
 *
 * The operand "-" is standard input.  Where that is a file it is read like any
 * other, at any place.  Else its bytes come once and in order, and how many
 * there are shows at the end; then this is the model's source.  It keeps the
 * header, and lets data go as it is read: so a format works whose index comes
 * before its data, for what needs the data in its order.
 *
 * This is the door; stream_bytes.h is below it.  Without such an operand
 * nothing here runs.
 */
#ifndef MF_CLI_STREAM_H
#define MF_CLI_STREAM_H

#include "cli/cli.h"

/* What "-" is called where a path is needed. */
#define STREAM_PATH "/dev/stdin"

/* Sets run->reads_stream if an operand means a pipe; false after a report, of a
 * terminal, or of a second "-". */
bool stream_begin(struct run *run);

/* Whether a path of an operand means it. */
bool stream_is(const struct run *run, const char *path);

/* Opens its model.  With run->checks_data all of its data has been read. */
enum mf_status stream_open(const struct mf_open_options *options,
                           struct mf_model **out);

/* A member of the JSON object that is open: whether the length is known. */
void stream_show_length(struct run *run, const char *path);

/* After an answer: a remark where it could depend on bytes that were not read.
 */
void stream_close(struct run *run);

/* Before the env is freed. */
void stream_end(void);

#endif
