/* SPDX-License-Identifier: MIT
 *
 * hub.c - a folder of Hugging Face as a GGUF file, step by step
 *
 * The steps follow the order of the keys in the file: the architecture,
 * what the model is called and who made it, the keys of its recipe, the
 * vocabulary. The tensors are listed before, because the name says how many
 * parameters they have.
 */
#include "lib/hf/hub/hub.h"

#include <assert.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/card/card.h"
#include "lib/hf/hub/bare.h"
#include "lib/hf/hub/keys.h"
#include "lib/hf/hub/tensors.h"
#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/model/facts.h"
#include "lib/model/nearby.h"
#include "lib/program.h"

/* As ggml counts the changes of its quantized types. */
#define QUANTIZATION_VERSION 2

static enum mf_status failed(const struct mf_hub *hub)
{
    return hub->env->error.status;
}

/* ---- the recipe ---- */

static enum mf_status take_arch(struct mf_recipe *recipe, enum mf_code_row word,
                                struct mf_code row, void *user)
{
    struct mf_hub *hub = user;

    (void)recipe;
    if (word == MF_DO_ARCH)
        hub->arch = mf_code_text(&row);
    return MF_OK;
}

static bool give(struct mf_hub *hub, const char *name,
                 const struct mf_node *value)
{
    if (value)
        mf_recipe_give(&hub->recipe, name, value);
    return value;
}

/* Mistral's own format has no classes: its families are named here. */
static enum mf_status find_mistral(struct mf_hub *hub)
{
    bool projector = hub->options->projector;
    struct mf_recipe *recipe = &hub->recipe;

    if (mf_hub_params(recipe, projector, &hub->file, &hub->class) != MF_OK ||
        mf_sidecar_tree(hub->model, recipe->arena, "config.json",
                        MF_SIDECAR_LIMIT, &hub->named) != MF_OK)
        return failed(hub);
    recipe->family = mf_recipe_find(
        projector ? MF_ROWS_projector : MF_ROWS_family, hub->class);
    if (projector)
        hub->arch = (struct mf_str){ "clip", 4 };
    return MF_OK;
}

static enum mf_status find_recipe(struct mf_hub *hub)
{
    bool projector = hub->options->projector;
    struct mf_recipe *recipe = &hub->recipe;
    struct mf_str class;

    if ((projector ? mf_hub_projector_config(recipe, &hub->file, &class)
                   : mf_hub_config(recipe, &hub->file, &class)) != MF_OK)
        return failed(hub);
    hub->class = class;
    hub->named = hub->file;
    if (projector)
        hub->arch = (struct mf_str){ "clip", 4 };
    recipe->family =
        mf_recipe_find(projector ? MF_ROWS_projector : MF_ROWS_family, class);
    return recipe->family
               ? MF_OK
               : mf_decline(hub->env, MF_REASON_FAMILY_UNKNOWN, MF_NO_OFFSET,
                            "'config.json': models of class '%s' %s",
                            mf_quote(class).text,
                            projector
                                ? "have no projector that can be converted"
                                : "cannot be converted");
}

enum mf_status mf_hub_open(struct mf_hub *hub)
{
    struct mf_recipe *recipe = &hub->recipe;

    *recipe = (struct mf_recipe){ .env = hub->env,
                                  .arena = &hub->draft->arena,
                                  .model = hub->model,
                                  .made = hub->options->given,
                                  .mistral = hub->options->mistral,
                                  .facts = hub->options->facts,
                                  .of_keys = hub->file != NULL };
    if ((hub->options->mistral ? find_mistral(hub) : find_recipe(hub)) != MF_OK)
        return failed(hub);
    if ((hub->options->no_mtp || hub->options->mtp_only) &&
        !mf_recipe_row_of(recipe->family, MF_DO_MTP).at)
        return mf_fail(hub->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "'%s': models of class '%s' have no layers for further "
                       "tokens that could be left out, or converted alone",
                       mf_recipe_file(recipe), mf_quote(hub->class).text);
    if (!give(hub, "class", mf_node_of_text(recipe->arena, hub->class)) ||
        !give(hub, "file", hub->file) ||
        !give(hub, "no_mtp", mf_node_of_bool(hub->options->no_mtp)) ||
        !give(hub, "mtp_only", mf_node_of_bool(hub->options->mtp_only)) ||
        !give(
            hub, "tensors_only",
            mf_node_of_bool(hub->options->tensors_only || hub->options->facts)))
        return failed(hub);
    return mf_recipe_walk(recipe, take_arch, hub);
}

/* ---- keys and vocabulary ---- */

static enum mf_status put_version(struct mf_hub *hub)
{
    if (hub->versioned)
        return MF_OK;
    hub->versioned = true;
    return mf_set_u32(hub->draft, "general.quantization_version",
                      QUANTIZATION_VERSION);
}

