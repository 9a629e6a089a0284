/* SPDX-License-Identifier: MIT
 *
 * edit.c - changing the metadata of a file
 *
 * An edit should cost as much as the header, not as much as the model.  So the
 * new header is generated for tensors that stay where they are.  If it ends
 * exactly where the data begin, it is compared with the old one as it is
 * generated, and only the bytes from the first to the last difference are
 * written, through a journal.  Nothing is kept in memory: the header's code
 * runs once to count, once to compare and once to fill the journal.
 *
 * A header is made to end exactly there by its reserve, a key (or white space)
 * that only takes up bytes: as large as it was, or without it, or as large as
 * the space that is left.  Only where none of the three fits, or the alignment
 * changes and all tensors have to move, or no journal can be had, is the whole
 * file written again.
 *
 * The checksum at the end of an APR file covers all bytes.  CRC-32 is linear:
 * the change of the header, shifted by the number of bytes after it, is the
 * change of the checksum, so the data need not be read.
 *
 * Before anything is written the new header is opened as a file and validated
 * (draft/preview.h): an edit may leave errors or repair them, and adds none.
 */
#include "lib/draft/draft.h"
#include "lib/write/convert.h"

/* ---- does the header fit ---- */

struct edit {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_journal_edit change;
    uint64_t first, last;      /* bytes of the header that differ */
    uint32_t old_crc, new_crc; /* of the header */
    uint8_t footer[4];
    /* while a patch is written */
    struct mf_patch patch;
    mf_journal_put *put;
    void *put_user;
};

static enum mf_status count_header(struct edit *edit, struct mf_sink *sink)
{
    mf_sink_init(sink, edit->env);
    sink->big_endian = edit->draft.big_endian;
    return edit->draft.out->head(&edit->draft, sink);
}

/* The space that an earlier writer kept free, where a key does that. */
static uint64_t old_reserve(const struct edit *edit)
{
    const char *key = edit->draft.out->reserve_key;
    struct mf_meta meta;

    return key && mf_meta_find(edit->model, key, strlen(key), &meta, NULL) &&
                   meta.type == MF_VALUE_ARRAY && meta.of == MF_VALUE_U8
               ? meta.count
               : 0;
}

/* Chooses the reserve.  *fits: the header ends where the data begin. */
static enum mf_status fit_header(struct edit *edit, bool *fits)
{
    const struct mf_format_out *out = edit->draft.out;
    uint64_t room = edit->model->part[0].data_offset, cost = 0;
    struct mf_sink sink;

    *fits = false;
    if (edit->draft.alignment != edit->model->info.alignment)
        return MF_OK; /* all tensors would have to move */
    /* The same reserve first, so that as little as possible differs. */
    edit->draft.reserve = old_reserve(edit);
    if (count_header(edit, &sink) != MF_OK)
        return edit->env->error.status;
    *fits = sink.offset == room;
    if (*fits)
        return MF_OK;
    edit->draft.reserve = 0;
    if (count_header(edit, &sink) != MF_OK)
        return edit->env->error.status;
    *fits = sink.offset == room;
    if (sink.offset >= room)
        return MF_OK;
    cost = out->reserve_cost ? out->reserve_cost(&edit->draft) : 0;
    if (room - sink.end <= cost)
        return MF_OK;
    edit->draft.reserve = room - sink.end - cost;
    if (count_header(edit, &sink) != MF_OK)
        return edit->env->error.status;
    *fits = sink.offset == room;
    return MF_OK;
}

/* The draft's tensors, at the offsets that they have in the file. */
static enum mf_status keep_tensors(struct edit *edit)
{
    const struct mf_index *index = &edit->model->index;
    struct mf_draft *draft = &edit->draft;
    uint64_t start = edit->model->part[0].data_offset;

    if (mf_draft_list_tensors(draft, edit->model, NULL, 0,
                              index->tensor_count) != MF_OK ||
        mf_draft_check(draft) != MF_OK)
        return edit->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++)
        draft->tensor[i].offset = index->tensor[i].offset - start;
    return MF_OK;
}

/* ---- what differs ---- */

static enum mf_status compare(void *user, uint64_t offset, const void *bytes,
                              size_t size)
{
    struct edit *edit = user;
    const uint8_t *new = bytes;
    uint8_t old[4096];

    for (size_t at = 0, some; at < size; at += some) {
        some = size - at < sizeof(old) ? size - at : sizeof(old);
        if (mf_source_read(edit->env, &edit->model->file[0].source, offset + at,
                           old, some) != MF_OK)
            return edit->env->error.status;
        edit->old_crc = mf_crc32(edit->old_crc, old, some);
        edit->new_crc = mf_crc32(edit->new_crc, new + at, some);
        if (memcmp(old, new + at, some) == 0)
            continue;
        for (size_t i = 0; i < some; i++)
            if (old[i] != new[at + i]) {
                edit->last = offset + at + i;
                if (edit->first > edit->last)
                    edit->first = edit->last;
            }
    }
    return MF_OK;
}

