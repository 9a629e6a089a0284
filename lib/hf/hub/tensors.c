/* SPDX-License-Identifier: MIT
 *
 * tensors.c - a recipe's rows over the tensors of a folder
 */
#include "lib/hf/hub/tensors.h"

#include <assert.h>

#include "lib/base/sort.h"
#include "lib/hf/hf.h"
#include "lib/hf/hub/decode.h"
#include "lib/hf/hub/outtype.h"
#include "lib/hf/hub/tensors_made.h"
#include "lib/hf/hub/tensors_work.h"
#include "lib/io/path.h"

/* ---- the order ---- */

static struct mf_str name_of(const struct mf_model *model, uint32_t tensor)
{
    const struct mf_record *record = &model->index.tensor[tensor];

    return (struct mf_str){ record->name, record->name_size };
}

/* By the names of the files, and by names of tensors in each; as bytes. */
static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_model *model = table;
    uint16_t file_a = model->index.tensor[a].shard;
    uint16_t file_b = model->index.tensor[b].shard;
    struct mf_str name_a = name_of(model, a), name_b = name_of(model, b);
    size_t size = name_a.size < name_b.size ? name_a.size : name_b.size;
    int order = 0;

    if (file_a != file_b)
        order = strcmp(mf_base_name(model->file[file_a].path),
                       mf_base_name(model->file[file_b].path));
    if (order == 0 && size > 0)
        order = memcmp(name_a.at, name_b.at, size);
    return order != 0 ? order < 0 : name_a.size < name_b.size;
}

/* Whether a part of the name is a number: of a block, usually. */
static bool has_number(struct mf_str name)
{
    for (size_t i = 1; i < name.size; i++)
        if (name.at[i - 1] == '.' && name.at[i] >= '0' && name.at[i] <= '9')
            return true;
    return false;
}

static enum mf_status set_order(struct mf_tensor_work *work)
{
    const struct mf_model *model = work->hub->recipe->model;
    size_t room = model->index.tensor_count, count = 0;

    if (work->hub->facts) {
        for (size_t i = 0; i < model->index.tensor_count; i++)
            room -= has_number(name_of(model, (uint32_t)i));
    }
    work->order =
        mf_arena_take(work->derive.arena, (room + 1) * sizeof(*work->order));
    if (!work->order)
        return mf_work_failed(work);
    for (size_t i = 0; i < model->index.tensor_count; i++)
        if (!work->hub->facts || !has_number(name_of(model, (uint32_t)i)))
            work->order[count++] = (uint32_t)i;
    work->order_count = count;
    mf_sort(work->order, count, is_before, model);
    return MF_OK;
}

/* ---- names ---- */

static enum mf_status too_long(struct mf_tensor_work *work, struct mf_str name)
{
    return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "the name of tensor '%s' has more than %d bytes",
                   mf_quote(name).text, MF_TENSOR_NAME_MAX);
}

/* The first part between dots that is a number. */
static int64_t block_of(struct mf_str name)
{
    size_t start = 0;

    while (start < name.size) {
        size_t end = start;
        int64_t number = 0;
        bool digits = true;

        for (; end < name.size && name.at[end] != '.'; end++) {
            digits = digits && name.at[end] >= '0' && name.at[end] <= '9';
            if (digits && number < MF_NAMING_BLOCKS)
                number = number * 10 + (name.at[end] - '0');
        }
        if (digits && end > start)
            return number;
        start = end + 1;
    }
    return -1;
}

static bool rename_tensor(struct mf_tensor_work *work,
                          const struct mf_tensor_row *row)
{
    struct mf_glob_match match;
    struct mf_tensor_name name;

    if (row->kind == MF_ROW_REPLACE)
        return mf_hub_name_replace(&work->name, row->pattern, row->to);
    if (!mf_tensor_row_fits(row, mf_tensor_name_text(&work->name), &match))
        return true;
    if (!mf_tensor_row_name(row->to, row->plus, &match, &name))
        return false;
    work->name = name;
    return true;
}

enum mf_status mf_tensor_filter(struct mf_tensor_work *work,
                                const struct mf_record *record, bool *skipped)
{
    struct mf_str name = { record->name, record->name_size };
    struct mf_glob_match match;

    *skipped = false;
    work->name.size = 0;
    if (!mf_tensor_name_add(&work->name, name))
        return too_long(work, name);
    for (const struct mf_tensor_row *row = work->rows.first; row && !*skipped;
         row = row->next) {
        if (row->kind == MF_ROW_SKIP)
            *skipped = mf_tensor_row_fits(row, mf_tensor_name_text(&work->name),
                                          &match);
        else if ((row->kind == MF_ROW_RENAME || row->kind == MF_ROW_REPLACE) &&
                 !rename_tensor(work, row))
            return too_long(work, name);
    }
    work->bid = block_of(mf_tensor_name_text(&work->name));
    return MF_OK;
}

