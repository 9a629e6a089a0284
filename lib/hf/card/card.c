/* SPDX-License-Identifier: MIT
 *
 * card.c - which of the values that files have for a key counts
 */
#include "lib/hf/card/card.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/folder/sidecar.h"
#include "lib/model/nearby.h"
#include "lib/yaml/yaml.h"

#define GENERATION "generation_config.json"

const char *const mf_card_text_keys[MF_CARD_TEXTS] = {
#define SAMPLING(ID, key, type, word, other)
#define TEXT(ID, key, set, word, other, third) "general." key,
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
};

static const struct {
    bool can_set;
    const char *word[3];
} texts[MF_CARD_TEXTS] = {
#define SAMPLING(ID, key, type, word, other)
#define TEXT(ID, key, set, word, other, third) { set, { word, other, third } },
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
};

static const struct {
    const char *key, *word[2];
} samplings[MF_CARD_SAMPLINGS] = {
#define SAMPLING(ID, key, type, word, other)                                   \
    { "general.sampling." key, { word, other } },
#define TEXT(ID, key, set, word, other, third)
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
};

/* A value that is not null; NULL: none. */
static const struct mf_node *real(const struct mf_node *node)
{
    return node && node->kind != MF_NODE_NULL ? node : NULL;
}

/* ---- names ---- */

struct mf_str mf_card_folder(const struct mf_model *model)
{
    const char *path = model->file[0].path;
    const char *end = path + strlen(path), *start;

    while (end > path && end[-1] != '/')
        end--;
    for (;;) {
        while (end > path && end[-1] == '/')
            end--;
        for (start = end; start > path && start[-1] != '/';)
            start--;
        if (end - start != 1 || *start != '.')
            return (struct mf_str){ start, (size_t)(end - start) };
        end = start;
    }
}

static struct mf_str folder_of(const struct mf_card_request *request)
{
    return request->folder
               ? (struct mf_str){ request->folder, strlen(request->folder) }
               : mf_card_folder(request->model);
}

static enum mf_status offer(struct mf_card *card, enum mf_card_text id,
                            struct mf_str text, const char *file)
{
    struct mf_card_value *value = &card->text[id];
    struct mf_node *node;

    if (value->node || !text.at)
        return MF_OK;
    node = mf_arena_take(card->arena, sizeof(*node));
    if (!node)
        return card->env->error.status;
    *node = (struct mf_node){ .kind = MF_NODE_STRING, .text = text };
    *value = (struct mf_card_value){ node, file };
    return MF_OK;
}

/* What a name says, for keys that have no value yet. */
static enum mf_status offer_name(struct mf_card *card, struct mf_str name,
                                 const char *file)
{
    struct mf_name_parts parts;
    struct mf_str organization = { NULL, 0 };

    if (mf_name_split(card->arena, name, card->total, &parts) != MF_OK)
        return card->env->error.status;
    if (parts.organization.at)
        organization = mf_name_title(card->arena, parts.organization);
    offer(card, MF_CARD_NAME, mf_name_title(card->arena, parts.full), file);
    offer(card, MF_CARD_ORGANIZATION, organization, file);
    offer(card, MF_CARD_BASENAME, parts.basename, file);
    offer(card, MF_CARD_FINETUNE, parts.finetune, file);
    offer(card, MF_CARD_VERSION, parts.version, file);
    offer(card, MF_CARD_SIZE_LABEL, parts.size_label, file);
    return card->env->error.status;
}

static bool is_path(struct mf_str name)
{
    size_t slashes = 0;

    for (size_t i = 0; i < name.size; i++)
        slashes += name.at[i] == '/';
    return slashes > 1;
}

static enum mf_status take_names(struct mf_card *card,
                                 const struct mf_card_request *request)
{
    const struct mf_node *name =
        real(mf_node_at(request->config, "_name_or_path"));
    struct mf_str folder = folder_of(request);

    if (name && name->kind != MF_NODE_STRING)
        return mf_fail(card->env, MF_ERR_CORRUPT, name->offset,
                       "'config.json': '_name_or_path' is %s, not a string",
                       mf_node_kind_name(name));
    if (name && !is_path(name->text) &&
        offer_name(card, name->text, "config.json") != MF_OK)
        return card->env->error.status;
    if (!mf_text_is_utf8(folder.at, folder.size))
        return mf_fail(card->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the name of the folder '%s' is not UTF-8, so it cannot "
                       "name the model",
                       mf_quote(folder).text);
    return offer_name(card, folder, "the folder's name");
}

