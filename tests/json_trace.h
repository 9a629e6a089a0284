/* SPDX-License-Identifier: MIT
 *
 * json_trace.h - what the tokenizer says of a document, as one line of text
 *
 * {"a":[1,"b"]} gives "{ a: [ 1 'b' ] } ." and [tru gives "[ !".
 */
#ifndef TESTS_JSON_TRACE_H
#define TESTS_JSON_TRACE_H

#include "lib/json/json.h"
#include "tests/support.h"

/* Bytes of the file before and behind the document.  They would show where
 * the tokenizer left it. */
#define TRACE_LEAD 5
#define TRACE_TAIL 3
#define TRACE_ROOM 4096

struct json_trace {
    char text[TRACE_ROOM];
    size_t size;
    enum mf_status status; /* and offset: of the error, from the document's */
    uint64_t offset;       /* start on */
    char message[320];
};

/* How to read: through what window, and strings in pieces of how many bytes.
 * piece 0: strings are left to mf_json_next. */
struct json_way {
    size_t window, piece;
};

static inline void trace_add(struct json_trace *trace, const char *at,
                             size_t size)
{
    assert_true(size < sizeof(trace->text) - trace->size);
    memcpy(trace->text + trace->size, at, size);
    trace->size += size;
    trace->text[trace->size] = 0;
}

static inline void trace_text(struct mf_json *json, size_t piece,
                              struct json_trace *trace)
{
    char *text = malloc(piece); /* exact, so that writing past it shows */
    bool more = piece > 0;
    uint64_t size;

    while (more && mf_json_text(json, text, piece, &size, &more) == MF_OK) {
        assert_true(size <= piece && (size > 0 || !more));
        assert_true(mf_text_is_utf8(text, (size_t)size));
        trace_add(trace, text, (size_t)size);
    }
    free(text);
}

static inline void trace_token(struct mf_json *json, enum mf_json_token token,
                               size_t piece, struct json_trace *trace)
{
    static const char *const words[] = {
        [MF_JSON_ERROR] = "!",       [MF_JSON_BEGIN_OBJECT] = "{ ",
        [MF_JSON_END_OBJECT] = "} ", [MF_JSON_BEGIN_ARRAY] = "[ ",
        [MF_JSON_END_ARRAY] = "] ",  [MF_JSON_KEY] = ": ",
        [MF_JSON_STRING] = "' ",     [MF_JSON_NUMBER] = " ",
        [MF_JSON_TRUE] = "true ",    [MF_JSON_FALSE] = "false ",
        [MF_JSON_NULL] = "null ",    [MF_JSON_END] = ".",
    };

    if (token == MF_JSON_STRING)
        trace_add(trace, "'", 1);
    if (token == MF_JSON_STRING || token == MF_JSON_KEY)
        trace_text(json, piece, trace);
    if (token == MF_JSON_NUMBER) {
        assert_int_equal(strlen(json->digits), json->digits_size);
        trace_add(trace, json->digits, json->digits_size);
    }
    trace_add(trace, words[token], strlen(words[token]));
}

/* The env's error must be clear; it is again afterwards. */
static inline void trace_source(struct mf_env *env,
                                const struct mf_source *source, size_t size,
                                struct json_way way, struct json_trace *out)
{
    struct mf_span span = { TRACE_LEAD, size };
    struct mf_reader reader;
    struct mf_json json;
    enum mf_json_token token;

    out->size = 0;
    assert_int_equal(
        mf_reader_init_span(&reader, env, source, span, way.window), MF_OK);
    mf_json_init(&json, &reader);
    do {
        token = mf_json_next(&json);
        trace_token(&json, token, way.piece, out);
    } while (token != MF_JSON_ERROR && token != MF_JSON_END);
    assert_int_equal(mf_json_next(&json), token); /* it stays at that */
    assert_int_equal(token == MF_JSON_ERROR, env->error.status != MF_OK);
    out->status = env->error.status;
    out->offset = env->error.offset - TRACE_LEAD;
    memcpy(out->message, env->error.message, sizeof(out->message));
    mf_reader_release(&reader);
    mf_clear_error(env);
}

static inline void trace_document(struct mf_env *env, const char *at,
                                  size_t size, struct json_way way,
                                  struct json_trace *out)
{
    size_t room = TRACE_LEAD + size + TRACE_TAIL;
    char *file = malloc(room);
    struct mf_source source;

    assert_non_null(file);
    memset(file, ']', room);
    memcpy(file + TRACE_LEAD, at, size);
    mf_source_open_memory("document", file, room, &source);
    trace_source(env, &source, size, way, out);
    free(file);
}

#endif