static enum mf_status
write_header(struct edit *edit,
             enum mf_status (*write)(void *user, uint64_t offset,
                                     const void *bytes, size_t size))
{
    struct mf_sink sink;

    mf_sink_init(&sink, edit->env);
    sink.write = write;
    sink.user = edit;
    return mf_draft_head(&edit->draft, &sink);
}

static enum mf_status change_checksum(struct edit *edit)
{
    const struct mf_source *source = &edit->model->file[0].source;
    uint64_t at = source->size - sizeof(edit->footer);
    uint64_t after = at - edit->model->part[0].data_offset;
    uint32_t crc;

    if (!edit->model->part[0].has_footer)
        return MF_OK;
    if (mf_source_read(edit->env, source, at, edit->footer,
                       sizeof(edit->footer)) != MF_OK)
        return edit->env->error.status;
    crc = mf_crc32_join(edit->old_crc ^ edit->new_crc, 0, after);
    for (size_t i = 0; i < sizeof(edit->footer); i++)
        edit->footer[i] ^= (uint8_t)(crc >> 8 * i);
    edit->change.patch[edit->change.count++] =
        (struct mf_patch){ .offset = at, .size = sizeof(edit->footer) };
    return MF_OK;
}

static enum mf_status find_changes(struct edit *edit)
{
    edit->first = UINT64_MAX;
    if (write_header(edit, compare) != MF_OK)
        return edit->env->error.status;
    if (edit->first == UINT64_MAX)
        return MF_OK;
    edit->change.patch[edit->change.count++] =
        (struct mf_patch){ .offset = edit->first,
                           .size = edit->last - edit->first + 1 };
    return change_checksum(edit);
}

/* ---- in place ---- */

/* Passes on only those bytes of the header that are in the patch. */
static enum mf_status put_part(void *user, uint64_t offset, const void *bytes,
                               size_t size)
{
    struct edit *edit = user;
    uint64_t from = edit->patch.offset, end = from + edit->patch.size;
    uint64_t skip;

    if (offset + size <= from || offset >= end)
        return MF_OK;
    skip = from > offset ? from - offset : 0;
    end = end < offset + size ? end : offset + size;
    return edit->put(edit->put_user, (const uint8_t *)bytes + skip,
                     (size_t)(end - offset - skip));
}

static enum mf_status fill(void *user, size_t patch, mf_journal_put *put,
                           void *put_user)
{
    struct edit *edit = user;

    if (patch > 0)
        return put(put_user, edit->footer, sizeof(edit->footer));
    edit->patch = edit->change.patch[patch];
    edit->put = put;
    edit->put_user = put_user;
    return write_header(edit, put_part);
}

/* Caches share equal files by hard links: an edit of one would change the
 * others. */
static enum mf_status refuse_links(const struct edit *edit,
                                   const struct mf_lock *lock, bool force)
{
    if (force || edit->change.count == 0 || lock->status.st_nlink < 2)
        return MF_OK;
    return mf_decline(edit->env, MF_REASON_EDIT_LINKS, MF_NO_OFFSET,
                      "the file has %" PRIu64 " names (hard links), and an "
                      "edit in place would change it under all of them",
                      (uint64_t)lock->status.st_nlink);
}

static enum mf_status edit_in_place(struct edit *edit,
                                    const struct mf_lock *lock, bool dry_run,
                                    struct mf_edit_result *out)
{
    out->in_place = true;
    for (size_t i = 0; i < edit->change.count; i++)
        out->changed += edit->change.patch[i].size;
    out->journalled = edit->change.count > 0;
    if (dry_run || !out->journalled)
        return MF_OK;
    edit->change.fill = fill;
    edit->change.user = edit;
    return mf_journal_apply(edit->env, lock, &edit->model->file[0].source,
                            &edit->change);
}

/* ---- as a new file ---- */

static enum mf_status rewrite(struct edit *edit, const struct mf_lock *lock,
                              const struct mf_edit *edits, size_t count,
                              const struct mf_edit_options *options,
                              struct mf_edit_result *out)
{
    struct mf_model *model = edit->model;
    const char *path = model->file[0].path;
    struct mf_convert_options convert = { .size =
                                              sizeof(struct mf_convert_options),
                                          .format = model->format->name,
                                          .replace = true,
                                          .allow_nonfinite = true,
                                          .reserve = options->reserve,
                                          .edits = edits,
                                          .edit_count = count };
    struct mf_outputs outputs;
    enum mf_status status = mf_outputs_plan(model, path, &convert, &outputs);

