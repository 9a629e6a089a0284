/* SPDX-License-Identifier: MIT
 *
 * json_trace.h - the tokens of a JSON document as one line of text
 *
 * {"a":[1,"b"]} gives "{ a: [ 1 'b' ] } ." and [tru gives "[ !".
 */
#ifndef TESTS_JSON_TRACE_H
#define TESTS_JSON_TRACE_H

#include "lib/json/json.h"
#include "tests/with_env.h"

/* Bytes of the file before and after the document: they would show up in the
 * trace if the tokenizer read beyond it. */
#define TRACE_LEAD 5
#define TRACE_TAIL 3
#define TRACE_ROOM 4096

struct json_trace {
    char text[TRACE_ROOM];
    size_t size;
    enum mf_status status; /* of the error */
    uint64_t offset;       /* of the error, from the document's start */
    char message[320];
};

/* The sizes of the window and of the pieces that strings are read in, in bytes;
 * piece 0: strings are skipped by mf_json_next. */
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

static inline void trace_text(struct mf_json *tokens, size_t piece,
                              struct json_trace *trace)
{
    char *text = malloc(piece); /* exact, so that writing past it shows */
    bool more = piece > 0;
    uint64_t size;

    while (more && mf_json_text(tokens, text, piece, &size, &more) == MF_OK) {
        assert_true(size <= piece && (size > 0 || !more));
        assert_true(mf_text_is_utf8(text, (size_t)size));
        trace_add(trace, text, (size_t)size);
    }
    free(text);
}

static inline void trace_token(struct mf_json *tokens, enum mf_json_token token,
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
        trace_text(tokens, piece, trace);
    if (token == MF_JSON_NUMBER) {
        assert_int_equal(strlen(tokens->digits), tokens->digits_size);
        trace_add(trace, tokens->digits, tokens->digits_size);
    }
    trace_add(trace, words[token], strlen(words[token]));
}

/* The env must have no error; it is cleared again afterwards. */
static inline void trace_source(const struct mf_source *from, size_t size,
                                struct json_way way, struct json_trace *out)
{
    struct mf_span span = { TRACE_LEAD, size };
    struct mf_reader in;
    struct mf_json tokens;
    enum mf_json_token token;

    out->size = 0;
    assert_int_equal(mf_reader_init_span(&in, env, from, span, way.window),
                     MF_OK);
    mf_json_init(&tokens, &in);
    do {
        token = mf_json_next(&tokens);
        trace_token(&tokens, token, way.piece, out);
    } while (token != MF_JSON_ERROR && token != MF_JSON_END);
    assert_int_equal(mf_json_next(&tokens), token); /* it stays at that */
    assert_int_equal(token == MF_JSON_ERROR, env->error.status != MF_OK);
    out->status = env->error.status;
    out->offset = env->error.offset - TRACE_LEAD;
    memcpy(out->message, env->error.message, sizeof(out->message));
    mf_reader_release(&in);
    mf_clear_error(env);
}

static inline void trace_document(const char *at, size_t size,
                                  struct json_way way, struct json_trace *out)
{
    size_t room = TRACE_LEAD + size + TRACE_TAIL;
    char *bytes = malloc(room);
    struct mf_source file;

    assert_non_null(bytes);
    memset(bytes, ']', room);
    memcpy(bytes + TRACE_LEAD, at, size);
    mf_source_open_memory("document", bytes, room, &file);
    trace_source(&file, size, way, out);
    free(bytes);
}

#endif
