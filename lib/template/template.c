/* SPDX-License-Identifier: MIT
 *
 * template.c - a chat template, read as its readers do
 */
#include "lib/template/template.h"

#include "lib/template/parse.h"

static enum mf_status bytes_rewind(struct mf_template_text *text)
{
    text->read = false;
    return MF_OK;
}

static enum mf_status bytes_next(struct mf_template_text *text,
                                 struct mf_str *piece)
{
    *piece = text->bytes;
    if (text->read)
        piece->size = 0;
    text->read = true;
    return MF_OK;
}

struct mf_template_text mf_template_bytes(struct mf_str bytes)
{
    return (struct mf_template_text){ .rewind = bytes_rewind,
                                      .next = bytes_next,
                                      .bytes = bytes };
}

struct work {
    struct mf_template_parser parser;
    struct mf_template_watch watch;
    struct mf_template_scan scan;
};

/* Bytes after what the reader does not accept are looked at, too. */
static void scan_rest(struct mf_template_lexer *lexer)
{
    while (!mf_template_at_end(lexer))
        mf_template_step(lexer);
}

static enum mf_status read_as(struct work *work, struct mf_template_text *text,
                              enum mf_template_reader reader,
                              struct mf_template_report *report)
{
    memset(work, 0, sizeof(*work));
    *report = (struct mf_template_report){ .error = { report->error[0],
                                                      report->error[1] } };
    work->scan.report = report;
    work->watch.report = report;
    work->parser.watch = &work->watch;
    if (mf_template_lexer_init(&work->parser.lexer, text, reader, &work->scan,
                               &report->error[reader]) == MF_OK) {
        mf_template_parse(&work->parser);
        scan_rest(&work->parser.lexer);
        report->size = work->parser.lexer.here.offset;
    }
    return work->parser.lexer.status;
}

/* The reader that gets further is the one whose findings are kept. */
enum mf_status mf_template_check(struct mf_env *env,
                                 struct mf_template_text *text,
                                 struct mf_template_report *report)
{
    struct work *work = mf_alloc(env, sizeof(*work));
    enum mf_status status;

    if (!work)
        return env->error.status;
    *report = (struct mf_template_report){ .size = 0 };
    status = read_as(work, text, MF_TEMPLATE_LLAMA, report);
    if (status == MF_OK)
        status = read_as(work, text, MF_TEMPLATE_JINJA2, report);
    if (status == MF_OK && report->error[MF_TEMPLATE_JINJA2].failed &&
        !report->error[MF_TEMPLATE_LLAMA].failed)
        status = read_as(work, text, MF_TEMPLATE_LLAMA, report);
    mf_release(env, work, sizeof(*work));
    return status;
}
