/* SPDX-License-Identifier: MIT
 *
 * values.h - reading a metadata value as events, whatever its format
 *
 * Opening a model keeps numbers and short strings in the index; arrays, objects
 * and long strings are left in the file, where a vocabulary may take megabytes.
 * mf_values_next reads such a value piece by piece: BEGIN, items (keys before
 * values in an object), END, DONE.  A long string comes as several events with
 * `more` set on all but the last.
 *
 * Each format has its own encoding, so its row in the table of formats gives
 * value_next, which returns one event at a time.  Values nest, and no recursion
 * is allowed on file contents: the open arrays and objects are level[depth].
 */
#ifndef MF_LIB_VALUES_H
#define MF_LIB_VALUES_H

#include "lib/io/reader.h"
#include "lib/json/json.h"
#include "lib/model/index.h"

struct mf_format;

/* An array or object that is being read. */
struct mf_level {
    uint64_t left; /* elements to come; in an object keys and values count */
    uint8_t of;    /* enum mf_value_type of an array's elements */
    bool object;
};

/* The state of all formats' readers; each uses the members it needs. */
struct mf_values {
    struct mf_env *env;
    struct mf_model *model; /* NULL for the text that another one reads */
    enum mf_status (*next)(struct mf_values *values, struct mf_value *out);
    struct mf_reader reader; /* within the value's span, its limit */
    uint32_t version;        /* of the file's format */
    struct mf_meta meta;
    struct mf_level level[MF_NESTING_MAX];
    unsigned depth;
    bool started, done;
    uint64_t text_left;       /* bytes to come of a binary string */
    enum mf_event text_event; /* of the string being read: KEY or ITEM */
    struct mf_json json;      /* for formats whose metadata is JSON */
    /* for a string that contains JSON: */
    struct mf_source source; /* its bytes */
    struct mf_values *text;  /* the string */
    struct mf_str rest;      /* of the piece of it that was read last */
    size_t piece_room;       /* 0 in formats that are not JSON */
    char piece[];            /* for text that must be unescaped */
};

/* For value_next of binary formats: *out becomes the next piece of a string of
 * which values->text_left bytes are still to be read. */
enum mf_status mf_values_text(struct mf_values *values, struct mf_value *out);

/* Reads the JSON text that a string value contains.  Free with mf_values_close.
 */
enum mf_status mf_values_open_text(struct mf_model *model, size_t index,
                                   struct mf_values **out);

/* value_next of every format whose metadata is JSON. */
enum mf_status mf_json_value_next(struct mf_values *values,
                                  struct mf_value *out);

/* Fills in meta from a JSON value whose first token is `first`: type, count,
 * of, number, text (up to MF_TEXT_KEPT bytes, in the arena) and span.  Arrays
 * and objects are walked to their end, not stored. */
enum mf_status mf_json_read_meta(struct mf_json *json, enum mf_json_token first,
                                 struct mf_arena *arena, struct mf_meta *meta);

/* The type of an element as a bit, and the one type that can represent all
 * elements whose bits are in seen. */
uint32_t mf_type_bit(enum mf_value_type type, union mf_number number);
enum mf_value_type mf_common_type(uint32_t seen);

/* The key that is the current token, terminated, in the arena; an error above
 * MF_NAME_MAX bytes. */
enum mf_status mf_json_read_key(struct mf_json *json, struct mf_arena *arena,
                                struct mf_str *out);

#endif
