/* SPDX-License-Identifier: MIT
 *
 * json_document.h - a JSON document that a test reads token by token
 */
#ifndef TESTS_JSON_DOCUMENT_H
#define TESTS_JSON_DOCUMENT_H

#include "lib/json/json.h"
#include "tests/with_env.h"

static struct mf_source source;
static struct mf_reader reader;
static struct mf_json json;
static struct mf_arena arena; /* for what a test keeps of a document */

static inline int document_setup(void **state)
{
    if (env_setup(state) != 0)
        return -1;
    mf_arena_init(&arena, env);
    return 0;
}

static inline int document_teardown(void **state)
{
    mf_reader_release(&reader);
    mf_arena_release(&arena);
    return env_teardown(state);
}

#define WITH_DOCUMENT(test)                                                    \
    cmocka_unit_test_setup_teardown(test, document_setup, document_teardown)

/* The document from its first byte, through a window of so many bytes. */
static inline void document_open(const char *text, size_t size, size_t window)
{
    struct mf_span span = { 0, size };

    mf_reader_release(&reader);
    mf_source_open_memory("document", text, size, &source);
    assert_int_equal(mf_reader_init_span(&reader, env, &source, span, window),
                     MF_OK);
    mf_json_init(&json, &reader);
}

#endif
