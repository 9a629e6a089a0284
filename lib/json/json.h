/* SPDX-License-Identifier: MIT
 *
 * json.h - a pull tokenizer over a reader
 *
 * The room json/ reads JSON token by token and writes it.  In: a reader.  Out:
 * tokens, numbers, strings.  It does not know what the document is about.
 *
 * Strict RFC 8259 in UTF-8, depth at most MF_JSON_DEPTH.  There is no document
 * tree and no copy of the text: a safetensors header may have 100 MB, and this
 * needs nothing but the reader's window.  A JSON library of the system would
 * build a tree from its own heap, and accept what other readers of these
 * formats reject.
 */
#ifndef MF_LIB_JSON_H
#define MF_LIB_JSON_H

#include "lib/io/reader.h"

/* As deep as serde_json reads, with which aprender and safetensors are built.
 */
#define MF_JSON_DEPTH 127

/* The longest piece that must be in the window at once: a pair of escaped
 * surrogates, as in \ud83d\ude00. */
#define MF_JSON_LOOK 12

enum mf_json_token {
    MF_JSON_ERROR, /* reader->env has the message and the offset */
    MF_JSON_BEGIN_OBJECT,
    MF_JSON_END_OBJECT,
    MF_JSON_BEGIN_ARRAY,
    MF_JSON_END_ARRAY,
    MF_JSON_KEY,    /* read it with mf_json_text, or mf_json_next skips it */
    MF_JSON_STRING, /* likewise */
    MF_JSON_NUMBER, /* json->digits */
    MF_JSON_TRUE,
    MF_JSON_FALSE,
    MF_JSON_NULL,
    MF_JSON_END /* the document is over and only white space followed */
};

struct mf_json {
    struct mf_reader *reader;
    uint64_t token_offset; /* of the token that mf_json_next gave last */
    unsigned depth;        /* open objects and arrays */
    uint64_t in_object[2]; /* bit i: level i + 1 is an object */
    unsigned state;        /* private: what may come next */
    bool text_pending;     /* a string was announced and not read to its end */
    bool not_finite; /* set after init: NaN, Infinity and -Infinity are numbers,
                        as Python reads and writes them */
    char digits[40]; /* number as written; longer ones are an error
                        (MF_ERR_LIMIT), terminated */
    size_t digits_size;
};

/* The document starts at the reader's position and ends at its limit.  The
 * reader's window has room for MF_JSON_LOOK bytes, or for the whole document.
 */
void mf_json_init(struct mf_json *json, struct mf_reader *reader);

enum mf_json_token mf_json_next(struct mf_json *json);

/* The string just announced (KEY or STRING), unescaped: at most capacity bytes
 * (at least 4) into out, *size of them, never splitting a character; *more
 * says whether a next call gives more.  out NULL: nothing is stored, *size is
 * the length of all of it and *more is false. */
enum mf_status mf_json_text(struct mf_json *json, char *out, size_t capacity,
                            uint64_t *size, bool *more);

/* Skips the value whose first token was just returned: an object or array to
 * its end; nothing for a scalar, whose string mf_json_next skips. */
enum mf_status mf_json_skip(struct mf_json *json, enum mf_json_token first);

/* digits as a plain non-negative decimal integer below 2^64: no sign,
 * fraction, exponent; false otherwise.  (A leading zero was refused before.) */
bool mf_json_plain_u64(const struct mf_json *json, uint64_t *out);

/* The number in digits: U64, I64 if negative, else F64 (also for integers out
 * of their range). */
enum mf_value_type mf_json_number(const struct mf_json *json,
                                  union mf_number *out);

/* Whether the number in digits is beyond the doubles, where parsers that have
 * no infinity refuse the document. */
bool mf_json_is_huge(const struct mf_json *json);

/* ---- between json*.c ---- */

/* Sets the error: the byte at the reader's position breaks the rule, or cannot
 * be read. */
void mf_json_refuse(struct mf_json *json, const char *rule);

/* After an error there are no more tokens; returns the error's status. */
enum mf_status mf_json_stop(struct mf_json *json);

/* Checks terminated digits against RFC 8259, section 6.  NULL if they are
 * valid, else the byte that is not: the NUL if digits are missing at the end.
 */
const char *mf_json_number_error(const char *digits);

#endif
