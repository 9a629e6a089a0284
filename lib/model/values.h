/* SPDX-License-Identifier: MIT
 *
 * values.h - a metadata value told event by event, whatever its format
 */
#ifndef MF_LIB_VALUES_H
#define MF_LIB_VALUES_H

#include "lib/io/reader.h"
#include "lib/json/json.h"
#include "lib/model/index.h"

struct mf_format;

/* An array or object that is being told. */
struct mf_level {
    uint64_t left; /* elements (of an object: keys and values) to come */
    uint8_t of;    /* enum mf_value_type of an array's elements */
    bool object;
};

/* Formats share this struct; each uses what it needs and leaves the rest. */
struct mf_values {
    struct mf_env *env;
    enum mf_status (*next)(struct mf_values *values, struct mf_value *out);
    struct mf_reader reader; /* stands at the value, limited to its span */
    uint32_t version;        /* of the file's format */
    struct mf_meta meta;
    struct mf_level level[MF_NESTING_MAX];
    unsigned depth;
    bool started, done;
    uint64_t text_left;       /* of a binary string that is being told */
    enum mf_event text_event; /* KEY or ITEM */
    struct mf_json json;      /* for formats whose metadata is JSON */
    struct mf_source source;  /* of text that is JSON in itself: */
    struct mf_values *text;   /* the string that holds it */
    struct mf_str rest;       /* of a piece of it that was told */
    char piece[4096];         /* for text that must be unescaped */
};

/* The next piece of a binary string of which values->text_left bytes lie
 * ahead in values->reader: fills in out and counts text_left down. */
enum mf_status mf_values_text(struct mf_values *values, struct mf_value *out);

/* Tells what stands, as JSON, in a string of the metadata.  Free with
 * mf_values_close. */
enum mf_status mf_values_open_text(struct mf_model *model, size_t index,
                                   struct mf_values **out);

/* value_next of every format whose metadata is JSON. */
enum mf_status mf_json_value_next(struct mf_values *values,
                                  struct mf_value *out);

/* A JSON value, whose first token was just given, into meta: type, count, of,
 * number, text (kept up to MF_TEXT_KEPT, in the arena) and span.  Arrays and
 * objects are walked to their end, not stored. */
enum mf_status mf_json_read_meta(struct mf_json *json, enum mf_json_token first,
                                 struct mf_arena *arena, struct mf_meta *meta);

/* What an element is, as a bit; and the one type that all elements can be read
 * as whose bits were seen. */
uint32_t mf_type_bit(enum mf_value_type type, union mf_number number);
enum mf_value_type mf_common_type(uint32_t seen);

/* The key just announced, terminated, in the arena; refused above MF_NAME_MAX.
 */
enum mf_status mf_json_read_key(struct mf_json *json, struct mf_arena *arena,
                                struct mf_str *out);

#endif