/* ---- the model card ---- */

static struct mf_card_value in_card(const struct mf_node *card,
                                    const char *word)
{
    return (struct mf_card_value){ mf_yaml_get(card, word), "README.md" };
}

/* Of several words the first one that is there counts, null or not. */
static struct mf_card_list origins(const struct mf_node *card,
                                   const char *const words[3])
{
    struct mf_card_list list = { .is_set = false };

    for (size_t i = 0; i < 3 && !list.is_set; i++) {
        list.part[0] = in_card(card, words[i]);
        list.is_set = list.part[0].node != NULL;
    }
    return list;
}

static struct mf_card_list pair(const struct mf_node *card, const char *word,
                                const char *other)
{
    struct mf_card_list list = { .part = { in_card(card, word),
                                           in_card(card, other) } };

    list.is_set = real(list.part[0].node) || real(list.part[1].node);
    return list;
}

static enum mf_status take_card(struct mf_card *card,
                                const struct mf_model *model)
{
    static const char *const base_models[] = { "base_model", "base_models",
                                               "base_model_sources" };
    static const char *const datasets[] = { "datasets", "dataset",
                                            "dataset_sources" };
    struct mf_node *root;

    if (mf_card_front(model, card->arena, &root) != MF_OK)
        return card->env->error.status;
    for (size_t i = 0; i < MF_CARD_TEXTS; i++)
        for (size_t j = 0; j < 3 && texts[i].word[j]; j++)
            if (!card->text[i].node &&
                real(mf_yaml_get(root, texts[i].word[j])))
                card->text[i] = in_card(root, texts[i].word[j]);
    card->base_models = origins(root, base_models);
    card->datasets = origins(root, datasets);
    card->tags = pair(root, "tags", "pipeline_tag");
    card->languages = pair(root, "languages", "language");
    return MF_OK;
}

/* ---- generation_config.json ---- */

/* As in Python: null, false, 0 and what is empty are not true. */
static bool is_empty(const struct mf_node *node)
{
    return node->kind == MF_NODE_NULL || node->kind == MF_NODE_FALSE ||
           ((node->kind == MF_NODE_ARRAY || node->kind == MF_NODE_OBJECT) &&
            node->count == 0) ||
           (node->kind == MF_NODE_STRING && node->text.size == 0);
}

/* One that is not JSON is passed over. */
static enum mf_status take_generation(struct mf_card *card,
                                      const struct mf_model *model)
{
    struct mf_node *root = NULL;
    enum mf_status status = MF_OK;

    if (mf_nearby_any(model))
        status = mf_sidecar_tree(model, card->arena, GENERATION,
                                 MF_SIDECAR_LIMIT, &root);
    if (status == MF_ERR_CORRUPT) {
        mf_clear_error(card->env);
        return MF_OK;
    }
    if (status != MF_OK || !root || is_empty(root))
        return status;
    if (root->kind != MF_NODE_OBJECT)
        return mf_fail(card->env, MF_ERR_CORRUPT, root->offset,
                       "'" GENERATION "': it is %s, not an object",
                       mf_node_kind_name(root));
    for (size_t i = 0; i < MF_CARD_SAMPLINGS; i++) {
        const struct mf_node *node = mf_node_at(root, samplings[i].word[0]);

        if (!node && samplings[i].word[1])
            node = mf_node_at(root, samplings[i].word[1]);
        card->sampling[i] = (struct mf_card_value){ real(node), GENERATION };
    }
    return MF_OK;
}

/* ---- the file of metadata ---- */

static enum mf_status read_json(struct mf_card *card, const char *path,
                                struct mf_node **root)
{
    struct mf_env *env = card->env;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
    enum mf_status status = mf_sidecar_source(env, path, &source);

    if (status != MF_OK)
        return mf_sidecar_fail(env, path);
    status = mf_reader_init(&reader, env, &source, NULL, 0);
    if (status == MF_OK) {
        mf_json_init(&json, &reader);
        status = mf_tree_read(&json, card->arena, MF_SIDECAR_LIMIT, root);
        mf_reader_release(&reader);
    }
    mf_source_close(&source);
    return status == MF_OK ? MF_OK : mf_sidecar_fail(env, path);
}

