/* SPDX-License-Identifier: MIT
 *
 * spm_added.c - tokens that other files put in the place of pieces
 *
 * The files are read twice: to count the tokens, and to take them.
 */
#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/json/json_walk.h"

const char *const mf_spm_added_names[MF_SPM_ADDED_FILES] = {
    [MF_SPM_ADDED_JSON] = "added_tokens.json",
    [MF_SPM_ADDED_CONFIG] = "tokenizer_config.json",
    [MF_SPM_ADDED_TOKENIZER] = "tokenizer.json",
};

/* Of a long text its beginning and its end are enough to look at. */
#define LOOK 32

struct collecting {
    struct mf_env *env;
    struct mf_json *json;
    struct mf_spm_list *list;
    enum mf_spm_added_file file;
    uint64_t tokens;         /* of the vocabulary, with those appended so far */
    struct mf_spm_added *at; /* NULL: they are counted */
    size_t count, limit;
    /* The token that is being read. */
    bool open, has_id, has_text, special, looks, chat_end;
    uint64_t id, offset;
};

static enum mf_status failed(const struct collecting *collecting)
{
    return collecting->env->error.status;
}

static enum mf_status refuse(const struct collecting *collecting,
                             const char *path, const char *what)
{
    return mf_fail(collecting->env, MF_ERR_CORRUPT,
                   collecting->json->token_offset, "'%s' %s",
                   mf_quote((struct mf_str){ path, strlen(path) }).text, what);
}

/* ---- one token ---- */

/* The text of the string or key that was announced: what it looks like. */
static enum mf_status look(struct collecting *collecting)
{
    char text[4 * LOOK];
    struct mf_str whole = { text, 0 };
    uint64_t size;
    bool more;

    collecting->offset = collecting->json->token_offset;
    collecting->has_text = true;
    do {
        if (whole.size > 2 * LOOK) {
            memmove(text + LOOK, text + whole.size - LOOK, LOOK);
            whole.size = 2 * LOOK;
        }
        if (mf_json_text(collecting->json, text + whole.size, LOOK, &size,
                         &more) != MF_OK)
            return failed(collecting);
        whole.size += (size_t)size;
    } while (more);
    collecting->looks = mf_token_looks_special(whole);
    collecting->chat_end = mf_str_is(whole, "<|im_end|>");
    return MF_OK;
}

static enum mf_status add(struct collecting *collecting)
{
    const struct mf_spm_list *list = collecting->list;
    bool config = collecting->file == MF_SPM_ADDED_CONFIG;
    bool control =
        collecting->special || (config && list->looks && collecting->looks);

    if (collecting->count == collecting->limit)
        return mf_fail(collecting->env, MF_ERR_LIMIT, collecting->offset,
                       "more than %zu added tokens", collecting->limit);
    if (collecting->at)
        collecting->at[collecting->count] = (struct mf_spm_added){
            .offset = collecting->offset,
            .id = (uint32_t)collecting->id,
            .file = (uint8_t)collecting->file,
            .type = control ? MF_TOKEN_CONTROL : MF_TOKEN_USER_DEFINED,
            .spaces = config && list->looks && !control,
        };
    collecting->count++;
    return MF_OK;
}

/* The token is read; the next may begin. */
static enum mf_status end_token(struct collecting *collecting)
{
    enum mf_spm_added_use use = collecting->list->use[collecting->file];

    if (!collecting->open)
        return MF_OK;
    collecting->open = false;
    if (!collecting->has_text)
        return refuse(collecting, "content", "is missing before this place");
    if (use == MF_SPM_ADDED_APPEND)
        collecting->id = collecting->tokens++;
    else if (!collecting->has_id)
        return refuse(collecting, "id", "is missing before this place");
    if (collecting->chat_end && collecting->file != MF_SPM_ADDED_JSON)
        collecting->list->chat_end = collecting->id;
    if (collecting->chat_end && collecting->special &&
        collecting->file == MF_SPM_ADDED_CONFIG)
        collecting->list->special_chat_end = collecting->id;
    if (collecting->id < collecting->tokens)
        return add(collecting);
    return use == MF_SPM_ADDED_PASS
               ? MF_OK
               : mf_fail(collecting->env, MF_ERR_CORRUPT, collecting->offset,
                         "id %" PRIu64 " of an added token is not below "
                         "%" PRIu64 ", the size of the vocabulary",
                         collecting->id, collecting->tokens);
}