/* What becomes of it, and the name of that. */
static enum mf_status find_use(struct mf_tensor_work *work, size_t record)
{
    struct mf_compressed_name name;

    work->is_q8 = false;
    work->use = MF_COMPRESSED_PLAIN;
    if (!work->compressed.recipe) /* not open yet: the type is being chosen */
        return MF_OK;
    if (mf_compressed_use(&work->compressed, record, &work->use) != MF_OK)
        return mf_work_failed(work);
    if (work->use != MF_COMPRESSED_LATER && work->use != MF_COMPRESSED_FIRST)
        return MF_OK;
    name = mf_compressed_name(&work->compressed, record);
    if (work->hub->decode && !work->compressed.mxfp4)
        work->use = MF_COMPRESSED_LATER;
    if (mf_str_ends(mf_tensor_name_text(&work->name), name.from)) {
        work->name.size -= strlen(name.from);
        if (!mf_tensor_name_add(&work->name,
                                (struct mf_str){ name.to, strlen(name.to) }))
            return too_long(work, mf_tensor_name_text(&work->name));
    }
    return MF_OK;
}

enum mf_status mf_tensor_each(struct mf_tensor_work *work,
                              mf_tensor_visit *visit)
{
    const struct mf_index *index = &work->hub->recipe->model->index;
    enum mf_status status = MF_OK;

    work->done = false;
    for (size_t i = 0; i < work->order_count && status == MF_OK && !work->done;
         i++) {
        bool skipped;

        status =
            mf_tensor_filter(work, &index->tensor[work->order[i]], &skipped);
        if (status == MF_OK && !skipped)
            status = find_use(work, work->order[i]);
        if (status == MF_OK && !skipped)
            status = visit(work, work->order[i]);
    }
    return status;
}

/* ---- the type of matrices ---- */

static enum mf_status note_type(struct mf_tensor_work *work, size_t record)
{
    const struct mf_record *tensor =
        &work->hub->recipe->model->index.tensor[record];

    work->done = mf_outtype_guess((enum mf_type)tensor->type, tensor->rank,
                                  &work->hub->type);
    return MF_OK;
}

static enum mf_status choose_type(struct mf_tensor_work *work)
{
    if (work->hub->typed || work->hub->keep_types)
        return MF_OK;
    work->hub->type = MF_TYPE_F16;
    return mf_tensor_each(work, note_type);
}

/* ---- all tensors ---- */

/* The adapter's names are those that the folder has. */
static enum mf_status convert_as(struct mf_tensor_work *work, size_t record,
                                 const struct mf_derived *node)
{
    const struct mf_record *tensor =
        &work->hub->recipe->model->index.tensor[record];
    struct mf_str name =
        work->use == MF_COMPRESSED_PLAIN
            ? (struct mf_str){ tensor->name, tensor->name_size }
            : mf_tensor_name_text(&work->name);

    if (node && work->hub->lora && !work->hub->lora->adapter.gguf)
        node = mf_lora_merge(work->hub->lora, &work->derive, name, node);
    return node ? mf_tensor_flow(work, work->rows.first, &work->name, node)
                : mf_work_failed(work);
}

static enum mf_status convert(struct mf_tensor_work *work, size_t record)
{
    const struct mf_compressed *compressed = &work->compressed;

    work->derive.name = mf_tensor_name_text(&work->name);
    if (work->use == MF_COMPRESSED_PLAIN)
        return convert_as(
            work, record,
            mf_recipe_tensor(work->hub->recipe, &work->derive, record));
    if (work->use != MF_COMPRESSED_HERE)
        return MF_OK;
    work->is_q8 =
        work->hub->fp8_as_q8 && mf_compressed_was_fp8(compressed, record);
    return convert_as(work, record,
                      mf_compressed_node(compressed, &work->derive, record));
}

/* Weights that the converter puts after all others. */
static enum mf_status convert_later(struct mf_tensor_work *work, size_t record)
{
    work->derive.name = mf_tensor_name_text(&work->name);
    return work->use == MF_COMPRESSED_LATER
               ? convert_as(work, record,
                            mf_compressed_floats(&work->compressed,
                                                 &work->derive, record))
               : MF_OK;
}

static bool has_rows(const struct mf_tensor_work *work,
                     enum mf_tensor_row_kind kind)
{
    for (const struct mf_tensor_row *row = work->rows.first; row;
         row = row->next)
        if (row->kind == kind)
            return true;
    return false;
}

static bool comes_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft *draft = table;

    return strcmp(draft->tensor[a].name.at, draft->tensor[b].name.at) < 0;
}

