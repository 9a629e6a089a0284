/* SPDX-License-Identifier: MIT
 *
 * former_meta.c - the tokenizer of a Hugging Face model as metadata of GGUF
 */
#include "lib/base/str.h"
#include "lib/json/json_walk.h"
#include "lib/tokenizer/chat.h"
#include "lib/tokenizer/former.h"

/* Special tokens, and whether they are added to texts. */
static const struct special {
    const char *name, *add, *id_key, *add_key;
} specials[] = {
    { "bos_token", "add_bos_token", "tokenizer.ggml.bos_token_id",
      "tokenizer.ggml.add_bos_token" },
    { "eos_token", "add_eos_token", "tokenizer.ggml.eos_token_id",
      "tokenizer.ggml.add_eos_token" },
    { "unk_token", "", "tokenizer.ggml.unknown_token_id", "" },
    { "pad_token", "", "tokenizer.ggml.padding_token_id", "" },
};

enum { BOS, EOS, SPECIAL_COUNT = sizeof(specials) / sizeof(*specials) };
_Static_assert((int)SPECIAL_COUNT == MF_ID_COUNT, "one row for each id");

struct meta { /* tokenizer_config.json */
    struct mf_env *env;
    struct mf_json *json;
    struct mf_draft *draft;
    char name[SPECIAL_COUNT][MF_TOKEN_MAX + 1]; /* "": missing */
    bool has_add[SPECIAL_COUNT], add[SPECIAL_COUNT];
};

static enum mf_status failed(const struct meta *meta)
{
    return meta->env->error.status;
}

/* ---- tokenizer_config.json ---- */

static enum mf_status uncertain(const struct meta *meta, const char *path)
{
    return mf_fail(meta->env, MF_ERR_UNSUPPORTED, meta->json->token_offset,
                   "'%s' has no known equivalent in GGUF", path);
}

static enum mf_status read_name(struct meta *meta, const char *path, char *name)
{
    uint64_t size;
    bool more;

    if (mf_json_text(meta->json, name, MF_TOKEN_MAX, &size, &more) != MF_OK)
        return failed(meta);
    name[size] = 0;
    return more || strlen(name) != size ? uncertain(meta, path) : MF_OK;
}

static enum mf_status visit_special(struct meta *meta, size_t i,
                                    const char *path, const char *rest,
                                    enum mf_json_token token)
{
    if (token == MF_JSON_STRING && (!*rest || strcmp(rest, ".content") == 0))
        return read_name(meta, path, meta->name[i]);
    return token == MF_JSON_BEGIN_ARRAY ? uncertain(meta, path) : MF_OK;
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct meta *meta = user;
    size_t area = strcspn(path, ".");

    for (size_t i = 0; i < SPECIAL_COUNT; i++) {
        if (strlen(specials[i].name) == area &&
            memcmp(path, specials[i].name, area) == 0)
            return visit_special(meta, i, path, path + area, token);
        if (*specials[i].add && strcmp(path, specials[i].add) == 0 &&
            (token == MF_JSON_TRUE || token == MF_JSON_FALSE)) {
            meta->has_add[i] = true;
            meta->add[i] = token == MF_JSON_TRUE;
        }
    }
    return *path ? mf_json_skip(meta->json, token) : MF_OK;
}

/* The file may be missing: config.json has the ids, too. */
static enum mf_status read_meta(struct meta *meta, const struct mf_model *model)
{
    struct mf_sidecar file;
    enum mf_status status;

    if (!mf_sidecar_exists(model, &meta->draft->arena, "tokenizer_config.json"))
        return failed(meta);
    status = mf_sidecar_open(&file, model, &meta->draft->arena,
                             "tokenizer_config.json");
    meta->json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, meta);
    return mf_sidecar_close(&file, status);
}

/* ---- added tokens ---- */

/* Tokens that llama.cpp treats as special by their names, marked or not. */
static bool looks_special(struct mf_str text)
{
    static const char *const names[] = { "<pad>", "<mask>", "<2mass>",
                                         "[@BOS@]" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_is(text, names[i]))
            return true;
    return (mf_str_begins(text, "<|") && mf_str_ends(text, "|>")) ||
           (mf_str_begins(text, "<\uff5c") && mf_str_ends(text, "\uff5c>")) ||
           (mf_str_begins(text, "<unused") && mf_str_ends(text, ">"));
}

static enum mf_status check_added(struct mf_tokenizer *tokenizer)
{
    uint64_t min = 0;

    for (struct mf_added_token *added = tokenizer->added; added;
         added = added->next) {
        if (!added->has_id || !added->text.at || added->id < min ||
            added->id >= tokenizer->token_count)
            return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "id of added token '%s' is missing or out of range: "
                           "ids must rise and be below %" PRIu64 ", the rows "
                           "of the embedding",
                           mf_quote(added->text).text, tokenizer->token_count);
        min = added->id + 1;
        added->special = added->special || looks_special(added->text);
    }
    return MF_OK;
}

/* U+2581 stands for a space in tokens that are not special. */
static void replace_spaces(struct mf_added_token *added)
{
    char *text = (char *)added->text.at;
    size_t to = 0;

    for (size_t from = 0; from < added->text.size && !added->special;) {
        if (mf_str_begins(
                (struct mf_str){ text + from, added->text.size - from },
                "\u2581")) {
            text[to++] = ' ';
            from += strlen("\u2581");
        } else {
            text[to++] = text[from++];
        }
    }
    added->text.size = added->special ? added->text.size : to;
}

/* ---- adding to the draft ---- */

static struct mf_entry *add(struct mf_draft *draft, const char *key,
                            enum mf_value_type type)
{
    struct mf_entry *entry = mf_draft_add_entry(draft);

