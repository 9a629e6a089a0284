/* SPDX-License-Identifier: MIT
 *
 * special.c - special tokens, and whether they are added to texts
 *
 * In the order in which llama.cpp's converter writes them, which follows from
 * the order in which it learns of them: tokenizer.json's post-processor (it may
 * correct what tokenizer_config.json says, see special_post.c),
 * tokenizer_config.json, config.json.
 */
#include "lib/hf/tokenizer/special.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/encode/fast.h"
#include "lib/hf/tokenizer/parts.h"

static enum mf_status failed(const struct mf_special_tokens *special)
{
    return special->env->error.status;
}

/* ---- what is known of a type ---- */

struct mf_special_type *mf_special_type(struct mf_special_tokens *special,
                                        const char *name)
{
    for (size_t i = 0; i < special->type_count; i++)
        if (strcmp(special->type[i].name, name) == 0)
            return &special->type[i];
    return NULL;
}

struct mf_special_type *mf_special_add(struct mf_special_tokens *special,
                                       const char *name)
{
    struct mf_special_type *type = mf_special_type(special, name);

    if (type)
        return type;
    if (special->type_count == MF_SPECIAL_TYPES) {
        mf_fail(special->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "more than %d types of special tokens", MF_SPECIAL_TYPES);
        return NULL;
    }
    type = &special->type[special->type_count++];
    *type = (struct mf_special_type){ .name = name };
    return type;
}

/* Where tokenizer_config.json has a value for a key of the type: "%s_token". */
static const struct mf_node *config_at(const struct mf_special_tokens *special,
                                       const char *format, const char *type)
{
    char key[64];

    snprintf(key, sizeof(key), format, type);
    return mf_node_get(special->config, (struct mf_str){ key, strlen(key) });
}

const struct mf_node *mf_special_token(struct mf_special_tokens *special,
                                       const char *name)
{
    const struct mf_special_type *type = mf_special_type(special, name);

    return type && type->replaced ? type->token
                                  : config_at(special, "%s_token", name);
}

/* The first id counts; `always` replaces it, at its place. */
static enum mf_status set_id(struct mf_special_tokens *special,
                             const char *name, uint64_t id, bool always)
{
    struct mf_special_type *type;

    if (!always && special->vocab_size > 0 && id >= special->vocab_size)
        return MF_OK;
    type = mf_special_add(special, name);
    if (!type)
        return failed(special);
    if (!type->id_order) {
        type->id_order = ++special->orders;
        type->id = id;
    } else if (always) {
        type->id = id;
    }
    return MF_OK;
}

/* An id that a file gives: other values than whole numbers mean nothing. */
static enum mf_status set_node(struct mf_special_tokens *special,
                               const char *name, const struct mf_node *node,
                               const char *file)
{
    if (!node || node->kind != MF_NODE_NUMBER || node->type == MF_VALUE_F64)
        return MF_OK;
    if (node->type == MF_VALUE_I64)
        return mf_fail(special->env, MF_ERR_CORRUPT, node->offset,
                       "'%s': '%s_token_id' is %" PRIi64 ": ids are not "
                       "negative",
                       file, name, node->number.i64);
    return set_id(special, name, node->number.u64, false);
}

enum mf_status mf_special_add_to_texts(struct mf_special_tokens *special,
                                       const char *name, bool value)
{
    struct mf_special_type *type = mf_special_add(special, name);

    if (!type)
        return failed(special);
    if (!type->add_order)
        type->add_order = ++special->orders;
    type->add = value;
    return MF_OK;
}

/* ---- tokenizer_config.json ---- */

/* The text of a token: a string, or an object with one. */
static struct mf_str text_of(const struct mf_node *node)
{
    if (node && node->kind == MF_NODE_OBJECT)
        node = mf_node_at(node, "content");
    return node && node->kind == MF_NODE_STRING ? node->text
                                                : (struct mf_str){ NULL, 0 };
}

/* A memory that is emptied now and then: few of the tokens are looked for. */
#define SCRATCH_TOKENS 256

