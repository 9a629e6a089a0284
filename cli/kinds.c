/* SPDX-License-Identifier: MIT
 *
 * kinds.c - files that are not models, and what they say about themselves
 */
#include "cli/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/value.h"

/* In GGUF an entry is two tensors, in the old format one. */
size_t kind_entries(struct mf_model *model)
{
    static const char tail[] = ".in_sum2";
    size_t count = mf_model_info(model)->tensor_count, entries = 0;
    struct mf_tensor tensor;

    if (strcmp(mf_model_info(model)->format, "imatrix") == 0)
        return count;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        entries += tensor.name.size >= strlen(tail) &&
                   memcmp(tensor.name.at + tensor.name.size - strlen(tail),
                          tail, strlen(tail)) == 0;
    return entries;
}

/* An encoder and projector of images or sound. */
static bool is_projector(struct mf_model *model)
{
    struct mf_meta meta;

    return mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL) &&
           meta.text.size == 4 && memcmp(meta.text.at, "clip", 4) == 0;
}

static bool is_matrix(struct mf_model *model)
{
    return mf_model_is_imatrix(model);
}

const struct kind kinds[KINDS_COUNT] = {
    { "imatrix",
      is_matrix,
      true,
      { { "chunk_count", "chunks", "imatrix.chunk_count" },
        { "chunk_size", "chunk size", "imatrix.chunk_size" },
        { "datasets", "datasets", "imatrix.datasets" } } },
    { "projector",
      is_projector,
      false,
      { { "type", "projector", "clip.projector_type" },
        { "vision_type", "for images", "clip.vision.projector_type" },
        { "audio_type", "for sound", "clip.audio.projector_type" },
        { "vision_encoder", "sees images", "clip.has_vision_encoder" },
        { "audio_encoder", "hears sound", "clip.has_audio_encoder" },
        { "image_size", "image size", "clip.vision.image_size" },
        { "patch_size", "patch size", "clip.vision.patch_size" },
        { "vision_layers", "image layers", "clip.vision.block_count" },
        { "audio_layers", "sound layers", "clip.audio.block_count" },
        { "vision_out", "text embedding", "clip.vision.projection_dim" },
        { "audio_out", "text embedding", "clip.audio.projection_dim" } } },
};

bool kind_row(struct mf_model *model, const struct kind *kind, size_t row,
              struct mf_meta *meta, size_t *at)
{
    const char *key = kind->row[row].key;

    return mf_meta_find(model, key, strlen(key), meta, at);
}

