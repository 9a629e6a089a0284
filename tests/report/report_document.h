/* SPDX-License-Identifier: MIT
 *
 * report_document.h - sections of a report, read again
 */
#ifndef TESTS_REPORT_DOCUMENT_H
#define TESTS_REPORT_DOCUMENT_H

#include <stdlib.h>

#include "lib/json/tree.h"
#include "lib/report/report.h"
#include "tests/json/json_document.h"

static struct {
    char *at;
    size_t size, room;
} written;

static inline void write_piece(void *user, const char *at, size_t size)
{
    (void)user;
    if (size > written.room - written.size) {
        written.room = 2 * written.room + size;
        written.at = realloc(written.at, written.room);
        assert_non_null(written.at);
    }
    memcpy(written.at + written.size, at, size);
    written.size += size;
}

static inline struct mf_json_out begin_writing(void)
{
    written.size = 0;
    return (struct mf_json_out){ .write = write_piece };
}

/* What was written, until document_close; it must be JSON. */
static inline const struct mf_node *read_written(void)
{
    struct mf_node *root;

    document_open(written.at, written.size, MF_JSON_LOOK);
    if (mf_tree_read(&json, &arena, written.size, &root) != MF_OK)
        fail_msg("%s in %.*s", mf_env_error(env)->message, (int)written.size,
                 written.at);
    return root;
}

/* A section as the only member of an object. */
static inline enum mf_status
write_section(mf_report_section *section, struct mf_model *model,
              const struct mf_report_options *options)
{
    struct mf_json_out out = begin_writing();
    enum mf_status status;

    mf_json_begin(&out, '{');
    status = section(model, options, &out);
    mf_json_end(&out, '}');
    return status;
}

static inline uint64_t number_at(const struct mf_node *node, const char *path)
{
    const struct mf_node *found = mf_node_at(node, path);

    if (!found || found->kind != MF_NODE_NUMBER)
        fail_msg("%s is not a number in %.*s", path, (int)written.size,
                 written.at);
    return found->number.u64;
}

static inline bool is_null_at(const struct mf_node *node, const char *path)
{
    const struct mf_node *found = mf_node_at(node, path);

    assert_non_null(found);
    return found->kind == MF_NODE_NULL;
}

#endif
