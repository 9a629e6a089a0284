/* SPDX-License-Identifier: MIT
 *
 * type_errors.c - the error of each tensor in each type: what is measured
 *
 * The model is planned once, as for a type that no source has: names, order,
 * header and importance values will not change when types do.  Every mix is
 * asked for its type of each tensor, too.
 */
#include "lib/quantize/type_errors.h"

#include <math.h>
#include <string.h>

#include "lib/base/timings.h"
#include "lib/codec/grid_maps.h"

/* ---- types and mixes ---- */

/* Blocks of 1 are floats; integers and what other formats have are not for
 * tensors of a model that llama.cpp loads. */
static bool is_candidate(const struct mf_draft *draft, enum mf_type type,
                         const struct mf_codec *codec)
{
    return mf_codec_encodes(codec) &&
           draft->format->type_id(type) != MF_NO_TYPE_ID &&
           (mf_type_is_quantized(type) || type == MF_TYPE_F32 ||
            type == MF_TYPE_F16 || type == MF_TYPE_BF16);
}

/* Whether the list, which has commas, has the name there, in upper or lower
 * case. */
static bool is_at(const char *list, const char *name)
{
    for (; *name; list++, name++)
        if (*list != *name &&
            (*list < 'A' || *list > 'Z' || *list - 'A' + 'a' != *name))
            return false;
    return *list == ',' || *list == 0;
}

/* The next name of the list; at is moved past it. */
static struct mf_str next_name(const char **at)
{
    const char *begin = *at + (**at == ',');
    struct mf_str name = { begin, strcspn(begin, ",") };

    *at = begin + name.size;
    return name;
}

/* NULL has every name. */
static bool is_listed(const char *list, const char *name)
{
    for (const char *at = list; at && *at;)
        if (is_at(next_name(&at).at, name))
            return true;
    return !list;
}

/* A type that would be left out of the answer is refused. */
static enum mf_status check_listed(struct mf_type_work *work)
{
    const struct mf_type_errors *errors = &work->errors;

    for (const char *at = work->what.types; at && *at;) {
        struct mf_str name = next_name(&at);
        size_t i = 0;

        while (i < errors->types && !is_at(name.at, errors->type_name[i]))
            i++;
        if (i == errors->types)
            return mf_fail(work->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "no errors can be measured in type '%s': %s",
                           mf_quote(name).text,
                           "llama.cpp loads no such type, or nothing here "
                           "encodes it");
    }
    return MF_OK;
}

static enum mf_status list_types(struct mf_type_work *work,
                                 const struct mf_draft *draft)
{
    struct mf_type_errors *errors = &work->errors;

    for (size_t i = 0; i < MF_TYPE_COUNT; i++) {
        enum mf_type type = (enum mf_type)i;
        const struct mf_codec *codec = mf_env_codec(work->env, work->isa, type);
        struct mf_type_trial *trial = &work->trial[errors->types];

        if (!is_candidate(draft, type, codec) ||
            !is_listed(work->what.types, mf_types[i].name))
            continue;
        *trial = (struct mf_type_trial){ .type = type, .codec = codec };
        if (codec->encode_on_grid)
            trial->map = mf_grid_map_of(work->env, codec->grid);
        if (codec->encode_on_grid && !trial->map)
            return work->env->error.status;
        errors->type_name[errors->types++] = mf_types[i].name;
    }
    return check_listed(work);
}

_Static_assert(MF_TYPE_COUNT <= MF_TYPES_MAX && MF_MIX_MAX <= MF_TYPES_MAX,
               "room for all types and mixes");

/* What the first mix knows of the model, all get. */
static enum mf_status read_facts(struct mf_type_work *work,
                                 const struct mf_draft *draft)
{
    bool has_imatrix = work->quantizing.imatrix != NULL;
    struct mf_mix *first = &work->mix[0];

    if (mf_mix_read_facts(first, draft, has_imatrix) != MF_OK)
        return work->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++)
        mf_mix_count(first, draft->tensor[i].name);
    for (size_t i = 1; i < work->errors.mixes; i++)
        mf_mix_share_facts(&work->mix[i], first, has_imatrix);
    return MF_OK;
}

static enum mf_status list_mixes(struct mf_type_work *work,
                                 const struct mf_draft *draft)
{
    struct mf_type_errors *errors = &work->errors;
    struct mf_quantize_options *options = &work->quantizing.options;
    struct mf_mix_info info;

    work->mix = mf_arena_take(&work->arena, MF_MIX_MAX * sizeof(*work->mix));
    if (!work->mix)
        return work->env->error.status;
    for (size_t i = 0; mf_mix_at(i, &info) && errors->mixes < MF_MIX_MAX; i++) {
        if (!info.available || mf_mix_is_copy(info.name))
            continue;
        options->type = info.name;
        if (mf_mix_init(&work->mix[errors->mixes], &work->arena, options) !=
            MF_OK)
            return work->env->error.status;
        errors->mix_known[errors->mixes] = true;
        errors->mix_name[errors->mixes++] = info.name;
    }
    return read_facts(work, draft);
}