void kind_json(struct run *run, struct mf_model *model, const struct kind *kind)
{
    struct mf_meta meta;
    size_t at;

    mf_json_key(&run->json, kind->name);
    if (!kind->is(model)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    if (kind->entries)
        json_number(run, "entries", kind_entries(model));
    for (size_t i = 0; kind->row[i].key; i++) {
        mf_json_key(&run->json, kind->row[i].name);
        if (kind_row(model, kind, i, &meta, &at))
            value_json_whole(run, model, at);
        else
            mf_json_null(&run->json);
    }
    mf_json_end(&run->json, '}');
}

/* Begins a line for people; returns where its value goes. */
static struct out *label(struct run *run, const char *name, size_t column)
{
    size_t taken = strlen("  ") + strlen(name);

    out_text(&run->out, "  ");
    out_bold(&run->out, name);
    out_spaces(&run->out, column > taken ? column - taken : 1);
    return &run->out;
}

/* ---- a file that is a table ---- */

/* Compressions of all chunks; there are 8 and "?". */
#define CODECS_MAX 16

struct codecs {
    const char *name[CODECS_MAX];
    size_t count;
};

static struct codecs codecs_of(const struct mf_model *model)
{
    struct codecs codecs = { .count = 0 };
    struct mf_column_chunk chunk;

    for (size_t i = 0; mf_column_chunk_at(model, i, &chunk); i++) {
        size_t at = 0;

        while (at < codecs.count && strcmp(codecs.name[at], chunk.codec) != 0)
            at++;
        if (at == codecs.count && at < CODECS_MAX)
            codecs.name[codecs.count++] = chunk.codec;
    }
    return codecs;
}

/* ---- text ---- */

static void number_line(struct run *run, const char *name, uint64_t number,
                        size_t column)
{
    label(run, name, column);
    out_number(&run->out, number, 0);
    out_text(&run->out, "\n");
}

static void codecs_line(struct run *run, const struct mf_model *model,
                        size_t column)
{
    struct codecs codecs = codecs_of(model);

    if (codecs.count == 0)
        return;
    label(run, "codecs", column);
    for (size_t i = 0; i < codecs.count; i++) {
        out_text(&run->out, i > 0 ? ", " : "");
        out_text(&run->out, codecs.name[i]);
    }
    out_text(&run->out, "\n");
}

bool table_text(struct run *run, const struct mf_model *model, size_t column)
{
    struct mf_table_info info;

    if (!mf_model_table(model, &info))
        return false;
    number_line(run, "rows", info.rows, column);
    number_line(run, "row groups", info.group_count, column);
    number_line(run, "columns", info.column_count, column);
    number_line(run, "chunks", info.chunk_count, column);
    codecs_line(run, model, column);
    label(run, "chunk bytes", column);
    out_number(&run->out, info.bytes, 0);
    out_text(&run->out, " (");
    out_number(&run->out, info.unpacked, 0);
    out_text(&run->out, " without compression)\n");
    if (info.created_by.size > 0) {
        label(run, "created by", column);
        out_escaped(&run->out, info.created_by, "");
        out_text(&run->out, "\n");
    }
    return true;
}

/* ---- JSON ---- */

void table_json(struct run *run, const struct mf_model *model)
{
    struct codecs codecs = codecs_of(model);
    struct mf_table_info info;

    mf_json_key(&run->json, "table");
    if (!mf_model_table(model, &info)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_number(run, "rows", info.rows);
    json_number(run, "row_groups", info.group_count);
    json_number(run, "columns", info.column_count);
    json_number(run, "chunks", info.chunk_count);
    mf_json_key(&run->json, "codecs");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < codecs.count; i++)
        mf_json_string(&run->json, codecs.name[i], strlen(codecs.name[i]));
    mf_json_end(&run->json, ']');
    json_number(run, "bytes", info.bytes);
    json_number(run, "unpacked_bytes", info.unpacked);
    json_str(run, "created_by", info.created_by);
    mf_json_end(&run->json, '}');
}

/* ---- a LoRA adapter ---- */

static bool read(struct run *run, struct mf_model *model,
                 struct mf_adapter_info *out)
{
    if (mf_model_adapter_info(model, out) == MF_OK)
        return out->found;
    report_remark(run, run->operand[0], mf_env_error(run->env)->message);
    return false;
}

void adapter_text(struct run *run, struct mf_model *model, size_t column)
{
    struct mf_adapter_info info;

    if (!read(run, model, &info))
        return;
    out_escaped(label(run, "adapter", column),
                str_of(*info.kind ? info.kind : "unknown kind"), "");
    out_text(&run->out, "\n");
    if (info.rank_max > 0) {
        out_format(label(run, "rank", column), "%" PRIu64, info.rank_min);
        if (info.rank_max > info.rank_min)
            out_format(&run->out, " to %" PRIu64, info.rank_max);
        out_text(&run->out, "\n");
    }
    if (info.has_alpha)
        out_format(label(run, "alpha", column), "%g\n", info.alpha);
    if (info.has_scale) {
        out_format(label(run, "scale", column), "%g", info.scale_min);
        if (info.scale_max > info.scale_min)
            out_format(&run->out, " to %g", info.scale_max);
        out_text(&run->out, "\n");
    }
    out_format(label(run, "targets", column), "%zu tensor%s", info.pairs,
               info.pairs == 1 ? "" : "s");
    if (info.whole > 0)
        out_format(&run->out, ", and %zu replaced", info.whole);
    out_text(&run->out, "\n");
    if (!*info.base_model)
        return;
    out_escaped(label(run, "base model", column), str_of(info.base_model), "");
    out_text(&run->out, "\n");
}

static void number(struct run *run, const char *key, bool given, double value)
{
    mf_json_key(&run->json, key);
    if (given)
        mf_json_f64(&run->json, value);
    else
        mf_json_null(&run->json);
}

void adapter_json(struct run *run, struct mf_model *model)
{
    struct mf_adapter_info info;

    mf_json_key(&run->json, "adapter");
    if (!read(run, model, &info)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_text(run, "kind", info.kind);
    json_number(run, "rank_min", info.rank_min);
    json_number(run, "rank_max", info.rank_max);
    number(run, "alpha", info.has_alpha, info.alpha);
    number(run, "scale_min", info.has_scale, info.scale_min);
    number(run, "scale_max", info.has_scale, info.scale_max);
    json_number(run, "targets", info.pairs);
    json_number(run, "replaced", info.whole);
    mf_json_key(&run->json, "base_model");
    if (*info.base_model)
        mf_json_string(&run->json, info.base_model, strlen(info.base_model));
    else
        mf_json_null(&run->json);
    mf_json_end(&run->json, '}');
}
