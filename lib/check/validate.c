/* SPDX-License-Identifier: MIT
 *
 * validate.c - checks of header values against each other
 *
 * Opening the model has checked single fields and tensor geometry.  What is
 * checked here needs all of the header, or other files' headers, or bytes that
 * opening passed over.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/check/check.h"
#include "lib/folder/folder.h"
#include "lib/io/path.h"
#include "lib/model/formats.h"
#include "lib/model/model.h"
#include "lib/model/open_parts.h"
#include "lib/vocab/templates.h"
#include "lib/vocab/vocab.h"

/* JSON has no infinity: there the number was out of range, and other readers
 * refuse the document. */
static void check_finite(struct mf_model *model, const struct mf_meta *rows,
                         size_t count)
{
    bool json = model->format->values == MF_VALUES_JSON;

    for (size_t i = 0; i < count; i++) {
        const struct mf_meta *meta = &rows[i];

        if ((meta->type == MF_VALUE_F32 || meta->type == MF_VALUE_F64) &&
            !isfinite(meta->number.f64))
            mf_index_note(&model->index, meta->shard,
                          json ? MF_ERROR : MF_WARNING, MF_RULE_META_NOT_FINITE,
                          meta->span.offset, "'%s' is %s",
                          mf_quote(meta->key).text,
                          json ? "out of range: JSON readers refuse the file"
                          : isnan(meta->number.f64) ? "NaN"
                                                    : "infinite");
    }
}

/* Lets the format read the metadata rows of one shard again. */
static enum mf_status revisit_rows(struct mf_model *model,
                                   const struct mf_meta *rows, size_t count)
{
    struct mf_reader reader;
    enum mf_status status;

    if (!model->format->revisit || count == 0)
        return MF_OK;
    status = mf_reader_init(&reader, model->env,
                            &model->file[rows->shard].source, NULL, 0);
    reader.big_endian = model->index.kind.byte_order == MF_BIG_ENDIAN;
    if (status == MF_OK)
        status = model->format->revisit(&reader, &model->index, rows, count);
    mf_reader_release(&reader);
    return status;
}

static enum mf_status revisit(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    enum mf_status status = revisit_rows(model, index->meta, index->meta_count);

    for (size_t i = 0, next; i < index->later_meta_count && status == MF_OK;
         i = next) {
        next = i + 1;
        while (next < index->later_meta_count &&
               index->later_meta[next].shard == index->later_meta[i].shard)
            next++;
        status = revisit_rows(model, index->later_meta + i, next - i);
    }
    return status;
}

/* ---- after the data ---- */

#define PADDING_MAX 4096 /* no writer pads to more */

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void note_trailing(struct mf_index *index, uint32_t shard,
                          struct mf_span span, const uint8_t *bytes)
{
    char text[8 * 3 + 1] = "", plain[8 + 1] = "";
    size_t size = span.size < 8 ? (size_t)span.size : 8;

    for (size_t i = 0; i < size; i++) {
        snprintf(text + 3 * i, 4, " %02x", bytes[i]);
        plain[i] = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : '.';
    }
    mf_index_note(index, shard, MF_WARNING, MF_RULE_DATA_GAP, span.offset,
                  "%" PRIu64 " bytes at the end of the file belong to no "
                  "tensor; they begin with%s (%s)",
                  span.size, text, plain);
}

/* Zeros up to the alignment are padding; anything else is a gap. */
static enum mf_status check_trailing(struct mf_model *model)
{
    uint8_t bytes[PADDING_MAX];

    for (size_t i = 0; i < model->file_count; i++) {
        const struct mf_part *part = &model->part[i];
        struct mf_span span = part->trailing;
        size_t size = span.size < PADDING_MAX ? (size_t)span.size : PADDING_MAX;

        if (size == 0)
            continue;
        if (mf_source_read(model->env, &model->file[i].source, span.offset,
                           bytes, size) != MF_OK)
            return model->env->error.status;
        if (span.size > part->alignment || size < span.size ||
            !all_zero(bytes, size))
            note_trailing(&model->index, part->shard, span, bytes);
    }
    return MF_OK;
}

/* ---- the name ---- */

/* The name is the one that was given, also of a link: readers that go by names
 * see no other. */
static void check_name(struct mf_model *model, uint32_t shard, const char *path,
                       bool lists)
{
    const char *name = mf_base_name(path);
    const struct mf_format *claimed = mf_format_of_name(model->env, name);

    if (!claimed || (strcmp(claimed->name, model->format->name) == 0 &&
                     (claimed->list != NULL) == lists))
        return;
    mf_index_note(&model->index, shard, MF_WARNING, MF_RULE_FILE_NAME,
                  MF_NO_OFFSET, "'%s' has the suffix of %s%s, but is a %s %s",
                  mf_quote((struct mf_str){ name, strlen(name) }).text,
                  claimed->name, claimed->list ? "'s lists of shards" : "",
                  model->format->name, lists ? "list of shards" : "file");
}

static void check_names(struct mf_model *model)
{
    for (size_t i = 0; i < model->file_count; i++)
        check_name(model, (uint32_t)i, model->file[i].path, false);
    if (model->list)
        check_name(model, 0, model->list, true);
}

enum mf_status mf_header_check(struct mf_model *model)
{
    struct mf_index *index = &model->index;

    if (model->validated)
        return MF_OK;
    model->validated = true;
    check_finite(model, index->meta, index->meta_count);
    check_finite(model, index->later_meta, index->later_meta_count);
    if (mf_shards_check_metadata(model) != MF_OK)
        return model->env->error.status;
    check_names(model);
    if (check_trailing(model) != MF_OK || revisit(model) != MF_OK)
        return model->env->error.status;
    if (model->format->validate)
        model->format->validate(index, model->part, model->file_count);
    if (mf_vocab_check(model) != MF_OK || mf_templates_check(model) != MF_OK)
        return model->env->error.status;
    if (model->info.has_tensors && index->tensor_count == 0 &&
        !index->table.exists)
        mf_index_note(index, 0, MF_NOTE, MF_RULE_MODEL_EMPTY, MF_NO_OFFSET,
                      "no tensors: a vocabulary, or metadata only");
    else
        mf_architecture_check(model);
    mf_lists_check(model);
    if (mf_folder_check(model) != MF_OK)
        return model->env->error.status;
    return index->status;
}