    if (status == MF_OK) {
        out->changed = outputs.output->draft.file_size;
        outputs.replaces = &lock->status;
        if (!options->dry_run)
            status = mf_outputs_write(&outputs, true, false);
    }
    mf_outputs_release(&outputs);
    return status;
}

/* ---- an edit ---- */

/* Whether all errors are ones that an edit of metadata may repair, and that did
 * not keep us from understanding the file. */
static bool can_be_repaired(const struct mf_model *model)
{
    static const bool repaired[MF_RULE_COUNT] = {
        [MF_RULE_META_DUPLICATE] = true,
        [MF_RULE_GGUF_SPLIT] = true,
        [MF_RULE_APR_METADATA_TYPE] = true,
        [MF_RULE_APR_METADATA_FIELD] = true,
    };

    for (size_t i = 0; i < MF_RULE_COUNT; i++)
        if (model->index.damaged_by[i] && !repaired[i])
            return false;
    return true;
}

static enum mf_status check(const struct edit *edit)
{
    const struct mf_model *model = edit->model;

    if (!model->format->written)
        return mf_fail(edit->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "%s%s%s cannot be written", model->format->name,
                       *model->format->variant ? " " : "",
                       model->format->variant);
    if (!can_be_repaired(model))
        return mf_decline(edit->env, MF_REASON_INPUT_INVALID, MF_NO_OFFSET,
                          "the file has %zu error%s and is not edited",
                          model->index.damage_count,
                          model->index.damage_count == 1 ? "" : "s");
    if (model->part[0].is_split && model->part[0].split_number > 0)
        return mf_fail(edit->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the metadata of a split model is in its first shard, "
                       "this is number %" PRIu64,
                       model->part[0].split_number + 1);
    return MF_OK;
}

static enum mf_status start_draft(struct edit *edit,
                                  const struct mf_edit *edits, size_t count)
{
    struct mf_model *model = edit->model;
    struct mf_draft *draft = &edit->draft;
    size_t left_out;

    mf_draft_init(draft, edit->env, model->format);
    draft->version = model->info.version;
    /* Not the model's: the edit may remove the key that sets it. */
    draft->alignment = draft->out->alignment;
    draft->big_endian = model->info.byte_order == MF_BIG_ENDIAN;
    draft->mode = model->part[0].mode;
    if (mf_carry_metadata(draft, model, &left_out) != MF_OK ||
        mf_draft_edit(draft, edits, count) != MF_OK)
        return edit->env->error.status;
    return keep_tensors(edit);
}

static enum mf_status plan(struct edit *edit, bool in_place, uint64_t reserve)
{
    if (!in_place) {
        edit->draft.reserve = reserve;
        return mf_draft_plan(&edit->draft);
    }
    edit->draft.data_offset = edit->model->part[0].data_offset;
    edit->draft.file_size = edit->model->info.file_size;
    return MF_OK;
}

static enum mf_status edit_model(struct edit *edit, const struct mf_lock *lock,
                                 const struct mf_edit *edits, size_t count,
                                 const struct mf_edit_options *options,
                                 struct mf_edit_result *out)
{
    bool fits;

    if (check(edit) != MF_OK || start_draft(edit, edits, count) != MF_OK ||
        fit_header(edit, &fits) != MF_OK)
        return edit->env->error.status;
    fits = fits && options->reserve == 0;
    if (fits && find_changes(edit) != MF_OK)
        return edit->env->error.status;
    fits = fits && mf_journal_possible(lock, &edit->change);
    if (plan(edit, fits, options->reserve) != MF_OK ||
        mf_preview_check(&edit->draft, edit->model, options->force) != MF_OK ||
        (fits && refuse_links(edit, lock, options->force) != MF_OK))
        return edit->env->error.status;
    return fits ? edit_in_place(edit, lock, options->dry_run, out)
                : rewrite(edit, lock, edits, count, options, out);
}

enum mf_status mf_edit_model(struct mf_model *model, const struct mf_lock *lock,
                             const struct mf_edit *edits, size_t count,
                             const struct mf_edit_options *options,
                             struct mf_edit_result *out)
{
    struct edit edit = { .env = model->env, .model = model };
    enum mf_status status = edit_model(&edit, lock, edits, count, options, out);

    mf_draft_release(&edit.draft);
    return status;
}
