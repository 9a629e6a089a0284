/* SPDX-License-Identifier: MIT
 *
 * events.c - what a stream of tokens sends
 */
#include "lib/hf/tokenizer/parts.h"

enum mf_status mf_send_bracket(mf_each_event *each, void *user,
                               enum mf_event event,
                               const struct mf_entry *entry)
{
    const struct mf_value value = { .event = event,
                                    .type = MF_VALUE_ARRAY,
                                    .of = entry->of,
                                    .count = entry->count };

    return each(user, &value);
}

enum mf_status mf_send_text(mf_each_event *each, void *user, struct mf_str text,
                            bool more)
{
    const struct mf_value value = { .event = MF_EVENT_ITEM,
                                    .type = MF_VALUE_STRING,
                                    .text = text,
                                    .more = more };

    return each(user, &value);
}
