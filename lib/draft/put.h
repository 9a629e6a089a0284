/* SPDX-License-Identifier: MIT
 *
 * put.h - setting a key of a draft
 *
 * As a dictionary is set: in its place where the draft has the key, else at the
 * end.  A "*" in the key is the draft's architecture.  Keys and texts are
 * copied into the draft's arena.  A number that the type cannot express is
 * refused, and the message names the key.
 */
#ifndef MF_LIB_PUT_H
#define MF_LIB_PUT_H

#include "lib/draft/draft.h"

/* The key's entry, otherwise zero: in its place or at the end; NULL after
 * mf_fail. */
struct mf_entry *mf_set_entry(struct mf_draft *draft, const char *key);

/* A number of any type.  A float becomes the nearest of its new type; one that
 * is not a whole number never becomes an integer. */
enum mf_status mf_set_number(struct mf_draft *draft, const char *key,
                             enum mf_value_type type, enum mf_value_type from,
                             union mf_number number);

enum mf_status mf_set_u32(struct mf_draft *draft, const char *key,
                          uint64_t value);
enum mf_status mf_set_i32(struct mf_draft *draft, const char *key,
                          int64_t value);
enum mf_status mf_set_u64(struct mf_draft *draft, const char *key,
                          uint64_t value);
enum mf_status mf_set_f32(struct mf_draft *draft, const char *key,
                          double value);
enum mf_status mf_set_f64(struct mf_draft *draft, const char *key,
                          double value);
enum mf_status mf_set_bool(struct mf_draft *draft, const char *key, bool value);
enum mf_status mf_set_text(struct mf_draft *draft, const char *key,
                           struct mf_str text);

/* elements: struct mf_str for strings, else union mf_number in which each is as
 * `of` has it; they live as long as the draft. */
enum mf_status mf_set_array(struct mf_draft *draft, const char *key,
                            enum mf_value_type of, const void *elements,
                            uint64_t count);

/* An array that `read` streams whenever the header is written, by
 * entry->elements, which is `user`. */
enum mf_status mf_set_stream(struct mf_draft *draft, const char *key,
                             enum mf_value_type of, uint64_t count,
                             mf_read_entry *read, const void *user);

/* Nothing where the draft lacks the key. */
void mf_set_remove(struct mf_draft *draft, const char *key);

#endif