/* ---- tensors ---- */

static uint8_t number_of(const struct mf_type_work *work, enum mf_type type)
{
    size_t i = 0;

    while (i < work->errors.types && work->trial[i].type != type)
        i++;
    return i < work->errors.types ? (uint8_t)i : MF_TYPES_MAX;
}

/* Asks every mix for its type.  A mix that refuses the tensor, or wants an
 * importance matrix for it, cannot be compared with. */
static enum mf_status ask_mixes(struct mf_type_work *work,
                                const struct mf_draft_tensor *tensor,
                                uint8_t *out)
{
    struct mf_mix_kind kind = mf_mix_kind_of(&work->mix[0], tensor, true);

    for (size_t i = 0; i < work->errors.mixes; i++) {
        struct mf_mix *mix = &work->mix[i];
        enum mf_type type;

        out[i] = MF_TYPES_MAX;
        if (!work->errors.mix_known[i])
            continue;
        if (mf_mix_type(mix, tensor->name, &kind, &type) == MF_OK &&
            (tensor->weights.at ||
             !mf_mix_needs_weights(mix, tensor->name, type)))
            out[i] = number_of(work, type);
        else if (work->env->error.status == MF_ERR_MEMORY)
            return MF_ERR_MEMORY;
        work->errors.mix_known[i] = out[i] < MF_TYPES_MAX;
        mf_clear_error(work->env);
    }
    return MF_OK;
}

/* Bytes in each type; a type whose blocks do not fit the rows gets none. */
static enum mf_status size_types(struct mf_type_work *work,
                                 struct mf_tensor_errors *out, uint64_t *bytes,
                                 struct mf_type_error *type)
{
    for (size_t i = 0; i < work->errors.types; i++) {
        enum mf_type number = work->trial[i].type;

        type[i] = (struct mf_type_error){ 0 };
        bytes[i] = 0;
        if (out->row % mf_types[number].block != 0)
            type[i].error = (double)INFINITY;
        else if (!mf_type_size(number, out->elements, &bytes[i]))
            return mf_fail(work->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "tensor '%s' is too large as %s",
                           mf_quote(out->name).text, mf_types[number].name);
    }
    return MF_OK;
}

static enum mf_status add_tensor(struct mf_type_work *work,
                                 const struct mf_draft_tensor *tensor)
{
    struct mf_type_errors *errors = &work->errors;
    struct mf_tensor_errors *out = &errors->tensor[errors->count];
    size_t types = errors->types;
    struct mf_type_error *type =
        mf_arena_take(&work->arena, types * sizeof(*type));
    uint64_t *bytes = mf_arena_take(&work->arena, types * sizeof(*bytes));
    uint8_t *mix = mf_arena_take(&work->arena, errors->mixes);

    if (!type || !bytes || !mix)
        return work->env->error.status;
    *out = (struct mf_tensor_errors){ .name = tensor->name,
                                      .from = mf_types[tensor->from].name,
                                      .row = tensor->dim[0],
                                      .weighted = tensor->weights.at != NULL,
                                      .type = type,
                                      .bytes = bytes,
                                      .mix = mix };
    mf_elements(tensor->dim, tensor->rank, &out->elements);
    out->rows = out->row > 0 ? out->elements / out->row : 0;
    work->tensor[errors->count++] = tensor;
    return size_types(work, out, bytes, type) == MF_OK
               ? ask_mixes(work, tensor, mix)
               : work->env->error.status;
}

/* All bytes but the data of tensors that can have several types. */
static enum mf_status list_tensors(struct mf_type_work *work,
                                   const struct mf_draft *draft)
{
    struct mf_type_errors *errors = &work->errors;
    size_t count = draft->tensor_count;
    struct mf_str *other;

    errors->tensor =
        mf_arena_take(&work->arena, count * sizeof(*errors->tensor) + 1);
    work->tensor =
        mf_arena_take(&work->arena, count * sizeof(*work->tensor) + 1);
    other = mf_arena_take(&work->arena, count * sizeof(*other) + 1);
    if (!errors->tensor || !work->tensor || !other)
        return work->env->error.status;
    errors->other = other;
    errors->alignment = draft->alignment;
    errors->fixed = draft->data_offset;
    for (size_t i = 0; i < count; i++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[i];
        uint64_t elements = 0, padded = 0;

        mf_elements(tensor->dim, tensor->rank, &elements);
        errors->elements += elements; /* of a planned file: no overflow */
        if (mf_mix_selects(&work->mix[0], tensor, true)) {
            if (add_tensor(work, tensor) != MF_OK)
                return work->env->error.status;
            continue;
        }
        mf_align_up(tensor->size, draft->alignment, &padded);
        errors->fixed += padded;
        errors->other_bytes += tensor->size;
        other[errors->others++] = tensor->name;
    }
    return MF_OK;
}

