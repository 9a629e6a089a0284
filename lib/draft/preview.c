/* SPDX-License-Identifier: MIT
 *
 * preview.c - the file that an edit would leave, before it is written
 *
 * The new header is generated in memory and opened as if it were a file. Values
 * of some KiB and more are not copied but read from the edited file, so that
 * a vocabulary needs no memory.  The tensor data are zeros: validating a header
 * does not read them.
 */
#include "lib/draft/draft.h"

/* Shorter values are copied. */
#define LONG_SPAN 4096

struct long_span {
    uint64_t at; /* in the header */
    const struct mf_source *source;
    struct mf_span span;
};

struct preview {
    struct mf_env *env;
    uint8_t *bytes; /* of the header without the long spans */
    size_t size, room;
    struct long_span *span;
    size_t span_count, span_room;
    uint64_t head_size;
};

/* ---- generating it ---- */

static enum mf_status keep_bytes(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct preview *preview = user;

    (void)offset;
    if (size > preview->room - preview->size) {
        size_t more = 2 * (preview->size + size);
        uint8_t *moved =
            mf_env_resize(preview->env, preview->bytes, preview->room, more);

        if (!moved)
            return preview->env->error.status;
        preview->bytes = moved;
        preview->room = more;
    }
    memcpy(preview->bytes + preview->size, bytes, size);
    preview->size += size;
    return MF_OK;
}

static enum mf_status keep_span(void *user, uint64_t offset,
                                const struct mf_source *source,
                                struct mf_span span)
{
    struct preview *preview = user;
    uint8_t copy[LONG_SPAN];

    if (span.size < LONG_SPAN) {
        if (mf_source_read(preview->env, source, span.offset, copy,
                           (size_t)span.size) != MF_OK)
            return preview->env->error.status;
        return keep_bytes(user, offset, copy, (size_t)span.size);
    }
    if (preview->span_count == preview->span_room) {
        size_t room = preview->span_room, more = room > 0 ? 2 * room : 8;
        struct long_span *moved =
            mf_env_resize(preview->env, preview->span, room * sizeof(*moved),
                          more * sizeof(*moved));

        if (!moved)
            return preview->env->error.status;
        preview->span = moved;
        preview->span_room = more;
    }
    preview->span[preview->span_count++] =
        (struct long_span){ .at = offset, .source = source, .span = span };
    return MF_OK;
}

static enum mf_status make(const struct mf_draft *draft,
                           struct preview *preview)
{
    struct mf_sink sink;
    enum mf_status status;

    mf_sink_init(&sink, draft->env);
    sink.write = keep_bytes;
    sink.span = keep_span;
    sink.user = preview;
    status = mf_draft_head(draft, &sink);
    preview->head_size = sink.offset;
    return status;
}

/* ---- reading it ---- */

static int64_t read_preview(const struct mf_source *source, uint64_t offset,
                            void *buffer, size_t size, struct mf_io_stats *io)
{
    const struct preview *preview = source->user;
    uint64_t end = preview->head_size, spans = 0, left;

    for (size_t i = 0; i < preview->span_count; i++) {
        const struct long_span *span = &preview->span[i];
        uint64_t within = offset - span->at;

        if (offset < span->at) {
            end = span->at;
            break;
        }
        if (within < span->span.size) {
            left = span->span.size - within;
            return span->source->ops->read(
                span->source, span->span.offset + within, buffer,
                left < size ? (size_t)left : size, io);
        }
        spans += span->span.size;
    }
    if (offset >= preview->head_size)
        end = offset < source->size ? source->size : offset;
    size = end - offset < size ? (size_t)(end - offset) : size;
    if (offset < preview->head_size)
        memcpy(buffer, preview->bytes + (offset - spans), size);
    else
        memset(buffer, 0, size);
    return (int64_t)size;
}

static const struct mf_source_ops preview_ops = { .read = read_preview };

/* ---- validating it ---- */

/* The last error of the rule: the ones before it may be old.  NULL where so
 * many others were found that none was kept. */
static const char *message_of(const struct mf_model *model, const char *rule)
{
    struct mf_finding finding;
    const char *message = NULL;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR && finding.rule == rule)
            message = finding.message;
    return message;
}

/* Fails where `after` has more errors of a rule than `now`, the file as it is.
 */
static enum mf_status compare(const struct mf_model *now,
                              const struct mf_model *after)
{
    for (size_t i = 0; i < MF_RULE_COUNT; i++) {
        const char *id = mf_rules[i].id, *message = message_of(after, id);

        if (after->index.tally[i][MF_ERROR] > now->index.tally[i][MF_ERROR])
            return mf_decline(after->env, MF_REASON_EDIT_INVALID, MF_NO_OFFSET,
                              "this edit would make the file invalid (%s): %s",
                              id, message ? message : mf_rules[i].meaning);
    }
    return MF_OK;
}

/* The file is opened again, because mf_model_validate adds to the findings of
 * the model that it is given. */
static enum mf_status check_errors(struct mf_model *after,
                                   const struct mf_model *model)
{
    struct mf_source source = mf_source_borrow(&model->file[0].source);
    struct mf_model *now;
    enum mf_status status = mf_model_validate(after);

    if (status != MF_OK || after->info.error_count == 0)
        return status;
    status = mf_model_open_view(after->env, source.name, &source, NULL, &now);
    if (status != MF_OK)
        return status;
    status = mf_model_validate(now);
    if (status == MF_OK)
        status = compare(now, after);
    mf_model_close(now);
    return status;
}

enum mf_status mf_preview_check(const struct mf_draft *draft,
                                const struct mf_model *model, bool force)
{
    struct preview preview = { .env = draft->env };
    struct mf_source source = { .ops = &preview_ops,
                                .size = draft->file_size,
                                .fd = -1,
                                .user = &preview };
    struct mf_model *after;
    enum mf_status status = make(draft, &preview);

    if (status == MF_OK)
        status = mf_model_open_view(draft->env, model->file[0].path, &source,
                                    NULL, &after);
    if (status == MF_OK) {
        status = force ? MF_OK : check_errors(after, model);
        mf_model_close(after);
    }
    mf_release(draft->env, preview.bytes, preview.room);
    mf_release(draft->env, preview.span,
               preview.span_room * sizeof(*preview.span));
    return status;
}
