/* SPDX-License-Identifier: MIT
 *
 * functions_token.c - the id of an added token, for expressions of recipes
 *
 * As the converter finds it: first in tokenizer_config.json, where ids are
 * keys, then in tokenizer.json.  Both are streamed, up to the token.
 */
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/evaluate.h"

#define NO_ID UINT64_MAX

struct search {
    struct mf_recipe *recipe;
    struct mf_json *json;
    struct mf_str text; /* of the token */
    uint64_t id;        /* NO_ID: not found yet */
};

static enum mf_status failed(const struct search *search)
{
    return search->recipe->env->error.status;
}

/* The key just announced; one that is longer than any that counts is empty. */
static enum mf_status read_key(struct search *search, char *out, size_t room)
{
    uint64_t size;
    bool more;
    enum mf_status status =
        mf_json_text(search->json, out, room - 1, &size, &more);

    out[status == MF_OK && !more ? size : 0] = 0;
    return status;
}

/* Digits; false for other texts, and for what is too large. */
static bool read_id(const char *text, uint64_t *out)
{
    *out = 0;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || !mf_mul(*out, 10, out) ||
            !mf_add(*out, (uint64_t)(*at - '0'), out))
            return false;
    return *text != 0;
}

static enum mf_status wrong(struct search *search, const char *what)
{
    return mf_fail(search->recipe->env, MF_ERR_CORRUPT,
                   search->json->token_offset, "%s", what);
}

/* Whether the string just announced is the token's text.  A longer one than
 * any that is looked for is not. */
static enum mf_status is_text(struct search *search, bool *same)
{
    char text[64];
    uint64_t size;
    bool more;
    enum mf_status status =
        mf_json_text(search->json, text, sizeof(text), &size, &more);

    *same = status == MF_OK && !more &&
            mf_str_same((struct mf_str){ text, (size_t)size }, search->text);
    return status;
}

/* A token whose object was just begun.  *id is what it says, or stays. */
static enum mf_status read_token(struct search *search, bool *same,
                                 uint64_t *id)
{
    struct mf_json *json = search->json;
    enum mf_json_token token = mf_json_next(json);
    enum mf_status status = MF_OK;
    char key[16];

    *same = false;
    for (; token == MF_JSON_KEY && status == MF_OK;
         token = mf_json_next(json)) {
        if (read_key(search, key, sizeof(key)) != MF_OK)
            return failed(search);
        token = mf_json_next(json);
        if (token == MF_JSON_ERROR)
            return failed(search);
        if (token == MF_JSON_STRING && strcmp(key, "content") == 0)
            status = is_text(search, same);
        else if (token == MF_JSON_NUMBER && strcmp(key, "id") == 0 &&
                 !mf_json_plain_u64(json, id))
            status = wrong(search, "the id of an added token is not a number");
        else
            status = mf_json_skip(json, token);
    }
    return token == MF_JSON_ERROR ? failed(search) : status;
}

/* key: its id, or NULL where the object has that. */
static enum mf_status look(struct search *search, const char *key)
{
    uint64_t id = NO_ID;
    bool same;

    if (read_token(search, &same, &id) != MF_OK)
        return failed(search);
    if (!same)
        return MF_OK;
    if (key ? !read_id(key, &id) : id == NO_ID)
        return wrong(search, "the id of an added token is not a number");
    search->id = id;
    return MF_OK;
}

/* Tokens of an object, whose keys are ids, or of a list, just begun. */
static enum mf_status look_at_all(struct search *search, bool keyed)
{
    enum mf_json_token token = mf_json_next(search->json);
    char key[24];

    while (search->id == NO_ID &&
           token == (keyed ? MF_JSON_KEY : MF_JSON_BEGIN_OBJECT)) {
        if (keyed && read_key(search, key, sizeof(key)) != MF_OK)
            return failed(search);
        if (keyed && mf_json_next(search->json) != MF_JSON_BEGIN_OBJECT)
            return failed(search) != MF_OK
                       ? failed(search)
                       : wrong(search, "an added token is not an object");
        if (look(search, keyed ? key : NULL) != MF_OK)
            return failed(search);
        token = mf_json_next(search->json);
    }
    if (token == MF_JSON_ERROR)
        return failed(search);
    return search->id != NO_ID ||
                   token == (keyed ? MF_JSON_END_OBJECT : MF_JSON_END_ARRAY)
               ? MF_OK
               : wrong(search, "an added token is not an object");
}

/* The member `name` of the file's object; null is as good as none. */
static enum mf_status look_in(struct search *search, const char *name,
                              enum mf_json_token begin)
{
    struct mf_json *json = search->json;
    enum mf_json_token token = mf_json_next(json);
    char key[32];

    if (token != MF_JSON_BEGIN_OBJECT)
        return token == MF_JSON_ERROR ? failed(search)
                                      : wrong(search, "it is not an object");
    while (search->id == NO_ID && (token = mf_json_next(json)) == MF_JSON_KEY) {
        if (read_key(search, key, sizeof(key)) != MF_OK)
            return failed(search);
        token = mf_json_next(json);
        if (strcmp(key, name) == 0 && token == begin) {
            if (look_at_all(search, begin == MF_JSON_BEGIN_OBJECT) != MF_OK)
                return failed(search);
        } else if (token == MF_JSON_ERROR ||
                   mf_json_skip(json, token) != MF_OK) {
            return failed(search);
        }
    }
    return token == MF_JSON_ERROR ? failed(search) : MF_OK;
}

static enum mf_status look_in_file(struct search *search, const char *file,
                                   const char *name, enum mf_json_token begin)
{
    struct mf_sidecar sidecar;
    enum mf_status status = mf_sidecar_open(&sidecar, search->recipe->model,
                                            search->recipe->arena, file);

    search->json = &sidecar.json;
    if (status == MF_OK)
        status = look_in(search, name, begin);
    return mf_sidecar_close(&sidecar, status);
}

/* Its id, or null. */
const struct mf_node *mf_call_token(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    struct search search = { .recipe = eval->recipe,
                             .text = argument[0]->text,
                             .id = NO_ID };

    if (eval->recipe->facts)
        return &mf_node_null;
    if (look_in_file(&search, "tokenizer_config.json", "added_tokens_decoder",
                     MF_JSON_BEGIN_OBJECT) != MF_OK ||
        (search.id == NO_ID &&
         look_in_file(&search, "tokenizer.json", "added_tokens",
                      MF_JSON_BEGIN_ARRAY) != MF_OK))
        return mf_eval_value(eval, NULL);
    return search.id == NO_ID || search.id > INT64_MAX
               ? &mf_node_null
               : mf_eval_int(eval, (int64_t)search.id);
}