/* Names that a file spells in two ways would end as one. */
static enum mf_status check_names(struct mf_tensor_work *work)
{
    const struct mf_draft *draft = work->hub->draft;
    size_t count = draft->tensor_count;
    uint32_t *order =
        mf_arena_take(work->derive.arena, (count + 1) * sizeof(*order));

    if (!order)
        return mf_work_failed(work);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    mf_sort(order, count, comes_before, draft);
    for (size_t i = 1; i < count; i++)
        if (!comes_before(draft, order[i - 1], order[i]))
            return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "two tensors would be called '%s' in GGUF",
                           mf_quote(draft->tensor[order[i]].name).text);
    return MF_OK;
}

static enum mf_status run(struct mf_tensor_work *work)
{
    enum mf_status status;

    if (work->hub->adapter)
        return mf_tensor_convert_adapter(work);
    status = set_order(work);
    work->pass = MF_ROW_TENSOR;
    if (status != MF_OK || work->hub->facts)
        return status == MF_OK ? mf_tensor_each(work, convert) : status;
    if (status == MF_OK)
        status = mf_compressed_open(&work->compressed, work->hub->recipe,
                                    has_rows(work, MF_ROW_EARLY));
    if (status == MF_OK)
        status = choose_type(work);
    if (status == MF_OK)
        status = mf_tensor_find_qkv(work);
    if (status == MF_OK)
        status = mf_tensor_add_blocks(work);
    if (status == MF_OK)
        status = mf_tensor_extras(work);
    work->pass = MF_ROW_TENSOR;
    if (status == MF_OK)
        status = mf_tensor_each(work, convert);
    if (status == MF_OK &&
        (work->hub->decode ||
         mf_compressed_has(&work->compressed, MF_COMPRESSED_LATER)))
        status = mf_tensor_each(work, convert_later);
    if (status == MF_OK)
        status = mf_group_check(work);
    return status == MF_OK ? check_names(work) : status;
}

/* The number of blocks, those included that predict further tokens. */
static enum mf_status read_blocks(struct mf_tensor_work *work)
{
    const struct mf_node *node = mf_recipe_field(
        work->hub->recipe, (struct mf_str){ "block_count", 11 });
    int64_t blocks;

    if (!node || node->kind == MF_NODE_NULL)
        return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s': the number of layers is missing",
                       mf_recipe_file(work->hub->recipe));
    if (!mf_node_is_int(node) || !mf_node_int(node, &blocks) || blocks < 0) {
        work->hub->recipe->about = (struct mf_str){ NULL, 0 };
        mf_recipe_wrong(work->hub->recipe, node, "a whole number from 0 on");
        return mf_work_failed(work);
    }
    work->blocks = (uint64_t)blocks;
    return MF_OK;
}

enum mf_status mf_hub_tensors(struct mf_hub_tensors *hub)
{
    struct mf_arena *arena = &hub->draft->arena;
    struct mf_env *env = hub->draft->env;
    struct mf_tensor_work *work = mf_arena_take(arena, sizeof(*work));

    if (!work)
        return env->error.status;
    *work = (struct mf_tensor_work){ .hub = hub, .env = env };
    work->arch = mf_naming_arch_find(hub->arch);
    assert(work->arch); /* a recipe names it */
    if (mf_derivation_init(&work->derive, env, arena) != MF_OK ||
        read_blocks(work) != MF_OK ||
        mf_tensor_rows_read(&work->rows, hub->recipe) != MF_OK)
        return env->error.status;
    return run(work);
}

/* As llama.cpp numbers what is mostly NVFP4, or MXFP4 in experts. */
#define FILE_TYPE_NVFP4 39
#define FILE_TYPE_MXFP4 38

uint32_t mf_hub_tensors_file_type(const struct mf_hub_tensors *hub)
{
    bool floats = hub->type == MF_TYPE_F32 || hub->type == MF_TYPE_F16 ||
                  hub->type == MF_TYPE_BF16;

    if (floats && hub->kept_nvfp4)
        return FILE_TYPE_NVFP4;
    return floats && hub->kept_mxfp4 ? FILE_TYPE_MXFP4
                                     : mf_hf_file_type(hub->type);
}

const char *mf_hub_tensors_type_name(const struct mf_hub_tensors *hub)
{
    const char *name = mf_types[hub->type].name;
    size_t size = strlen(name);
    char *upper;

    switch (mf_hub_tensors_file_type(hub)) {
    case FILE_TYPE_NVFP4:
        return "NVFP4";
    case FILE_TYPE_MXFP4:
        return "MXFP4_MOE";
    default:
        break;
    }
    upper = mf_arena_text(&hub->draft->arena, size);
    for (size_t i = 0; upper && i < size; i++)
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A'
                                                           : name[i]);
    return upper;
}