    if (entry) {
        entry->key = (struct mf_str){ key, strlen(key) };
        entry->type = type;
    }
    return entry;
}

static enum mf_status add_text(struct mf_draft *draft, const char *key,
                               struct mf_str text)
{
    struct mf_entry *entry = add(draft, key, MF_VALUE_STRING);

    if (!entry)
        return draft->env->error.status;
    entry->text = text;
    entry->count = text.size;
    return MF_OK;
}

static enum mf_status add_array(const struct mf_tokenizer *tokenizer,
                                struct mf_draft *draft, const char *key,
                                enum mf_value_type of, uint64_t count,
                                mf_read_entry *tell)
{
    struct mf_entry *entry = add(draft, key, MF_VALUE_ARRAY);

    if (!entry)
        return draft->env->error.status;
    entry->of = of;
    entry->count = count;
    entry->read = tell;
    entry->elements = tokenizer;
    return MF_OK;
}

static const struct mf_added_token *
added_named(const struct mf_tokenizer *tokenizer, const char *name)
{
    for (const struct mf_added_token *added = tokenizer->added; added;
         added = added->next)
        if (*name && mf_str_is(added->text, name))
            return added;
    return NULL;
}

/* The id comes from the token of that name, else from config.json. */
static enum mf_status add_special(const struct mf_tokenizer *tokenizer,
                                  const struct meta *meta,
                                  const struct mf_tokenizer_ids *ids, size_t i)
{
    const struct mf_added_token *added = added_named(tokenizer, meta->name[i]);
    const char *around = i == BOS   ? tokenizer->prefix
                         : i == EOS ? tokenizer->suffix
                                    : "";
    uint64_t id = added ? added->id : ids->of[i].id;
    bool known = added || (ids->of[i].given && id < tokenizer->token_count);
    const struct mf_added_token *token = added_named(tokenizer, around);
    struct mf_entry *entry;

    if (known) {
        entry = add(meta->draft, specials[i].id_key, MF_VALUE_U32);
        if (!entry)
            return failed(meta);
        entry->number.u64 = id;
    }
    if (*around && (!known || !token || token->id != id))
        return mf_fail(meta->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'post_processor' of tokenizer.json adds '%s', which "
                       "is not the %s",
                       mf_quote((struct mf_str){ around, strlen(around) }).text,
                       specials[i].name);
    if (!*around && !meta->has_add[i] && !(i == BOS && tokenizer->adds_bos))
        return MF_OK;
    entry = add(meta->draft, specials[i].add_key, MF_VALUE_BOOL);
    if (!entry)
        return failed(meta);
    entry->number.boolean = meta->has_add[i] ? meta->add[i] : *around != 0;
    return MF_OK;
}

static enum mf_status add_entries(const struct mf_tokenizer *tokenizer,
                                  const struct meta *meta,
                                  const struct mf_tokenizer_ids *ids)
{
    struct mf_draft *draft = meta->draft;
    struct mf_node *config;
    struct mf_str split = { tokenizer->pre, strlen(tokenizer->pre) };

    if (add_text(draft, "tokenizer.ggml.model", (struct mf_str){ "gpt2", 4 }) !=
            MF_OK ||
        add_text(draft, "tokenizer.ggml.pre", split) != MF_OK ||
        add_array(tokenizer, draft, "tokenizer.ggml.tokens", MF_VALUE_STRING,
                  tokenizer->token_count,
                  mf_tokenizer_stream_tokens) != MF_OK ||
        add_array(tokenizer, draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                  tokenizer->token_count, mf_tokenizer_stream_types) != MF_OK ||
        add_array(tokenizer, draft, "tokenizer.ggml.merges", MF_VALUE_STRING,
                  tokenizer->merge_count, mf_tokenizer_stream_merges) != MF_OK)
        return failed(meta);
    for (size_t i = 0; i < SPECIAL_COUNT; i++)
        if (add_special(tokenizer, meta, ids, i) != MF_OK)
            return failed(meta);
    if (mf_sidecar_tree(tokenizer->model, &draft->arena,
                        "tokenizer_config.json", MF_SIDECAR_LIMIT,
                        &config) != MF_OK)
        return failed(meta);
    return mf_chat_put(draft, tokenizer->model, config);
}

enum mf_status mf_tokenizer_add(struct mf_draft *draft,
                                const struct mf_model *model,
                                const struct mf_tokenizer_ids *ids)
{
    struct mf_tokenizer *tokenizer =
        mf_arena_take(&draft->arena, sizeof(*tokenizer));
    struct meta *meta = mf_arena_take(&draft->arena, sizeof(*meta));

    if (!tokenizer || !meta)
        return draft->env->error.status;
    *meta = (struct meta){ .env = draft->env, .draft = draft };
    *tokenizer = (struct mf_tokenizer){
        .env = draft->env,
        .model = model,
        .arena = &draft->arena,
        .token_count = ids->token_count,
    };
    if (mf_tokenizer_read(tokenizer) != MF_OK ||
        check_added(tokenizer) != MF_OK ||
        mf_tokenizer_check(tokenizer) != MF_OK)
        return failed(meta);
    if (tokenizer->vocabulary_count > tokenizer->token_count)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tokenizer.json has %" PRIu64 " tokens, but the "
                       "embedding has %" PRIu64 " rows",
                       tokenizer->vocabulary_count, tokenizer->token_count);
    if (read_meta(meta, model) != MF_OK)
        return failed(meta);
    for (struct mf_added_token *added = tokenizer->added; added;
         added = added->next)
        replace_spaces(added);
    return add_entries(tokenizer, meta, ids);
}