/* Keys with dots are members of their own in this file. */
static const struct mf_node *member(const struct mf_node *root, const char *key)
{
    return mf_node_get(root, (struct mf_str){ key, strlen(key) });
}

static void set_list(struct mf_card_list *list, const struct mf_node *root,
                     const char *key, const char *file)
{
    const struct mf_node *node = member(root, key);

    if (node)
        *list = (struct mf_card_list){ .part = { { node, file } },
                                       .is_set = node->kind != MF_NODE_NULL,
                                       .is_strict = true };
}

/* A null takes a value away. */
static enum mf_status take_metadata(struct mf_card *card, const char *path)
{
    struct mf_node *root = NULL;
    const struct mf_node *node;

    if (read_json(card, path, &root) != MF_OK)
        return card->env->error.status;
    if (root->kind != MF_NODE_OBJECT)
        return mf_fail(card->env, MF_ERR_CORRUPT, root->offset,
                       "'%s': it is %s, not an object", path,
                       mf_node_kind_name(root));
    for (size_t i = 0; i < MF_CARD_SAMPLINGS; i++)
        if ((node = member(root, samplings[i].key)) != NULL)
            card->sampling[i] = (struct mf_card_value){ real(node), path };
    for (size_t i = 0; i < MF_CARD_TEXTS; i++) {
        node = texts[i].can_set ? member(root, mf_card_text_keys[i]) : NULL;
        if (node)
            card->text[i] = (struct mf_card_value){ real(node), path };
    }
    set_list(&card->base_models, root, "general.base_models", path);
    set_list(&card->datasets, root, "general.datasets", path);
    set_list(&card->tags, root, "general.tags", path);
    set_list(&card->languages, root, "general.languages", path);
    return MF_OK;
}

/* ---- all together ---- */

static enum mf_status take_all(struct mf_card *card,
                               const struct mf_card_request *request)
{
    const struct mf_name_counts *counts = &request->counts;

    if (take_card(card, request->model) != MF_OK ||
        take_generation(card, request->model) != MF_OK ||
        take_names(card, request) != MF_OK)
        return card->env->error.status;
    if (request->metadata && take_metadata(card, request->metadata) != MF_OK)
        return card->env->error.status;
    if (request->model_name) {
        struct mf_str name = { request->model_name,
                               strlen(request->model_name) };

        card->text[MF_CARD_NAME].node = NULL;
        offer(card, MF_CARD_NAME, name, "the name given");
    }
    offer(card, MF_CARD_NAME, folder_of(request), "");
    if (counts->total > 0 && !card->text[MF_CARD_SIZE_LABEL].node) {
        char *label = mf_arena_text(card->arena, MF_NAME_SIZE_MAX);

        if (!label)
            return card->env->error.status;
        mf_name_size_label(counts, label);
        offer(card, MF_CARD_SIZE_LABEL, (struct mf_str){ label, strlen(label) },
              "");
    }
    return card->env->error.status;
}

/* A text of the card in the draft's arena; at NULL where it has none. */
static struct mf_str keep(const struct mf_card *card, enum mf_card_text id)
{
    const struct mf_node *node = card->text[id].node;

    return node && node->kind == MF_NODE_STRING
               ? mf_draft_text(card->draft, node->text)
               : (struct mf_str){ NULL, 0 };
}

static void keep_names(const struct mf_card *card, struct mf_card_names *out)
{
    *out = (struct mf_card_names){
        .name = keep(card, MF_CARD_NAME),
        .parts = { .basename = keep(card, MF_CARD_BASENAME),
                   .finetune = keep(card, MF_CARD_FINETUNE),
                   .version = keep(card, MF_CARD_VERSION),
                   .size_label = keep(card, MF_CARD_SIZE_LABEL) }
    };
}

enum mf_status mf_card_put(struct mf_draft *draft,
                           const struct mf_card_request *request,
                           struct mf_card_names *names)
{
    struct mf_arena arena;
    struct mf_card card = { .draft = draft,
                            .env = draft->env,
                            .arena = &arena,
                            .total = request->counts.total };
    enum mf_status status;

    mf_arena_init(&arena, draft->env);
    status = take_all(&card, request);
    if (status == MF_OK)
        status = mf_card_write(&card);
    if (status == MF_OK && names) {
        keep_names(&card, names);
        status = draft->env->error.status;
    }
    mf_arena_release(&arena);
    return status;
}
