/* SPDX-License-Identifier: MIT
 *
 * functions_folder.c - what expressions of recipes can ask of a model's folder
 */
#include <math.h>

#include "lib/base/decimal.h"
#include "lib/base/little.h"
#include "lib/base/str.h"
#include "lib/derive/derive.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/evaluate.h"
#include "lib/hf/hub/glob.h"
#include "lib/hf/hub/naming.h"
#include "lib/hf/tokenizer/spm.h"

/* Whether the folder has the file. */
const struct mf_node *mf_call_exists(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = eval->recipe;
    bool found =
        mf_sidecar_exists(recipe->model, recipe->arena, argument[0]->text.at);

    return recipe->env->error.status == MF_OK ? mf_node_of_bool(found)
                                              : mf_eval_value(eval, NULL);
}

const struct mf_node *mf_call_token_rows(struct mf_eval *eval,
                                         const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = eval->recipe;
    uint64_t rows;

    (void)argument;
    if (recipe->facts) {
        recipe->lacks_tokens = true;
        return mf_eval_int(eval, -1); /* all rows */
    }
    if (mf_tokenizer_rows(recipe->model, recipe->arena, recipe->config,
                          &rows) != MF_OK)
        return mf_eval_value(eval, NULL);
    return mf_eval_int(eval, (int64_t)(rows & INT64_MAX));
}

/* The folder's file, or null; read again by each call.  Its tokens may be many,
 * and no row asks for them. */
const struct mf_node *mf_call_json(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    static const char *const left[] = { "added_tokens_decoder", "vocab", NULL };
    struct mf_recipe *recipe = eval->recipe;
    struct mf_node *root;

    if (recipe->facts && mf_str_begins(argument[0]->text, "tokenizer"))
        return &mf_node_null;
    if (mf_sidecar_tree_but(recipe->model, recipe->arena, argument[0]->text.at,
                            MF_SIDECAR_LIMIT, left, &root) != MF_OK)
        return mf_eval_value(eval, NULL);
    return root ? root : &mf_node_null;
}

/* As expressions call it. */
static struct mf_str name_of(const struct mf_recipe *recipe,
                             const struct mf_record *record,
                             char out[MF_TENSOR_NAME_MAX + 1])
{
    struct mf_str name = { record->name, record->name_size };
    struct mf_named_tensor named;

    if (!recipe->naming ||
        !mf_naming_find(recipe->naming, MF_NAMING_BLOCKS, name, &named))
        return name;
    return (struct mf_str){ out, mf_naming_put(&named, out,
                                               MF_TENSOR_NAME_MAX + 1) };
}

/* Whether the name of any tensor contains the text. */
const struct mf_node *mf_call_tensor(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    const struct mf_index *index = &eval->recipe->model->index;
    char name[MF_TENSOR_NAME_MAX + 1];

    for (size_t i = 0; i < index->tensor_count; i++)
        if (mf_str_holds(name_of(eval->recipe, &index->tensor[i], name),
                         argument[0]->text.at))
            return &mf_node_true;
    return &mf_node_false;
}

const struct mf_node *mf_call_blocks(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    const struct mf_index *index = &eval->recipe->model->index;
    struct mf_str head = argument[0]->text;
    int64_t count = 0;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        size_t at = head.size;
        int64_t number = 0;

        if (!mf_str_begins((struct mf_str){ record->name, record->name_size },
                           head.at))
            continue;
        while (at < record->name_size && record->name[at] >= '0' &&
               record->name[at] <= '9' && number < INT32_MAX / 10)
            number = number * 10 + (record->name[at++] - '0');
        if (at > head.size && number >= count)
            count = number + 1;
    }
    return mf_eval_int(eval, count);
}

static const struct mf_record *find_tensor(const struct mf_recipe *recipe,
                                           struct mf_str name, size_t *at)
{
    const struct mf_index *index = &recipe->model->index;
    char text[MF_TENSOR_NAME_MAX + 1];

    for (*at = 0; *at < index->tensor_count; ++*at)
        if (mf_str_same(name_of(recipe, &index->tensor[*at], text), name))
            return &index->tensor[*at];
    return NULL;
}

/* Dimensions are counted as Hugging Face has them. */
const struct mf_node *mf_call_size(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    const struct mf_model *model = eval->recipe->model;
    size_t at;
    const struct mf_record *record =
        find_tensor(eval->recipe, argument[0]->text, &at);
    int64_t axis;

    if (!record || !mf_node_int(argument[1], &axis) || axis < 0 ||
        axis >= record->rank)
        return &mf_node_null;
    if (model->info.fastest_first)
        axis = record->rank - 1 - axis;
    return mf_eval_int(eval, (int64_t)(record->dim[axis] & INT64_MAX));
}

const struct mf_node *mf_call_type_of(struct mf_eval *eval,
                                      const struct mf_node *const *argument)
{
    size_t at;
    const struct mf_record *record =
        find_tensor(eval->recipe, argument[0]->text, &at);
    const char *name;

    if (!record || record->type >= MF_TYPE_COUNT)
        return &mf_node_null;
    name = mf_types[record->type].name;
    return mf_eval_value(
        eval, mf_node_of_text(eval->recipe->arena,
                              (struct mf_str){ name, strlen(name) }));
}

/* The shortest decimal number that is this f32. */
double mf_node_shortest(float value)
{
    return isfinite(value) ? mf_decimal_read(mf_number_f32(value).at)
                           : (double)value;
}

static bool list_floats(struct mf_recipe *recipe, struct mf_source *source,
                        struct mf_node_list *list)
{
    for (uint64_t at = 0; at < source->size; at += 4) {
        uint8_t bytes[4];
        const struct mf_node *node;

        if (mf_source_read(recipe->env, source, at, bytes, 4) != MF_OK)
            return false;
        node = mf_node_of_real(recipe->arena,
                               mf_node_shortest(mf_little_float(bytes)));
        if (!node || !mf_list_add(recipe, list, node))
            return false;
    }
    return true;
}

const struct mf_node *mf_call_numbers(struct mf_eval *eval,
                                      const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = eval->recipe;
    struct mf_derivation derive;
    const struct mf_derived *node;
    struct mf_source source;
    struct mf_node_list list;
    size_t at;

    if (recipe->facts || !find_tensor(recipe, argument[0]->text, &at))
        return &mf_node_null;
    if (mf_derivation_init(&derive, recipe->env, recipe->arena) != MF_OK)
        return mf_eval_value(eval, NULL);
    derive.name = argument[0]->text;
    node = mf_recipe_tensor(recipe, &derive, at);
    if (node && node->count > MF_RECIPE_LIST) {
        mf_fail(recipe->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s' has %" PRIu64 " elements, more than %d",
                argument[0]->text.at, node->count, MF_RECIPE_LIST);
        node = NULL;
    }
    node = node ? mf_derive_cast(&derive, node, MF_TYPE_F32) : NULL;
    if (!node || !mf_list_begin(recipe, &list))
        return mf_eval_value(eval, NULL);
    mf_derived_open(node, argument[0]->text.at, &source);
    return mf_eval_value(eval, list_floats(recipe, &source, &list) ? list.node
                                                                   : NULL);
}
