/* SPDX-License-Identifier: MIT
 *
 * outline.c - a folder of Hugging Face as the GGUF file that is made of it
 *
 * What config.json means is known to the rows that convert a folder.  They make
 * the header of the file, in memory, and that is what is planned: a folder and
 * its file cannot differ.
 */
#include <string.h>

#include "lib/arch/arch.h"
#include "lib/draft/carry.h"
#include "lib/draft/put.h"
#include "lib/hub/bare.h"
#include "lib/hub/hub.h"
#include "lib/plan/plan.h"
#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

static enum mf_status put_bytes(void *user, uint64_t offset, const void *bytes,
                                size_t size)
{
    struct mf_plan_outline *outline = user;

    if (size <= outline->size && offset <= outline->size - size)
        memcpy(outline->bytes + offset, bytes, size);
    return MF_OK;
}

static enum mf_status write_header(const struct mf_draft *draft,
                                   struct mf_plan_outline *outline)
{
    struct mf_sink sink;
    enum mf_status status;

    outline->size = (size_t)draft->data_offset;
    outline->bytes = mf_alloc(draft->env, outline->size);
    if (!outline->bytes)
        return draft->env->error.status;
    memset(outline->bytes, 0, outline->size);
    mf_sink_init(&sink, draft->env);
    sink.write = put_bytes;
    sink.user = outline;
    status = draft->out->head(draft, &sink);
    return mf_sink_finish(&sink) == MF_OK ? status : sink.status;
}

/* What is quantized: a folder in its own type, or a GGUF file as it is. */
static enum mf_status list_model(struct mf_draft *draft, struct mf_model *model,
                                 const char *as)
{
    static const char *const split[] = { "split.no", "split.count",
                                         "split.tensors.count" };
    const struct mf_hub_options options = { .own_type = as != NULL };
    size_t left_out;

    if (mf_hub_applies(model, draft->format))
        return mf_hub_outline(draft, model, &options);
    if (model->format != draft->format)
        return mf_decline(model->env, MF_REASON_FAMILY_UNKNOWN, MF_NO_OFFSET,
                          "neither a GGUF file nor a Hugging Face folder that "
                          "becomes one");
    draft->version = model->info.version;
    draft->any_type = true;
    if (mf_carry_metadata(draft, model, &left_out) != MF_OK ||
        mf_draft_list_tensors(draft, model, NULL, 0,
                              model->index.tensor_count) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < sizeof(split) / sizeof(*split); i++)
        mf_set_remove(draft, split[i]);
    return MF_OK;
}

static enum mf_status quantize_draft(struct mf_draft *draft,
                                     struct mf_model *model, const char *as)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .type = as,
                                                 .allow_requantize = true };
    struct mf_mix_result result;

    for (size_t i = 0; i < draft->tensor_count; i++)
        while (draft->tensor[i].rank > 1 &&
               draft->tensor[i].dim[draft->tensor[i].rank - 1] == 1)
            draft->tensor[i].rank--;
    if (mf_mix_apply(&draft, 1, model, &options, NULL, true, &result) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++) {
        struct mf_draft_tensor *tensor = &draft->tensor[i];

        if (tensor->type != MF_TYPE_UNKNOWN)
            tensor->type_id =
                draft->format->type_id((enum mf_type)tensor->type);
    }
    return MF_OK;
}

/* ---- weights that are not there ---- */

struct bare {
    struct mf_draft *draft;
    struct mf_model *model;
    struct mf_hub_bare facts;
    bool unsure; /* a tensor may be there, or not */
};

static bool has_name(const struct mf_draft *draft, struct mf_str name)
{
    for (size_t i = draft->tensor_count; i > 0; i--)
        if (mf_str_same(draft->tensor[i - 1].name, name))
            return true;
    return false;
}

static enum mf_status add_row(struct bare *bare,
                              const struct mf_arch_tensor_row *row)
{
    struct mf_draft *draft = bare->draft;
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);
    enum mf_type type =
        mf_hub_bare_type(&bare->facts, row->name, row->dim, row->rank);
    uint64_t *dim = mf_arena_take(&draft->arena, sizeof(row->dim));
    uint64_t count = 1;

    if (!tensor || !dim)
        return draft->env->error.status;
    memcpy(dim, row->dim, sizeof(row->dim));
    tensor->name = mf_draft_text(draft, row->name);
    if (!tensor->name.at)
        return draft->env->error.status;
    tensor->dim = dim;
    tensor->rank = row->rank;
    tensor->from = tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    tensor->made = &bare->model->file[0].source;
    if (mf_elements(dim, row->rank, &count) &&
        mf_type_size(type, count, &tensor->size))
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'config.json': tensor '%s' would be too large, or not in "
                   "whole blocks of %s",
                   mf_quote(row->name).text, mf_types[type].name);
}

/* Queries, keys or values of a block in which one tensor has all three. */
static bool is_joined(const struct bare *bare,
                      const struct mf_arch_tensor_row *row)
{
    static const char joined[] = "qkv";
    const struct mf_draft *draft = bare->draft;
    const char *part = strstr(row->name.at, ".attn_");
    size_t head, tail;

    if (!part || !strchr(joined, part[6]) || part[7] != '.')
        return false;
    head = (size_t)(part + 6 - row->name.at);
    tail = row->name.size - head - 1;
    for (size_t i = draft->tensor_count; i > 0; i--) {
        const struct mf_str *name = &draft->tensor[i - 1].name;

        if (name->size == head + 3 + tail &&
            memcmp(name->at, row->name.at, head) == 0 &&
            memcmp(name->at + head, joined, 3) == 0 &&
            memcmp(name->at + head + 3, part + 7, tail) == 0)
            return true;
    }
    return false;
}