/* The ids of added tokens in tokenizer.json are taken as they are there. */
static enum mf_status match_added(struct mf_special_tokens *special,
                                  struct mf_json *json,
                                  const struct mf_str *text, uint64_t *id,
                                  size_t count)
{
    struct mf_arena scratch;
    struct mf_added_list list = { .env = special->env, .arena = &scratch };
    enum mf_json_token token = mf_json_next(json); /* the bracket */

    mf_arena_init(&scratch, special->env);
    token = mf_json_next(json);
    for (uint64_t n = 1; token == MF_JSON_BEGIN_OBJECT; n++) {
        struct mf_added added;

        if (n % SCRATCH_TOKENS == 0) {
            mf_arena_release(&scratch);
            mf_arena_init(&scratch, special->env);
        }
        if (mf_added_read(&list, json, &added) != MF_OK)
            break;
        for (size_t i = 0; i < count; i++)
            if (id[i] == MF_NO_ID && text[i].at &&
                mf_str_same(added.text, text[i]))
                id[i] = added.file_id;
        token = mf_json_next(json);
    }
    mf_arena_release(&scratch);
    return failed(special);
}

static enum mf_status find_added(struct mf_special_tokens *special,
                                 const struct mf_str *text, uint64_t *id,
                                 size_t count)
{
    const struct mf_node *node = mf_node_at(special->json, "added_tokens");
    struct mf_sidecar file;
    enum mf_status status;

    if (!node || node->kind != MF_NODE_ARRAY)
        return MF_OK;
    status = mf_sidecar_open(&file, special->request->model,
                             special->request->arena, "tokenizer.json");
    if (status == MF_OK) {
        mf_reader_seek(&file.reader, node->offset);
        mf_json_init(&file.json, &file.reader);
        status = match_added(special, &file.json, text, id, count);
    }
    return mf_sidecar_close(&file, status);
}

static enum mf_status read_types(struct mf_special_tokens *special)
{
    const char *const *types = special->types;
    struct mf_str text[MF_SPECIAL_TYPES];
    uint64_t id[MF_SPECIAL_TYPES];
    size_t count = 0;

    for (; types[count]; count++) {
        const struct mf_node *add =
            config_at(special, "add_%s_token", types[count]);

        text[count] = text_of(mf_special_token(special, types[count]));
        id[count] = MF_NO_ID;
        if (add && (add->kind == MF_NODE_TRUE || add->kind == MF_NODE_FALSE) &&
            mf_special_add_to_texts(special, types[count],
                                    add->kind == MF_NODE_TRUE) != MF_OK)
            return failed(special);
    }
    if (find_added(special, text, id, count) != MF_OK)
        return failed(special);
    for (size_t i = 0; i < count; i++)
        if (text[i].at && id[i] != MF_NO_ID &&
            set_id(special, types[i], id[i], false) != MF_OK)
            return failed(special);
    return MF_OK;
}

/* ---- config.json ---- */

static enum mf_status read_config(struct mf_special_tokens *special)
{
    const struct mf_node *file = special->request->file;

    for (size_t i = 0; file && special->types[i]; i++) {
        char key[64];
        struct mf_str name = { key, 0 };
        const struct mf_node *node;

        snprintf(key, sizeof(key), "%s_token_id", special->types[i]);
        name.size = strlen(key);
        node = mf_node_get(file, name);
        if (!node || node->kind == MF_NODE_NULL)
            node = mf_node_get(mf_node_at(file, "text_config"), name);
        if (set_node(special, special->types[i], node, "config.json") != MF_OK)
            return failed(special);
    }
    return MF_OK;
}

/* ---- normalizers ---- */

static enum mf_status set_normalizer(struct mf_special_tokens *special,
                                     const struct mf_node *node, int *value)
{
    if (!node)
        return MF_OK;
    if (node->kind != MF_NODE_TRUE && node->kind != MF_NODE_FALSE &&
        node->kind != MF_NODE_NULL)
        return mf_fail(special->env, MF_ERR_CORRUPT, node->offset,
                       "'tokenizer.json': '%s' of a normalizer is %s",
                       mf_quote(node->key).text, mf_node_kind_name(node));
    *value = node->kind == MF_NODE_NULL ? -1 : node->kind == MF_NODE_TRUE;
    return MF_OK;
}

