/* SPDX-License-Identifier: MIT
 *
 * json_writer.h - a part of program.h: writing JSON
 */
#ifndef MF_LIB_JSON_WRITER_H
#define MF_LIB_JSON_WRITER_H

#include "lib/modelfile.h"

/* Writes JSON through the caller's function, with commas and escapes.  The
 * document is always valid.  Characters at which mf_text_clean stops are
 * written as \uXXXX, as two of these, or as a short escape.  A byte that is not
 * UTF-8, such as 0xff, becomes \\xff: the string then contains the four
 * characters \xff. */
struct mf_json_out {
    void (*write)(void *user, const char *at, size_t size);
    void *user;
    bool comma, after_key; /* private; start with false */
};

/* bracket: one of { [ and } ].  A last key without a value gets null. */
void mf_json_begin(struct mf_json_out *json, char bracket);
void mf_json_end(struct mf_json_out *json, char bracket);

void mf_json_key(struct mf_json_out *json, const char *key);
void mf_json_string(struct mf_json_out *json, const char *at, size_t size);
void mf_json_u64(struct mf_json_out *json, uint64_t value);
void mf_json_i64(struct mf_json_out *json, int64_t value);
void mf_json_bool(struct mf_json_out *json, bool value);
void mf_json_null(struct mf_json_out *json);

/* The shortest digits that read back as the same double or float.  JSON lacks
 * NaN and infinity: they are the strings "nan", "inf" and "-inf". */
void mf_json_f64(struct mf_json_out *json, double value);
void mf_json_f32(struct mf_json_out *json, float value);

/* A number whose digits a JSON source wrote. */
void mf_json_digits(struct mf_json_out *json, const char *at, size_t size);

/* A string in pieces; key: it is the name of a member. */
void mf_json_open_string(struct mf_json_out *json);
void mf_json_piece(struct mf_json_out *json, const char *at, size_t size);
void mf_json_close_string(struct mf_json_out *json, bool key);

#endif