/* What a loader does not demand is there if config.json says so. */
static enum mf_status take_row(void *user, const struct mf_arch_tensor_row *row)
{
    struct bare *bare = user;
    enum mf_bare_answer has = MF_BARE_YES;

    if (has_name(bare->draft, row->name) || is_joined(bare, row))
        return MF_OK;
    if (row->optional || mf_hub_bare_is_tied(&bare->facts, row->pattern))
        has = mf_hub_bare_has(&bare->facts, row->pattern);
    bare->unsure = bare->unsure || has == MF_BARE_UNKNOWN;
    if (has != MF_BARE_YES)
        return MF_OK;
    if (!row->known)
        return mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'config.json' of '%s' does not give the shape of '%s': "
                       "the weights are required",
                       mf_quote(bare->facts.arch).text,
                       mf_quote(row->name).text);
    return add_row(bare, row);
}

static enum mf_status refuse_packed(struct bare *bare)
{
    return bare->facts.packing.size == 0
               ? MF_OK
               : mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json': weights compressed by '%s' have "
                         "shapes that only their files give",
                         mf_quote(bare->facts.packing).text);
}

/* Adds what the rows of the architecture demand, as the keys of the draft,
 * which has no tensors but those made of config.json, imply it. */
static enum mf_status list_bare(struct bare *bare)
{
    const struct mf_open_options alone = { .size = sizeof(alone),
                                           .shards = MF_SHARDS_ALONE };
    struct mf_env *env = bare->draft->env;
    struct mf_plan_outline keys = { .model = NULL };
    enum mf_status status = refuse_packed(bare);
    bool sure = false;

    if (status == MF_OK)
        status = mf_draft_plan(bare->draft);
    if (status == MF_OK)
        status = write_header(bare->draft, &keys);
    if (status == MF_OK)
        status =
            mf_model_open_memory(env, bare->model->file[0].path, keys.bytes,
                                 keys.size, &alone, &keys.model);
    if (status == MF_OK)
        status = mf_arch_list(keys.model, take_row, bare, &sure);
    mf_plan_outline_close(env, &keys);
    if (status == MF_OK && !sure)
        status = mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json' does not give the tensors of models "
                         "of '%s': the weights are required",
                         mf_quote(bare->facts.arch).text);
    return status;
}

/* ---- all of it ---- */

static enum mf_status open_header(struct mf_draft *draft,
                                  struct mf_model *model,
                                  struct mf_plan_outline *out)
{
    const struct mf_open_options alone = { .size = sizeof(alone),
                                           .shards = MF_SHARDS_ALONE };
    enum mf_status status = mf_draft_plan(draft);

    if (status == MF_OK)
        status = write_header(draft, out);
    if (status == MF_OK)
        status =
            mf_model_open_memory(model->env, model->file[0].path, out->bytes,
                                 out->size, &alone, &out->model);
    return status;
}

static enum mf_status outline_of(struct mf_model *model,
                                 const struct mf_format *format, const char *as,
                                 struct mf_plan_outline *out)
{
    struct mf_draft draft;
    enum mf_status status;

    mf_draft_init(&draft, model->env, format);
    status = list_model(&draft, model, as);
    if (status == MF_OK && as)
        status = quantize_draft(&draft, model, as);
    if (status == MF_OK)
        status = open_header(&draft, model, out);
    mf_draft_release(&draft);
    return status;
}

static enum mf_status outline_bare(struct mf_model *model,
                                   const struct mf_format *format,
                                   struct mf_plan_outline *out)
{
    struct mf_draft draft;
    struct bare bare = { .draft = &draft, .model = model };
    const struct mf_hub_options options = { .bare = &bare.facts };
    enum mf_status status;

    mf_draft_init(&draft, model->env, format);
    status = mf_hub_outline(&draft, model, &options);
    if (status == MF_OK)
        status = list_bare(&bare);
    if (status == MF_OK)
        status = open_header(&draft, model, out);
    mf_draft_release(&draft);
    out->unsure = bare.unsure || !bare.facts.type_known ||
                  !mf_hub_bare_is_proven(&bare.facts);
    return status;
}

/* Quantized, it is read again as the file that it would be. */
static enum mf_status open_bare(struct mf_model *model,
                                const struct mf_format *format, const char *as,
                                struct mf_plan_outline *out)
{
    struct mf_plan_outline floats = { .model = NULL };
    enum mf_status status;

    if (!as)
        return outline_bare(model, format, out);
    status = outline_bare(model, format, &floats);
    if (status == MF_OK)
        status = outline_of(floats.model, format, as, out);
    out->unsure = floats.unsure;
    mf_plan_outline_close(model->env, &floats);
    return status;
}

enum mf_status mf_plan_outline_open(struct mf_model *model, const char *as,
                                    struct mf_plan_outline *out)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    enum mf_status status;

    *out = (struct mf_plan_outline){ .model = NULL };
    if (model->bare)
        return open_bare(model, format, as, out);
    if (!as && !mf_hub_applies(model, format))
        return model->env->error.status;
    status = outline_of(model, format, as, out);
    /* Last: that a model has no GGUF form at all is the better answer. */
    if (status == MF_OK && as)
        status = mf_quantize_refuse(model);
    if (status == MF_OK || status == MF_ERR_MEMORY || as)
        return status;
    /* A family that is not converted, or a file that is wrong: as much as its
     * config.json says is planned. */
    mf_plan_outline_close(model->env, out);
    mf_clear_error(model->env);
    return MF_OK;
}

void mf_plan_outline_close(struct mf_env *env, struct mf_plan_outline *outline)
{
    mf_model_close(outline->model);
    mf_release(env, outline->bytes, outline->size);
    *outline = (struct mf_plan_outline){ .model = NULL };
}