/* Vocabularies are streamed by the request, whenever the header is written. */
static enum mf_status put_vocabulary(struct mf_hub *hub, struct mf_str words)
{
    const struct mf_node *size =
        mf_recipe_field(&hub->recipe, (struct mf_str){ "vocab_size", 10 });
    struct mf_arena *arena = &hub->draft->arena;
    struct mf_tokenizer_request *request =
        mf_arena_take(arena, sizeof(*request));
    int64_t number;

    if (!request)
        return failed(hub);
    *request = (struct mf_tokenizer_request){
        .env = hub->env,
        .model = hub->model,
        .arena = arena,
        .config = hub->recipe.config,
        .file = hub->named,
        .own_format = hub->options->mistral,
        .no_community_template = hub->options->no_community_template,
        .arch = mf_draft_find(hub->draft, "general.architecture")->text.at,
        .vocab_size = size && mf_node_int(size, &number) && number > 0
                          ? (uint64_t)number
                          : 0,
    };
    return hub->outlined ? mf_tokenizer_put_outline(hub->draft, request, words)
                         : mf_tokenizer_put(hub->draft, request, words);
}

/* Keys that the converter sets while it goes over the tensors. */
static enum mf_status take_first_key(struct mf_recipe *recipe,
                                     enum mf_code_row word, struct mf_code row,
                                     void *user)
{
    struct mf_hub *hub = user;

    return word == MF_DO_PUT_FIRST ? mf_hub_key(recipe, hub->draft, row)
                                   : MF_OK;
}

/* Whether mf_model_fact finds the key of a row PUT.  The size of the vocabulary
 * comes from the embeddings. */
static bool is_fact(const struct mf_hub *hub, struct mf_code row)
{
    struct mf_str name;

    mf_code_bytes(&row, 2); /* its type */
    name = mf_code_text(&row);
    if (!mf_str_begins(name, "*.") || mf_str_is(name, "*.vocab_size"))
        return false;
    name.at += strlen("*.");
    name.size -= strlen("*.");
    return mf_fact_of_key(hub->model, name) >= 0;
}

/* "vocab", with nothing after it, is where the vocabulary begins. */
static enum mf_status take_key(struct mf_recipe *recipe, enum mf_code_row word,
                               struct mf_code row, void *user)
{
    struct mf_hub *hub = user;
    struct mf_str words;

    if (word == MF_DO_PUT)
        return !hub->options->facts || is_fact(hub, row)
                   ? mf_hub_key(recipe, hub->draft, row)
                   : MF_OK;
    if (word != MF_DO_VOCAB)
        return MF_OK;
    if (put_version(hub) != MF_OK)
        return failed(hub);
    words = mf_code_text(&row);
    return words.size > 0 && !hub->options->facts ? put_vocabulary(hub, words)
                                                  : MF_OK;
}

enum mf_status mf_hub_keys(struct mf_hub *hub)
{
    return mf_recipe_walk(&hub->recipe, take_key, hub) == MF_OK
               ? put_version(hub)
               : failed(hub);
}

/* ---- all of it ---- */

/* The first matrix's type, if the converter supports it. */
static bool own_type(const struct mf_model *model, enum mf_type *out)
{
    for (size_t i = 0; i < model->index.tensor_count; i++) {
        const struct mf_record *record = &model->index.tensor[i];

        if (record->rank < 2)
            continue;
        *out = (enum mf_type)record->type;
        return *out == MF_TYPE_F32 || *out == MF_TYPE_F16 ||
               *out == MF_TYPE_BF16;
    }
    return false;
}

/* Rows about tensors see config.json, not what rows about keys call something.
 */
static enum mf_status list_tensors(struct mf_hub *hub,
                                   struct mf_hub_tensors *tensors)
{
    const struct mf_node *blocks =
        mf_recipe_field(&hub->recipe, (struct mf_str){ "block_count", 11 });
    enum mf_type own;

    give(hub, "block_count", blocks);
    *tensors = (struct mf_hub_tensors){
        .recipe = &hub->recipe,
        .draft = hub->draft,
        .arch = hub->arch,
        .type = hub->options->type,
        .typed = hub->options->typed,
        .keep_types = hub->options->tensors_only,
        .facts = hub->options->facts,
        .fuse_qkv = hub->options->fuse_qkv,
        .fuse_gate_up = hub->options->fuse_gate_up,
        .fp8_as_q8 = hub->options->fp8_as_q8,
        .decode = hub->options->decode,
        .lora = hub->options->lora,
    };
    if (hub->options->bare) {
        mf_hub_bare_of(hub, hub->options->bare);
        tensors->type = hub->options->bare->type;
        tensors->typed = true;
    }
    if (hub->options->own_type && own_type(hub->model, &own)) {
        tensors->type = own;
        tensors->typed = true;
    }
    tensors->rounded = hub->options->own_type;
    if (mf_hub_tensors(tensors) != MF_OK)
        return failed(hub);
    if (hub->options->vocab_only) {
        hub->draft->tensor_count = 0;
        tensors->kept_nvfp4 = tensors->kept_mxfp4 = false;
        tensors->total = tensors->shared = tensors->expert = 0;
    }
    return MF_OK;
}