static enum mf_status read_normalizer(struct mf_special_tokens *special,
                                      const struct mf_node *node)
{
    struct mf_str type = mf_node_text(node, "type");

    if (mf_str_is(type, "Lowercase"))
        special->lowercase = 1;
    if (mf_str_is(type, "StripAccents"))
        special->strip_accents = 1;
    if (!mf_str_is(type, "BertNormalizer"))
        return MF_OK;
    if (set_normalizer(special, mf_node_at(node, "lowercase"),
                       &special->lowercase) != MF_OK)
        return failed(special);
    return set_normalizer(special, mf_node_at(node, "strip_accents"),
                          &special->strip_accents);
}

/* One, or the members of a sequence, which may have sequences in it. */
static enum mf_status read_normalizers(struct mf_special_tokens *special)
{
    const struct mf_node *open[MF_JSON_DEPTH];
    const struct mf_node *node = mf_node_at(special->json, "normalizer");
    size_t depth = 0;

    while (node || depth > 0) {
        const struct mf_node *inside;

        if (!node) {
            node = open[--depth];
            continue;
        }
        if (read_normalizer(special, node) != MF_OK)
            return failed(special);
        inside = mf_str_is(mf_node_text(node, "type"), "Sequence")
                     ? mf_node_at(node, "normalizers")
                     : NULL;
        /* The outermost is a member of tokenizer.json, not of a list. */
        node = depth > 0 || special->in_list ? node->next : NULL;
        special->in_list = true;
        if (inside && inside->kind == MF_NODE_ARRAY && inside->first) {
            open[depth++] = node;
            node = inside->first;
        }
    }
    return MF_OK;
}

/* ---- adding to the draft ---- */

static enum mf_status put_ids(struct mf_draft *draft,
                              const struct mf_special_tokens *special)
{
    static const struct {
        const char *name, *key;
    } rows[] = {
        { "bos", "tokenizer.ggml.bos_token_id" },
        { "eos", "tokenizer.ggml.eos_token_id" },
        { "unk", "tokenizer.ggml.unknown_token_id" },
        { "sep", "tokenizer.ggml.seperator_token_id" },
        { "pad", "tokenizer.ggml.padding_token_id" },
        { "mask", "tokenizer.ggml.mask_token_id" },
        { "eot", "tokenizer.ggml.eot_token_id" },
        { "eom", "tokenizer.ggml.eom_token_id" },
    };

    for (unsigned order = 1; order <= special->orders; order++)
        for (size_t i = 0; i < special->type_count; i++)
            for (size_t j = 0; j < sizeof(rows) / sizeof(*rows); j++)
                if (special->type[i].id_order == order &&
                    strcmp(special->type[i].name, rows[j].name) == 0 &&
                    mf_set_u32(draft, rows[j].key, special->type[i].id) !=
                        MF_OK)
                    return failed(special);
    return MF_OK;
}

static enum mf_status put_adds(struct mf_draft *draft,
                               const struct mf_special_tokens *special)
{
    static const struct {
        const char *name, *key;
    } rows[] = {
        { "bos", "tokenizer.ggml.add_bos_token" },
        { "eos", "tokenizer.ggml.add_eos_token" },
        { "sep", "tokenizer.ggml.add_sep_token" },
    };

    for (unsigned order = 1; order <= special->orders; order++)
        for (size_t i = 0; i < special->type_count; i++)
            for (size_t j = 0; j < sizeof(rows) / sizeof(*rows); j++)
                if (special->type[i].add_order == order &&
                    strcmp(special->type[i].name, rows[j].name) == 0 &&
                    mf_set_bool(draft, rows[j].key, special->type[i].add) !=
                        MF_OK)
                    return failed(special);
    return MF_OK;
}

