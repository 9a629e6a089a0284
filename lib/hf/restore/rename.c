/* SPDX-License-Identifier: MIT
 *
 * rename.c - tensors under llama.cpp's names, or under Hugging Face's
 */
#include "lib/hf/hf.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/decode.h"
#include "lib/hf/hub/naming.h"
#include "lib/hf/hub/tensors.h"
#include "lib/hf/restore/restore.h"
#include "lib/model/nearby.h"

/* ---- whose names these are ---- */

static struct mf_str name_of(const struct mf_record *record)
{
    return (struct mf_str){ record->name, record->name_size };
}

/* Whether Hugging Face's models of the architecture have a tensor of that name.
 */
static bool is_named_for_hf(const struct mf_index *index, struct mf_str arch)
{
    const struct mf_naming_arch *naming = mf_naming_arch_find(arch);
    struct mf_named_tensor named;

    for (size_t i = 0; naming && i < index->tensor_count; i++)
        if (mf_naming_find(naming, MF_NAMING_BLOCKS, name_of(&index->tensor[i]),
                           &named))
            return true;
    return false;
}

/* Without an architecture, how the names look decides. */
static bool names_stay(const struct mf_restore *facts, enum mf_naming to)
{
    const struct mf_index *index = &facts->model->index;

    if (mf_is_named_for_gguf(index))
        return to == MF_NAMING_GGUF;
    return to == MF_NAMING_HF &&
           (!facts->arch.at || is_named_for_hf(index, facts->arch));
}

/* ---- to Hugging Face's ---- */

/* config.json of the file's metadata. */
static enum mf_status begin(struct mf_restore *facts)
{
    if (facts->arch.at && !mf_recipe_find(MF_ROWS_restore, facts->arch))
        return mf_decline(facts->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                          "it is not known how Hugging Face's models of "
                          "architecture '%s' name their tensors",
                          mf_quote(facts->arch).text);
    return mf_restore_begin(facts);
}

struct listing {
    struct mf_renaming *renaming;
    bool lossy;
};

static enum mf_status would_lose(struct mf_env *env, struct mf_str name)
{
    return mf_decline(env, MF_REASON_NOT_LOSSLESS, MF_NO_OFFSET,
                      "tensor '%s' has no Hugging Face name: there it is "
                      "computed from config.json, which the new file lacks",
                      mf_quote(name).text);
}

/* node NULL: the tensor is not part of such a model. */
static enum mf_status put(void *user, struct mf_str name,
                          const struct mf_derived *node)
{
    struct listing *listing = user;
    struct mf_draft *draft = &listing->renaming->draft;

    if (node)
        return mf_derived_add(draft, name, node, (enum mf_type)node->type);
    if (!listing->lossy)
        return would_lose(draft->env, name);
    listing->renaming->lost++;
    return MF_OK;
}

static enum mf_status to_hf(struct mf_renaming *renaming,
                            struct mf_restore *facts)
{
    struct listing listing = { renaming, facts->options.lossy };

    return begin(facts) == MF_OK
               ? mf_hub_tensors_back(&facts->recipe, facts->part, false, put,
                                     &listing)
               : facts->env->error.status;
}

/* ---- to llama.cpp's ---- */

static enum mf_status differ(const struct mf_restore *facts, const char *what,
                             struct mf_str there, struct mf_str here)
{
    return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "'config.json' is not that of this file: its %s is '%s', "
                   "and '%s' in the file's metadata",
                   what, mf_quote(there).text, mf_quote(here).text);
}

static enum mf_status compare_count(const struct mf_hub *hub,
                                    const struct mf_restore *facts,
                                    const char *what)
{
    struct mf_str name = { what, strlen(what) };
    const struct mf_node *there = mf_recipe_field(&hub->recipe, name);
    const struct mf_node *here =
        facts->config ? mf_node_get(facts->config, name) : NULL;
    char text[2][24];
    int64_t a, b;

    if (!there || !here || !mf_node_is_int(there) || !mf_node_is_int(here) ||
        !mf_node_int(there, &a) || !mf_node_int(here, &b) || a == b)
        return MF_OK;
    snprintf(text[0], sizeof(text[0]), "%" PRId64, a);
    snprintf(text[1], sizeof(text[1]), "%" PRId64, b);
    return differ(facts, what, (struct mf_str){ text[0], strlen(text[0]) },
                  (struct mf_str){ text[1], strlen(text[1]) });
}

