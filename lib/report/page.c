/* SPDX-License-Identifier: MIT
 *
 * page.c - the document in the page that draws it
 *
 * The document is the text of an element of the page.  Nothing in it may end
 * that element, or begin a comment: each '<', which only strings have, is
 * written as \u003c.
 */
#include "lib/base/error.h"
#include "lib/io/sink.h"
#include "lib/model/model.h"
#include "lib/report/document.h"
#include "lib/write/convert.h"

struct page {
    struct mf_target target;
    struct mf_sink sink;
};

static enum mf_status page_write(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct page *page = user;

    mf_target_grow(&page->target, offset + size);
    return mf_target_write(page->sink.env, &page->target, offset, bytes, size);
}

static void plain_put(void *user, const char *at, size_t size)
{
    struct mf_sink *sink = user;

    mf_put(sink, at, size);
}

static void escaped_put(void *user, const char *at, size_t size)
{
    struct mf_sink *sink = user;
    const char *end = at + size;

    while (at < end) {
        const char *found = memchr(at, '<', (size_t)(end - at));
        const char *stop = found ? found : end;

        mf_put(sink, at, (size_t)(stop - at));
        if (found)
            mf_put(sink, "\\u003c", 6);
        at = found ? found + 1 : end;
    }
}

static void part_put(void *user, const void *at, size_t size)
{
    mf_put(user, at, size);
}

static enum mf_status page_put(const struct mf_report *report,
                               struct mf_sink *sink)
{
    bool plain = report->options.json;
    struct mf_json_out json = { .write = plain ? plain_put : escaped_put,
                                .user = sink };
    enum mf_status status = MF_OK;

    if (!plain)
        status = mf_packed_put(sink->env, &mf_page_head, part_put, sink);
    if (status == MF_OK)
        status = mf_report_document(report, &json);
    if (status == MF_OK && !plain)
        status = mf_packed_put(sink->env, &mf_page_tail, part_put, sink);
    else if (status == MF_OK)
        mf_put(sink, "\n", 1);
    return status;
}

/* A failure of the sink is older than what came after it. */
static enum mf_status page_finish(struct page *page, enum mf_status status)
{
    if (status == MF_OK || page->sink.status != MF_OK)
        status = mf_sink_finish(&page->sink);
    return mf_target_finish(&page->target, status);
}

enum mf_status mf_report(struct mf_model *const *models, size_t count,
                         const char *path,
                         const struct mf_report_options *options)
{
    struct mf_report report;
    struct mf_env *env;
    struct page *page;
    enum mf_status status = mf_report_check(models, count, options, &report);

    if (status != MF_OK)
        return status;
    env = models[0]->env;
    MF_NEED(env, path);
    if (mf_report_guard(env, path, &report.options) != MF_OK)
        return env->error.status;
    page = mf_alloc(env, sizeof(*page));
    if (!page)
        return MF_ERR_MEMORY;
    page->target = (struct mf_target)MF_TARGET_NONE;
    mf_sink_init(&page->sink, env);
    page->sink.write = page_write;
    page->sink.user = page;
    status = mf_output_open(models, count, path, report.options.replace, 0,
                            &page->target);
    if (status == MF_OK)
        status = page_finish(page, page_put(&report, &page->sink));
    mf_release(env, page, sizeof(*page));
    return status;
}
