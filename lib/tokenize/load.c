/* SPDX-License-Identifier: MIT
 *
 * load.c - tokenizer.json without its vocabulary
 *
 * The first pass notes where each part is.  The small ones are then read as
 * trees; vocabulary and merges stay where they are.
 */
#include "lib/tokenize/load.h"

#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/json/json_walk.h"

/* Bytes of a normalizer, pre-tokenizer and so on. */
#define PART_MAX ((uint64_t)1 << 20)
#define TEXT_MAX 512 /* of a text in "model" */

enum part { NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, PARTS };

static const char *const part_names[PARTS] = { "normalizer", "pre_tokenizer",
                                               "post_processor" };

struct loading {
    struct mf_tokenize *tokenizer;
    struct mf_sidecar file;
    struct mf_span part[PARTS]; /* size 0: missing */
};

static enum mf_status failed(const struct loading *loading)
{
    return loading->tokenizer->env->error.status;
}

static enum mf_status wrong(struct loading *loading, const char *path,
                            const char *expected)
{
    return mf_fail(loading->tokenizer->env, MF_ERR_CORRUPT,
                   loading->file.json.token_offset, "'%s' must be %s", path,
                   expected);
}

enum mf_status mf_load_text(struct mf_tokenize *tokenizer, struct mf_json *json,
                            size_t most, struct mf_str *out)
{
    char text[MF_ADDED_TEXT];
    uint64_t size;
    bool more;
    char *at;

    if (mf_json_text(json, text, sizeof(text), &size, &more) != MF_OK)
        return tokenizer->env->error.status;
    if (more || size > most)
        return mf_fail(tokenizer->env, MF_ERR_LIMIT, json->token_offset,
                       "a token or name has more than %zu bytes", most);
    at = mf_arena_text(tokenizer->arena, (size_t)size);
    if (!at)
        return tokenizer->env->error.status;
    memcpy(at, text, (size_t)size);
    *out = (struct mf_str){ at, (size_t)size };
    return MF_OK;
}

/* ---- "model" ---- */

static enum mf_status read_flag(struct loading *loading, const char *path,
                                enum mf_json_token token, bool *flag)
{
    *flag = token == MF_JSON_TRUE;
    return token == MF_JSON_TRUE || token == MF_JSON_FALSE ||
                   token == MF_JSON_NULL
               ? MF_OK
               : wrong(loading, path, "true or false");
}

static enum mf_status read_text(struct loading *loading, const char *path,
                                enum mf_json_token token, struct mf_str *out)
{
    *out = (struct mf_str){ NULL, 0 };
    if (token == MF_JSON_NULL)
        return MF_OK;
    if (token != MF_JSON_STRING)
        return wrong(loading, path, "a string");
    return mf_load_text(loading->tokenizer, &loading->file.json, TEXT_MAX, out);
}

static enum mf_status read_kind(struct loading *loading, const char *path,
                                enum mf_json_token token)
{
    struct mf_model_part *part = &loading->tokenizer->part;
    struct mf_str type;

    if (read_text(loading, path, token, &type) != MF_OK)
        return failed(loading);
    part->kind = mf_str_is(type, "BPE")         ? MF_MODEL_BPE
                 : mf_str_is(type, "WordPiece") ? MF_MODEL_WORDPIECE
                 : mf_str_is(type, "WordLevel") ? MF_MODEL_WORDS
                                                : MF_MODEL_NONE;
    return part->kind != MF_MODEL_NONE
               ? MF_OK
               : mf_fail(loading->tokenizer->env, MF_ERR_UNSUPPORTED,
                         loading->file.json.token_offset,
                         "a model of type '%s' is not supported",
                         type.at ? mf_quote(type).text : "");
}

static enum mf_status read_offset(struct loading *loading, const char *path,
                                  enum mf_json_token token, uint64_t *offset)
{
    bool array = offset == &loading->tokenizer->part.merges_offset;

    if (token != (array ? MF_JSON_BEGIN_ARRAY : MF_JSON_BEGIN_OBJECT))
        return wrong(loading, path, array ? "a list" : "an object");
    *offset = loading->file.json.token_offset;
    return mf_json_skip(&loading->file.json, token);
}

static enum mf_status visit_model(struct loading *loading, const char *path,
                                  enum mf_json_token token)
{
    struct mf_model_part *part = &loading->tokenizer->part;
    struct mf_json *json = &loading->file.json;
    const char *name = path + strlen("model.");

    if (strcmp(name, "type") == 0)
        return read_kind(loading, path, token);
    if (strcmp(name, "vocab") == 0)
        return read_offset(loading, path, token, &part->vocab_offset);
    if (strcmp(name, "merges") == 0)
        return read_offset(loading, path, token, &part->merges_offset);
    if (strcmp(name, "unk_token") == 0)
        return read_text(loading, path, token, &part->unk);
    if (strcmp(name, "continuing_subword_prefix") == 0)
        return read_text(loading, path, token, &part->prefix);
    if (strcmp(name, "end_of_word_suffix") == 0)
        return read_text(loading, path, token, &part->suffix);
    if (strcmp(name, "fuse_unk") == 0)
        return read_flag(loading, path, token, &part->fuse_unk);
    if (strcmp(name, "byte_fallback") == 0)
        return read_flag(loading, path, token, &part->byte_fallback);
    if (strcmp(name, "ignore_merges") == 0)
        return read_flag(loading, path, token, &part->ignore_merges);
    if (strcmp(name, "max_input_chars_per_word") == 0)
        return token == MF_JSON_NUMBER &&
                       mf_json_plain_u64(json, &part->max_chars)
                   ? MF_OK
                   : wrong(loading, path, "a number");
    /* With a dropout the same text gives other ids each time. */
    if (strcmp(name, "dropout") == 0 && token != MF_JSON_NULL &&
        (token != MF_JSON_NUMBER || strtod(json->digits, NULL) != 0))
        return mf_fail(loading->tokenizer->env, MF_ERR_UNSUPPORTED,
                       json->token_offset, "'%s' must be null", path);
    return mf_json_skip(json, token);
}