enum mf_status mf_hub_list(struct mf_hub *hub)
{
    struct mf_hub_tensors tensors;

    return mf_hub_open(hub) == MF_OK ? list_tensors(hub, &tensors)
                                     : failed(hub);
}

/* Who made the model of what, and how it is sampled. */
static enum mf_status put_card(struct mf_hub *hub,
                               const struct mf_hub_tensors *tensors,
                               struct mf_card_names *names)
{
    const struct mf_card_request request = {
        .model = hub->model,
        .config = hub->named,
        .model_name = hub->options->model_name,
        .metadata = hub->options->metadata,
        .folder = hub->options->folder,
        .counts = { .total = (int64_t)tensors->total,
                    .shared = (int64_t)tensors->shared,
                    .expert = (int64_t)tensors->expert,
                    .expert_count = (int64_t)tensors->expert_count },
    };

    return mf_card_put(hub->draft, &request, names);
}

/* A vocabulary, and what only predicts tokens, are named without a size. */
static enum mf_status put_name(const struct mf_hub *hub,
                               const struct mf_hub_tensors *tensors,
                               const struct mf_card_names *names)
{
    const struct mf_hf_options *options = hub->options;
    struct mf_arena *arena = &hub->draft->arena;
    struct mf_name_parts parts = names->parts;
    struct mf_hf_name *out = options->name;
    bool vocab = options->vocab_only && !options->mtp_only;

    if (options->vocab_only || options->mtp_only || options->projector)
        parts.size_label.at = NULL;
    out->prefix = options->projector  ? "mmproj-"
                  : options->mtp_only ? "mtp-"
                                      : "";
    out->type = mf_hub_tensors_type_name(tensors);
    if (out->type)
        out->stem =
            mf_name_file(arena, names->name, &parts, vocab ? NULL : out->type,
                         vocab ? "vocab" : NULL);
    return hub->env->error.status;
}

enum mf_status mf_hf_convert(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options)
{
    struct mf_hub hub = {
        .env = model->env, .draft = draft, .model = model, .options = options
    };
    struct mf_hub_tensors tensors;
    const char *type = options->projector ? "mmproj" : "model";
    struct mf_card_names names;

    if (mf_hub_open(&hub) != MF_OK ||
        mf_set_text(draft, "general.architecture", hub.arch) != MF_OK ||
        list_tensors(&hub, &tensors) != MF_OK ||
        (!options->vocab_only &&
         mf_recipe_walk(&hub.recipe, take_first_key, &hub) != MF_OK) ||
        mf_set_text(draft, "general.type",
                    (struct mf_str){ type, strlen(type) }) != MF_OK ||
        put_card(&hub, &tensors, options->name ? &names : NULL) != MF_OK ||
        !give(
            &hub, "file_type",
            mf_node_of_int(&draft->arena, mf_hub_tensors_file_type(&tensors))))
        return failed(&hub);
    if (options->name)
        return put_name(&hub, &tensors, &names);
    return mf_hub_keys(&hub);
}

/* As many tokens as there are embeddings; without those, as config.json says.
 */
static enum mf_status put_vocabulary_size(struct mf_hub *hub)
{
    const struct mf_draft *draft = hub->draft;
    const struct mf_node *field =
        mf_recipe_field(&hub->recipe, (struct mf_str){ "vocab_size", 10 });
    int64_t size;

    if (hub->recipe.lacks_tokens || mf_draft_find_of(draft, "*.vocab_size"))
        return MF_OK;
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (mf_str_is(draft->tensor[i].name, "token_embd.weight") &&
            draft->tensor[i].rank == 2)
            return mf_set_u32(hub->draft, "*.vocab_size",
                              draft->tensor[i].dim[1]);
    return field && mf_node_int(field, &size) && size > 0
               ? mf_set_u32(hub->draft, "*.vocab_size", (uint64_t)size)
               : MF_OK;
}

enum mf_status mf_hf_outline(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options)
{
    struct mf_hub hub = { .env = model->env,
                          .draft = draft,
                          .model = model,
                          .options = options,
                          .outlined = true };
    struct mf_hub_tensors tensors;

    if (mf_hub_open(&hub) != MF_OK ||
        mf_set_text(draft, "general.architecture", hub.arch) != MF_OK ||
        list_tensors(&hub, &tensors) != MF_OK ||
        (!options->facts &&
         mf_recipe_walk(&hub.recipe, take_first_key, &hub) != MF_OK) ||
        !give(
            &hub, "file_type",
            mf_node_of_int(&draft->arena, mf_hub_tensors_file_type(&tensors))))
        return failed(&hub);
    if (mf_hub_keys(&hub) != MF_OK || put_vocabulary_size(&hub) != MF_OK)
        return failed(&hub);
    if (!options->facts)
        return mf_set_text(draft, "tokenizer.ggml.model",
                           (struct mf_str){ "no_vocab", 8 });
    draft->tensor_count = 0;
    return MF_OK;
}