static enum mf_status put_normalizers(struct mf_draft *draft,
                                      const struct mf_special_tokens *special)
{
    if (special->lowercase >= 0 &&
        mf_set_bool(draft, "tokenizer.ggml.normalizer.lowercase",
                    special->lowercase != 0) != MF_OK)
        return failed(special);
    return special->strip_accents >= 0
               ? mf_set_bool(draft, "tokenizer.ggml.normalizer.strip_accents",
                             special->strip_accents != 0)
               : MF_OK;
}

static enum mf_status put(struct mf_draft *draft,
                          const struct mf_special_tokens *special,
                          const struct mf_special_options *options)
{
    if (options->merges &&
        mf_merges_put(draft, special->request->model, special->json) != MF_OK)
        return failed(special);
    if (put_ids(draft, special) != MF_OK || put_adds(draft, special) != MF_OK)
        return failed(special);
    if (special->has_config && !options->no_template &&
        mf_chat_put(draft, special->request->model, special->config) != MF_OK)
        return failed(special);
    return put_normalizers(draft, special);
}

/* ---- all of it ---- */

static enum mf_status read_files(struct mf_special_tokens *special,
                                 struct mf_arena *arena)
{
    static const char *const left[] = { "added_tokens", "model.vocab",
                                        "model.merges", NULL };
    static const char *const config_left[] = { "added_tokens_decoder", NULL };

    const struct mf_tokenizer_request *request = special->request;

    /* A folder without tokenizer.json has none here, either. */
    if (request->fast && *request->fast) {
        if (!(*request->fast)->slow)
            special->json = (*request->fast)->json;
        special->config = (*request->fast)->config;
        special->has_config = special->config && special->config->count > 0;
        return MF_OK;
    }
    if (mf_sidecar_tree_but(request->model, arena, "tokenizer.json",
                            MF_SIDECAR_LIMIT, left, &special->json) != MF_OK ||
        mf_sidecar_tree_but(request->model, arena, "tokenizer_config.json",
                            MF_SIDECAR_LIMIT, config_left,
                            &special->config) != MF_OK)
        return failed(special);
    if (special->json && special->json->kind != MF_NODE_OBJECT)
        return mf_fail(special->env, MF_ERR_CORRUPT, 0,
                       "'tokenizer.json' is not an object");
    if (special->config && special->config->kind != MF_NODE_OBJECT)
        return mf_fail(special->env, MF_ERR_CORRUPT, 0,
                       "'tokenizer_config.json' is not an object");
    special->has_config = special->config && special->config->count > 0;
    return MF_OK;
}

enum mf_status mf_special_put(struct mf_draft *draft,
                              const struct mf_tokenizer_request *request,
                              const struct mf_special_options *options)
{
    static const char *const usual[] = { "bos", "eos", "unk",  "sep",
                                         "pad", "cls", "mask", NULL };
    const struct mf_special_options none = { .merges = false };
    struct mf_special_tokens *special =
        mf_arena_take(request->arena, sizeof(*special));
    size_t i = 0;

    options = options ? options : &none;
    if (!special)
        return request->env->error.status;
    *special = (struct mf_special_tokens){ .env = request->env,
                                           .request = request,
                                           .vocab_size = options->vocab_size,
                                           .lowercase = -1,
                                           .strip_accents = -1 };
    for (const char *const *type = options->types ? options->types : usual;
         type[i] && i < MF_SPECIAL_TYPES - 2; i++)
        special->types[i] = type[i];
    if (read_files(special, request->arena) != MF_OK ||
        read_normalizers(special) != MF_OK ||
        (special->json && mf_special_read_post(special) != MF_OK) ||
        (special->has_config && read_types(special) != MF_OK) ||
        read_config(special) != MF_OK)
        return failed(special);
    for (i = 0; i < options->set_count; i++)
        if (set_id(special, options->set[i].type, options->set[i].id,
                   options->set[i].always) != MF_OK)
            return failed(special);
    return put(draft, special, options);
}