static enum mf_status begin_token(struct collecting *collecting)
{
    enum mf_status status = end_token(collecting);

    collecting->open = true;
    collecting->has_id = collecting->has_text = collecting->special = false;
    return status;
}

static enum mf_status take_id(struct collecting *collecting, const char *path,
                              enum mf_json_token token)
{
    collecting->has_id = token == MF_JSON_NUMBER &&
                         mf_json_plain_u64(collecting->json, &collecting->id);
    return collecting->has_id
               ? MF_OK
               : refuse(collecting, path, "must be an integer from 0 on");
}

/* ---- tokenizer_config.json and tokenizer.json ---- */

/* "added_tokens_decoder": {"32000": {...}}: the id is the key. */
static bool id_of_key(const char *text, uint64_t *out)
{
    *out = 0;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || !mf_mul(*out, 10, out) ||
            !mf_add(*out, (uint64_t)(*at - '0'), out))
            return false;
    return *text != 0;
}

/* path: "5" or "5.content", in the list. */
static enum mf_status visit_token(struct collecting *collecting,
                                  const char *full, const char *path,
                                  enum mf_json_token token)
{
    const char *name = strchr(path, '.');

    if (!name) {
        if (token != MF_JSON_BEGIN_OBJECT)
            return refuse(collecting, full, "must be an object");
        if (begin_token(collecting) != MF_OK)
            return failed(collecting);
        if (collecting->file != MF_SPM_ADDED_CONFIG)
            return MF_OK;
        collecting->has_id = id_of_key(path, &collecting->id);
        return collecting->has_id
                   ? MF_OK
                   : refuse(collecting, full, "is not the id of a token");
    }
    if (strcmp(name, ".content") == 0)
        return token == MF_JSON_STRING
                   ? look(collecting)
                   : refuse(collecting, full, "must be a string");
    if (strcmp(name, ".special") == 0) {
        collecting->special = token == MF_JSON_TRUE;
        return token == MF_JSON_TRUE || token == MF_JSON_FALSE ||
                       token == MF_JSON_NULL
                   ? MF_OK
                   : refuse(collecting, full, "must be true or false");
    }
    if (collecting->file == MF_SPM_ADDED_TOKENIZER && strcmp(name, ".id") == 0)
        return take_id(collecting, full, token);
    return mf_json_skip(collecting->json, token);
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct collecting *collecting = user;
    bool config = collecting->file == MF_SPM_ADDED_CONFIG;
    const char *list = config ? "added_tokens_decoder" : "added_tokens";
    size_t size = strlen(list);

    if (!*path)
        return MF_OK;
    if (strncmp(path, list, size) != 0 || (path[size] && path[size] != '.'))
        return mf_json_skip(collecting->json, token);
    if (path[size])
        return visit_token(collecting, path, path + size + 1, token);
    return token == (config ? MF_JSON_BEGIN_OBJECT : MF_JSON_BEGIN_ARRAY)
               ? MF_OK
               : refuse(collecting, list,
                        config ? "must be an object" : "must be an array");
}

/* ---- added_tokens.json ---- */

/* Tokens that are appended get other ids. */
static enum mf_status take_pair_id(struct collecting *collecting,
                                   enum mf_json_token token)
{
    if (collecting->list->use[collecting->file] == MF_SPM_ADDED_APPEND)
        return mf_json_skip(collecting->json, token);
    return take_id(collecting, "id of an added token", token);
}

static enum mf_status read_pairs(struct collecting *collecting)
{
    struct mf_json *json = collecting->json;
    enum mf_json_token token = mf_json_next(json);

