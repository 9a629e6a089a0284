/* SPDX-License-Identifier: MIT
 *
 * restore.c - a GGUF file as a folder that transformers loads, step by step
 */
#include "lib/hf/restore/restore.h"

#include "lib/base/str.h"
#include "lib/draft/carry.h"
#include "lib/hf/hub/tensors.h"
#include "lib/hf/restore/keys.h"
#include "lib/hf/restore/tokenizer.h"

static enum mf_status failed(const struct mf_restore *restore)
{
    return restore->env->error.status;
}

/* ---- the family ---- */

static enum mf_status find_family(struct mf_restore *restore)
{
    if (!restore->arch.at)
        return mf_fail(restore->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "the file does not say its architecture");
    restore->part = mf_recipe_find(MF_ROWS_restore, restore->arch);
    return restore->part
               ? MF_OK
               : mf_fail(restore->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "files of architecture '%s' cannot become a folder of "
                         "Hugging Face",
                         mf_quote(restore->arch).text);
}

/* What transformers calls the type of the first matrix that is not quantized,
 * or the one asked for. */
static const char *type_name(const struct mf_restore *restore)
{
    const struct mf_index *index = &restore->model->index;
    const char *wanted = restore->options.type;
    uint32_t type = MF_TYPE_F32;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (index->tensor[i].rank > 1 &&
            !mf_type_is_quantized((enum mf_type)index->tensor[i].type)) {
            type = index->tensor[i].type;
            if (type != MF_TYPE_F32)
                break;
        }
    if (wanted)
        type = strcmp(wanted, "f16") == 0    ? MF_TYPE_F16
               : strcmp(wanted, "bf16") == 0 ? MF_TYPE_BF16
                                             : MF_TYPE_F32;
    if (type != MF_TYPE_F16 && type != MF_TYPE_BF16)
        type = MF_TYPE_F32;
    return mf_type_torch((enum mf_type)type);
}

static bool give_text(struct mf_restore *restore, const char *name,
                      struct mf_str text)
{
    const struct mf_node *node = mf_node_of_text(restore->recipe.arena, text);

    if (node)
        mf_recipe_give(&restore->recipe, name, node);
    return node;
}

enum mf_status mf_restore_open(struct mf_restore *restore,
                               struct mf_model *model, struct mf_draft *draft,
                               const struct mf_restore_options *options)
{
    const struct mf_entry *arch;

    *restore = (struct mf_restore){
        .env = model->env, .model = model, .draft = draft, .options = *options
    };
    if (mf_carry_as_gguf(&restore->facts, model) != MF_OK)
        return failed(restore);
    arch = mf_draft_find(&restore->facts, "general.architecture");
    if (arch && arch->type == MF_VALUE_STRING && arch->text.at)
        restore->arch = arch->text;
    return MF_OK;
}

enum mf_status mf_restore_begin(struct mf_restore *restore)
{
    const char *type = type_name(restore);

    if (find_family(restore) != MF_OK)
        return failed(restore);
    restore->recipe.env = restore->env;
    restore->recipe.arena = &restore->draft->arena;
    restore->recipe.model = restore->model;
    restore->recipe.of_keys = true;
    mf_recipe_give(&restore->recipe, "decoded",
                   mf_node_of_bool(restore->options.type));
    restore->recipe.config =
        mf_restore_keys(&restore->recipe, &restore->facts, restore->arch);
    if (!restore->recipe.config || !give_text(restore, "arch", restore->arch) ||
        !give_text(restore, "type", (struct mf_str){ type, strlen(type) }))
        return failed(restore);
    return mf_restore_config(restore);
}

void mf_restore_end(struct mf_restore *restore)
{
    if (restore->facts.env)
        mf_draft_release(&restore->facts);
}

/* ---- tensors ---- */

static bool keep_node(struct mf_restore *restore, const struct mf_derived *node)
{
    size_t at = restore->draft->tensor_count - 1;

    if (at >= restore->room) {
        size_t room = restore->room ? restore->room * 2 : 1024;
        const struct mf_derived **more =
            mf_arena_take(&restore->draft->arena, room * sizeof(*more));

        if (!more)
            return false;
        if (at > 0)
            memcpy(more, restore->node, at * sizeof(*more));
        restore->node = more;
        restore->room = room;
    }
    restore->node[at] = node;
    return true;
}

static enum mf_type new_type(const struct mf_restore *restore,
                             const struct mf_derived *node, struct mf_str name)
{
    const char *wanted = restore->options.type;
    bool vector = node->rank < 2 || mf_str_ends(name, "norm.weight");

    if (!wanted || (vector && strcmp(wanted, "f32") != 0))
        return (enum mf_type)node->type;
    return strcmp(wanted, "f16") == 0    ? MF_TYPE_F16
           : strcmp(wanted, "bf16") == 0 ? MF_TYPE_BF16
                                         : MF_TYPE_F32;
}

static enum mf_status put_tensor(void *user, struct mf_str name,
                                 const struct mf_derived *node)
{
    struct mf_restore *restore = user;
    enum mf_type type;

    if (!node)
        return MF_OK; /* config.json says it */
    type = (enum mf_type)node->type;
    if (mf_type_is_quantized(type))
        return mf_decline(restore->env, MF_REASON_TYPE_NOT_CARRIED,
                          MF_NO_OFFSET,
                          "tensor '%s' is %s, which Hugging Face's models do "
                          "not have",
                          mf_quote(name).text, mf_types[type].name);
    type = new_type(restore, node, name);
    return mf_derived_add(restore->draft, name, node, type) == MF_OK &&
                   keep_node(restore, node)
               ? MF_OK
               : failed(restore);
}

enum mf_status mf_restore_tensors(struct mf_restore *restore)
{
    return mf_hub_tensors_back(&restore->recipe, restore->part,
                               restore->options.type != NULL, put_tensor,
                               restore);
}

/* ---- files ---- */

static enum mf_status put_files(struct mf_restore *restore,
                                struct mf_stage *stage)
{
    if (mf_restore_put_config(restore, stage) != MF_OK ||
        mf_restore_put_card(restore, stage) != MF_OK ||
        mf_restore_put_pooling(restore, stage) != MF_OK ||
        mf_restore_tokenizer(stage, restore->model) != MF_OK)
        return failed(restore);
    return mf_restore_prove(restore, stage);
}

/* ---- all of it ---- */

enum mf_status mf_hf_restore(struct mf_model *model, struct mf_draft *draft,
                             const struct mf_restore_options *options,
                             struct mf_stage *stage, struct mf_hf_restored *out)
{
    struct mf_restore restore;
    enum mf_status status = mf_restore_open(&restore, model, draft, options);

    if (status == MF_OK)
        status = mf_restore_begin(&restore);
    if (status == MF_OK)
        status = mf_restore_tensors(&restore);
    if (status == MF_OK)
        status = put_files(&restore, stage);
    *out = restore.made;
    mf_restore_end(&restore);
    return status;
}