/* ---- the file ---- */

static enum mf_status visit_added(struct loading *loading,
                                  enum mf_json_token token)
{
    struct mf_json *json = &loading->file.json;
    struct mf_tokenize_added added;

    if (token != MF_JSON_BEGIN_ARRAY)
        return wrong(loading, "added_tokens", "a list");
    for (;;) {
        token = mf_json_next(json);
        if (token == MF_JSON_END_ARRAY || token == MF_JSON_ERROR)
            return failed(loading);
        if (token != MF_JSON_BEGIN_OBJECT)
            return wrong(loading, "added_tokens", "a list of objects");
        if (mf_tokenize_added_read(loading->tokenizer, json, &added) != MF_OK ||
            mf_tokenize_added_put(loading->tokenizer, &added) != MF_OK)
            return failed(loading);
    }
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct loading *loading = user;
    struct mf_json *json = &loading->file.json;

    if (strcmp(path, "added_tokens") == 0)
        return visit_added(loading, token);
    if (strcmp(path, "model") == 0 && token != MF_JSON_BEGIN_OBJECT)
        return wrong(loading, path, "an object");
    if (strncmp(path, "model.", 6) == 0)
        return visit_model(loading, path, token);
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(path, part_names[i]) == 0) {
            loading->part[i].offset = json->token_offset;
            if (mf_json_skip(json, token) != MF_OK)
                return failed(loading);
            loading->part[i].size =
                mf_reader_offset(json->reader) - loading->part[i].offset;
            return MF_OK;
        }
    return !*path || strcmp(path, "model") == 0 ? MF_OK
                                                : mf_json_skip(json, token);
}

/* A part as a tree. */
static enum mf_status read_part(struct loading *loading, struct mf_span span,
                                struct mf_node **root)
{
    struct mf_reader *reader = &loading->file.reader;
    uint64_t limit = reader->limit;
    enum mf_status status;

    if (span.size == 0)
        return MF_OK;
    mf_reader_seek(reader, span.offset);
    mf_reader_limit(reader, span.offset + span.size);
    mf_json_init(&loading->file.json, reader);
    status = mf_tree_read(&loading->file.json, loading->tokenizer->arena,
                          PART_MAX, root);
    mf_reader_limit(reader, limit);
    return status;
}

static enum mf_status read_parts(struct loading *loading)
{
    struct mf_tokenize *tokenizer = loading->tokenizer;
    struct mf_node **const roots[PARTS] = { &tokenizer->normalizer,
                                            &tokenizer->pre_tokenizer,
                                            &tokenizer->post_processor };

    for (size_t i = 0; i < PARTS; i++)
        if (read_part(loading, loading->part[i], roots[i]) != MF_OK)
            return failed(loading);
    if (tokenizer->part.kind == MF_MODEL_NONE ||
        tokenizer->part.vocab_offset == 0 ||
        (tokenizer->part.kind == MF_MODEL_BPE &&
         tokenizer->part.merges_offset == 0))
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "missing key '%s'",
                       tokenizer->part.kind == MF_MODEL_NONE ? "model.type"
                       : tokenizer->part.vocab_offset == 0   ? "model.vocab"
                                                             : "model.merges");
    return MF_OK;
}

enum mf_status mf_load_open(struct mf_tokenize *tokenizer,
                            struct mf_sidecar *file, uint64_t offset)
{
    if (mf_sidecar_open(file, tokenizer->model, tokenizer->arena,
                        "tokenizer.json") != MF_OK)
        return tokenizer->env->error.status;
    if (offset > 0 && file->source.size != tokenizer->file_size)
        return mf_fail(tokenizer->env, MF_ERR_IO, MF_NO_OFFSET,
                       "the file changed while it was read");
    tokenizer->file_size = file->source.size;
    mf_reader_seek(&file->reader, offset);
    mf_json_init(&file->json, &file->reader);
    return MF_OK;
}

static enum mf_status load(struct mf_tokenize *tokenizer)
{
    struct loading loading = { .tokenizer = tokenizer };
    enum mf_status status = mf_load_open(tokenizer, &loading.file, 0);

    tokenizer->part.max_chars = 100;
    if (status == MF_OK)
        status = mf_json_walk(&loading.file.json, visit, &loading);
    if (status == MF_OK)
        status = read_parts(&loading);
    return mf_sidecar_close(&loading.file, status);
}

struct mf_tokenize *mf_tokenize_open(const struct mf_model *model,
                                     struct mf_arena *arena,
                                     const struct mf_node *config)
{
    struct mf_tokenize *tokenizer = mf_arena_take(arena, sizeof(*tokenizer));
    struct mf_env *env = model->env;

    if (!tokenizer)
        return NULL;
    *tokenizer =
        (struct mf_tokenize){ .env = env, .model = model, .arena = arena };
    if (load(tokenizer) != MF_OK)
        return NULL;
    tokenizer->listed = tokenizer->last;
    if (mf_class_load(tokenizer, config) != MF_OK ||
        mf_steps_make(env, arena, tokenizer->normalizer, "normalizers",
                      &tokenizer->normalize) != MF_OK ||
        mf_steps_make(env, arena, tokenizer->pre_tokenizer, "pretokenizers",
                      &tokenizer->split) != MF_OK)
        return NULL;
    return tokenizer;
}