    if (token != MF_JSON_BEGIN_OBJECT)
        return failed(collecting) ? failed(collecting)
                                  : refuse(collecting, "", "must be an object");
    for (token = mf_json_next(json); token == MF_JSON_KEY;
         token = mf_json_next(json))
        if (begin_token(collecting) != MF_OK || look(collecting) != MF_OK ||
            take_pair_id(collecting, mf_json_next(json)) != MF_OK)
            return failed(collecting);
    if (token == MF_JSON_END_OBJECT)
        token = mf_json_next(json);
    return token == MF_JSON_END ? end_token(collecting) : failed(collecting);
}

/* ---- the files ---- */

static enum mf_status read_file(struct collecting *collecting,
                                const struct mf_tokenizer_request *request)
{
    const char *name = mf_spm_added_names[collecting->file];
    struct mf_sidecar file;
    enum mf_status status;

    if (!mf_sidecar_exists(request->model, request->arena, name))
        return failed(collecting);
    status = mf_sidecar_open(&file, request->model, request->arena, name);
    collecting->json = &file.json;
    if (status == MF_OK && collecting->file == MF_SPM_ADDED_JSON)
        status = read_pairs(collecting);
    else if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, collecting);
    if (status == MF_OK)
        status = end_token(collecting);
    return mf_sidecar_close(&file, status);
}

static enum mf_status read_files(struct collecting *collecting,
                                 const struct mf_tokenizer_request *request)
{
    struct mf_spm_list *list = collecting->list;
    enum mf_status status = MF_OK;

    collecting->tokens = list->tokens;
    collecting->count = 0;
    list->chat_end = list->special_chat_end = UINT64_MAX;
    for (unsigned file = 0; file < MF_SPM_ADDED_FILES && status == MF_OK;
         file++) {
        collecting->file = (enum mf_spm_added_file)file;
        if (list->use[file] != MF_SPM_ADDED_LEAVE)
            status = read_file(collecting, request);
    }
    return status;
}

/* ---- by their ids ---- */

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_spm_added *at = table;

    return at[a].id < at[b].id || (at[a].id == at[b].id && a < b);
}

/* Of an id the last one that was read. */
static enum mf_status order(struct mf_spm_list *list, struct mf_arena *arena,
                            struct mf_arena *scratch,
                            const struct mf_spm_added *at, size_t count)
{
    uint32_t *row = mf_arena_take(scratch, (count + 1) * sizeof(*row));
    struct mf_spm_added *out = mf_arena_take(arena, (count + 1) * sizeof(*out));

    list->at = out;
    if (!row || !out)
        return arena->env->error.status;
    for (uint32_t i = 0; i < count; i++)
        row[i] = i;
    mf_sort(row, count, is_before, at);
    for (size_t i = 0; i < count; i++) {
        if (list->count > 0 && out[list->count - 1].id == at[row[i]].id)
            list->count--;
        out[list->count++] = at[row[i]];
    }
    return MF_OK;
}

enum mf_status mf_spm_list_read(struct mf_spm_list *list,
                                const struct mf_tokenizer_request *request)
{
    struct mf_env *env = request->env;
    struct collecting collecting = { .env = env,
                                     .list = list,
                                     .limit = MF_SPM_ADDED_MAX };
    struct mf_arena scratch;
    enum mf_status status;
    size_t count;

    status = read_files(&collecting, request);
    count = collecting.limit = collecting.count;
    mf_arena_init(&scratch, env);
    if (status == MF_OK) {
        collecting.at =
            mf_arena_take(&scratch, (count + 1) * sizeof(*collecting.at));
        status = collecting.at ? read_files(&collecting, request)
                               : env->error.status;
    }
    if (status == MF_OK && collecting.count != count)
        status = mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                         "the added tokens changed while they were read");
    if (status == MF_OK)
        status = order(list, request->arena, &scratch, collecting.at, count);
    mf_arena_release(&scratch);
    list->tokens = collecting.tokens;
    return status;
}
