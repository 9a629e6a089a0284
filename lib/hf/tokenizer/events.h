/* SPDX-License-Identifier: MIT
 *
 * events.h - what a stream of tokens sends
 */
#ifndef MF_LIB_TOKENIZER_EVENTS_H
#define MF_LIB_TOKENIZER_EVENTS_H

#include "lib/draft/draft.h"

/* The begin or end of an entry's array. */
enum mf_status mf_send_bracket(mf_each_event *each, void *user,
                               enum mf_event event,
                               const struct mf_entry *entry);

/* A text, or a part of one where more follows. */
enum mf_status mf_send_text(mf_each_event *each, void *user, struct mf_str text,
                            bool more);

#endif
