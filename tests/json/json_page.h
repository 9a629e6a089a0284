/* SPDX-License-Identifier: MIT
 *
 * json_page.h - what the JSON writer wrote, as text and as tokens
 */
#ifndef TESTS_JSON_PAGE_H
#define TESTS_JSON_PAGE_H

#include "tests/json/json_trace.h"

static struct {
    char text[4096];
    size_t size;
} page;

static inline void write_page(void *user, const char *at, size_t size)
{
    assert_ptr_equal(user, &page);
    assert_true(size > 0 && size < sizeof(page.text) - page.size);
    memcpy(page.text + page.size, at, size);
    page.size += size;
    page.text[page.size] = 0;
}

/* A writer that writes to an empty page. */
static inline struct mf_json_out new_page(void)
{
    page.size = 0;
    return (struct mf_json_out){ .write = write_page, .user = &page };
}

static inline const struct json_trace *read_page(void)
{
    static struct json_trace trace;

    trace_document(page.text, page.size, (struct json_way){ MF_JSON_LOOK, 16 },
                   &trace);
    assert_int_equal(trace.status, MF_OK);
    return &trace;
}

#endif
