/* SPDX-License-Identifier: MIT
 *
 * functions_folder.c - what expressions of recipes can ask of a model's folder
 */
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hub/evaluate.h"
#include "lib/tokenizer/spm.h"

/* Whether the folder has the file. */
const struct mf_node *mf_call_exists(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = parser->recipe;
    bool found =
        mf_sidecar_exists(recipe->model, recipe->arena, argument[0]->text.at);

    return recipe->env->error.status == MF_OK ? mf_node_of_bool(found)
                                              : mf_parser_value(parser, NULL);
}

const struct mf_node *mf_call_token_rows(struct mf_parser *parser,
                                         const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = parser->recipe;
    uint64_t rows;

    (void)argument;
    if (mf_vocab_rows(recipe->model, recipe->arena, recipe->config, &rows) !=
        MF_OK)
        return mf_parser_value(parser, NULL);
    return mf_parser_int(parser, (int64_t)(rows & INT64_MAX));
}

/* The folder's file, or null; read again by each call.  Its added tokens may be
 * many, and no row asks for them. */
const struct mf_node *mf_call_json(struct mf_parser *parser,
                                   const struct mf_node *const *argument)
{
    static const char *const left[] = { "added_tokens_decoder", NULL };
    struct mf_recipe *recipe = parser->recipe;
    struct mf_node *root;

    if (mf_sidecar_tree_but(recipe->model, recipe->arena, argument[0]->text.at,
                            MF_SIDECAR_LIMIT, left, &root) != MF_OK)
        return mf_parser_value(parser, NULL);
    return root ? root : &mf_node_null;
}

/* Whether the name of any tensor contains the text. */
const struct mf_node *mf_call_tensor(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    const struct mf_index *index = &parser->recipe->model->index;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (mf_str_holds((struct mf_str){ record->name, record->name_size },
                         argument[0]->text.at))
            return &mf_node_true;
    }
    return &mf_node_false;
}

const struct mf_node *mf_call_blocks(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    const struct mf_index *index = &parser->recipe->model->index;
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
    return mf_parser_int(parser, count);
}