/* ---- all of it ---- */

/* A type that hardly a source has: a tensor that has it already would be
 * copied, and lose its importance values. */
#define PLANNED_AS "tq1_0"

static enum mf_status check_format(struct mf_type_work *work, const char *path)
{
    const struct mf_format *format = mf_output_format(
        work->quantizing.model, path, work->quantizing.how.format);

    if (!format || format->values == MF_VALUES_TYPED)
        return work->env->error.status;
    return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "types for a size are chosen for GGUF files only, not for "
                   "%s",
                   format->name);
}

static enum mf_status prepare(struct mf_type_work *work, const char *path)
{
    struct mf_quantizing *quantizing = &work->quantizing;
    struct mf_quantize_options *options = &quantizing->options;
    const struct mf_draft *draft;
    struct mf_mix_result mix;

    options->type = PLANNED_AS;
    options->tensor_type_count = 0;
    options->pure = options->keep_split = options->report = false;
    options->output_type = options->embedding_type = NULL;
    quantizing->how.dry_run = true;
    if (check_format(work, path) != MF_OK ||
        mf_quantizing_begin(quantizing, path) != MF_OK ||
        mf_quantizing_plan_model(quantizing, path, &mix) != MF_OK)
        return work->env->error.status;
    draft = &quantizing->outputs.output[0].draft;
    work->isa = mf_isa_choose(work->env);
    return work->isa && list_types(work, draft) == MF_OK &&
                   list_mixes(work, draft) == MF_OK &&
                   list_tensors(work, draft) == MF_OK
               ? mf_type_kept_open(work)
               : work->env->error.status;
}

static void release(struct mf_type_work *work)
{
    mf_type_kept_close(work);
    mf_quantizing_end(&work->quantizing);
    mf_arena_release(&work->arena);
    mf_release(work->env, work, sizeof(*work));
}

enum mf_status mf_type_errors_new(struct mf_model *model, const char *path,
                                  const struct mf_quantize_options *options,
                                  const struct mf_convert_options *how,
                                  const struct mf_type_errors_options *what,
                                  struct mf_type_errors **out)
{
    struct mf_env *env = model->env;
    struct mf_type_work *work = mf_alloc(env, sizeof(*work));
    struct mf_timed timed;
    enum mf_status status;

    if (!work)
        return env->error.status;
    memset(work, 0, sizeof(*work));
    work->env = env;
    work->what = *what;
    work->log = (struct mf_worklog)MF_WORKLOG_NONE;
    if (mf_quantizing_take(&work->quantizing, model, options, how) != MF_OK) {
        mf_release(env, work, sizeof(*work));
        return env->error.status;
    }
    mf_arena_init(&work->arena, env);
    timed = mf_timed_begin(env, MF_PHASE_PLAN);
    status = prepare(work, path);
    mf_timed_end(env, timed);
    if (status == MF_OK)
        status = mf_type_rows(work);
    if (status == MF_OK) {
        *out = &work->errors;
        return MF_OK;
    }
    mf_type_kept_failed(work);
    release(work);
    return status;
}

void mf_type_errors_free(struct mf_type_errors *errors)
{
    if (errors)
        release((struct mf_type_work *)errors); /* its first member */
}

double mf_relative_error(const struct mf_tensor_errors *tensor, size_t type)
{
    double error = tensor->type[type].error;

    return error > 0 && tensor->squares > 0 ? sqrt(error / tensor->squares) : 0;
}

enum mf_status mf_pattern_find(const struct mf_type_errors *errors,
                               const char *pattern, bool *match)
{
    struct mf_env *env = ((const struct mf_type_work *)errors)->env;
    struct mf_pattern compiled;
    struct mf_arena arena;
    enum mf_status status;

    mf_arena_init(&arena, env);
    status = mf_pattern_init(&compiled, &arena, pattern);
    for (size_t i = 0; i < errors->count && status == MF_OK; i++)
        match[i] = mf_pattern_matches(&compiled, errors->tensor[i].name);
    mf_arena_release(&arena);
    return status;
}