/* A way to stretch positions that is keys in GGUF, not a tensor. */
static enum mf_status compare_rope(const struct mf_hub *hub,
                                   const struct mf_restore *facts)
{
    static const char *const kinds[] = { "linear", "yarn", "longrope", "su" };
    const struct mf_node *rope =
        mf_recipe_field(&hub->recipe, (struct mf_str){ "rope_parameters", 15 });
    struct mf_str kind =
        rope ? mf_node_text(rope, "rope_type") : (struct mf_str){ NULL, 0 };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (mf_str_is(kind, kinds[i]) &&
            !mf_draft_find_of(&facts->facts, "*.rope.scaling.type"))
            return differ(facts, "rope_type", kind,
                          (struct mf_str){ "none", 4 });
    return MF_OK;
}

/* A config.json of another model would give other tensors. */
static enum mf_status compare(const struct mf_hub *hub,
                              const struct mf_restore *facts)
{
    static const char *const counts[] = { "num_hidden_layers", "hidden_size",
                                          "num_attention_heads",
                                          "num_key_value_heads" };

    if (!mf_str_same(hub->arch, facts->arch))
        return differ(facts, "architecture", hub->arch, facts->arch);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (compare_count(hub, facts, counts[i]) != MF_OK)
            return facts->env->error.status;
    return compare_rope(hub, facts);
}

/* The file's own metadata as config.json, as far as there are rows. */
static enum mf_status make_config(struct mf_restore *facts, bool needed)
{
    facts->recipe.naming = mf_naming_arch_find(facts->arch);
    return needed || mf_recipe_find(MF_ROWS_restore, facts->arch) ? begin(facts)
                                                                  : MF_OK;
}

static enum mf_status to_gguf(struct mf_renaming *renaming,
                              struct mf_restore *facts)
{
    struct mf_hf_options options = { .tensors_only = true };
    struct mf_hub hub = { .env = facts->env,
                          .draft = &renaming->draft,
                          .model = facts->model,
                          .options = &options };
    bool found =
        mf_sidecar_exists(facts->model, &renaming->draft.arena, "config.json");

    if (facts->env->error.status != MF_OK)
        return facts->env->error.status;
    if (!facts->arch.at && mf_draft_find(&facts->facts, "general.architecture"))
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'general.architecture' is not the name of an "
                       "architecture");
    if (facts->arch.at && make_config(facts, !found) != MF_OK)
        return facts->env->error.status;
    if (!found) {
        hub.file = facts->config;
        options.no_mtp = facts->made.without_mtp;
    }
    if (mf_hub_list(&hub) != MF_OK)
        return hub.env->error.status;
    return found && facts->arch.at ? compare(&hub, facts) : MF_OK;
}

/* ---- both ---- */

static void init_draft(struct mf_renaming *renaming, struct mf_env *env,
                       enum mf_naming to)
{
    mf_draft_init(&renaming->draft, env,
                  to == MF_NAMING_GGUF ? mf_format_with_values(MF_VALUES_TYPED)
                                       : mf_format_to_write("safetensors"));
}

static enum mf_status rename_tensors(struct mf_renaming *renaming,
                                     struct mf_model *model, enum mf_naming to,
                                     bool lossy)
{
    const struct mf_restore_options options = { .lossy = lossy };
    struct mf_restore facts;
    enum mf_status status;

    init_draft(renaming, model->env, to);
    status = mf_restore_open(&facts, model, &renaming->draft, &options);
    if (status == MF_OK && !names_stay(&facts, to)) {
        renaming->to = to;
        renaming->made = true;
        status = to == MF_NAMING_HF ? to_hf(renaming, &facts)
                                    : to_gguf(renaming, &facts);
    }
    mf_restore_end(&facts);
    return status;
}

/* Only a file of Hugging Face has a config.json that is about its tensors. */
static enum mf_status decode(struct mf_renaming *renaming,
                             struct mf_model *model)
{
    enum mf_status status;

    if (model->format->naming != MF_NAMING_HF || !mf_nearby_any(model))
        return MF_OK;
    mf_renaming_release(renaming);
    init_draft(renaming, model->env, MF_NAMING_HF);
    status = mf_hub_decode(&renaming->draft, model, &renaming->decoded);
    renaming->made = renaming->decoded;
    return status;
}

enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, enum mf_naming to,
                                struct mf_renaming_options how)
{
    enum mf_status status = MF_OK;

    *renaming = (struct mf_renaming){ .to = MF_NAMING_KEEP };
    if (to != MF_NAMING_KEEP)
        status = rename_tensors(renaming, model, to, how.lossy);
    if (status == MF_OK && how.decode && !renaming->made)
        status = decode(renaming, model);
    return status;
}
