/* SPDX-License-Identifier: MIT
 *
 * folder_tokens.c - the tokenizer next to a model, and ids of special tokens
 *
 * A token whose id is not below the number of the embedding's rows ends the
 * model where it is looked up.  Fewer tokens than rows are padding.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/folder/folder.h"
#include "lib/json/json_walk.h"

struct tokens {
    struct mf_folder *folder;
    struct mf_json *json;
    bool has_vocabulary;
    bool wrong_id;      /* an id of the vocabulary is not a whole number */
    uint64_t count;     /* the highest id of all, and one */
    const char *within; /* the part of the file that has it */
};

static enum mf_status failed(const struct tokens *tokens)
{
    return tokens->folder->model->env->error.status;
}

static void add_id(struct tokens *tokens, const char *within)
{
    uint64_t id;

    if (!mf_json_plain_u64(tokens->json, &id) || id == UINT64_MAX) {
        tokens->wrong_id = true;
        return;
    }
    if (id < tokens->count)
        return;
    tokens->count = id + 1;
    tokens->within = within;
}

/* {"text": id, ...} */
static enum mf_status read_map(struct tokens *tokens)
{
    enum mf_json_token token;

    while ((token = mf_json_next(tokens->json)) == MF_JSON_KEY) {
        token = mf_json_next(tokens->json);
        if (token == MF_JSON_NUMBER)
            add_id(tokens, "model.vocab");
        else if (token == MF_JSON_ERROR ||
                 mf_json_skip(tokens->json, token) != MF_OK)
            return failed(tokens);
        else
            tokens->wrong_id = true;
    }
    return failed(tokens);
}

/* [["text", score], ...]: the place in the list is the id. */
static enum mf_status read_list(struct tokens *tokens)
{
    enum mf_json_token token;
    uint64_t count = 0;

    while ((token = mf_json_next(tokens->json)) != MF_JSON_END_ARRAY) {
        if (token == MF_JSON_ERROR ||
            mf_json_skip(tokens->json, token) != MF_OK)
            return failed(tokens);
        count++;
    }
    if (count > tokens->count) {
        tokens->count = count;
        tokens->within = "model.vocab";
    }
    return MF_OK;
}

/* "added_tokens.3.id" */
static bool is_added_id(const char *path)
{
    static const char head[] = "added_tokens.";
    const char *dot;

    if (strncmp(path, head, sizeof(head) - 1) != 0)
        return false;
    dot = strchr(path + sizeof(head) - 1, '.');
    return dot && strcmp(dot, ".id") == 0;
}

static bool is_parent(const char *path)
{
    return !*path || strcmp(path, "model") == 0 ||
           strcmp(path, "added_tokens") == 0 ||
           (strncmp(path, "added_tokens.", 13) == 0 && !strchr(path + 13, '.'));
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct tokens *tokens = user;

    if (strcmp(path, "model.vocab") == 0 && token == MF_JSON_BEGIN_OBJECT) {
        tokens->has_vocabulary = true;
        return read_map(tokens);
    }
    if (strcmp(path, "model.vocab") == 0 && token == MF_JSON_BEGIN_ARRAY) {
        tokens->has_vocabulary = true;
        return read_list(tokens);
    }
    if (is_added_id(path) && token == MF_JSON_NUMBER)
        add_id(tokens, "added_tokens");
    else if (!is_parent(path))
        return mf_json_skip(tokens->json, token);
    return MF_OK;
}

/* The rows of the embedding; 0: unknown. */
static uint64_t row_count(const struct mf_folder *folder)
{
    static const char name[] = "model.embed_tokens.weight";
    const struct mf_folder_value *size = &folder->value[MF_FIELD_VOCAB];
    const struct mf_index *index = &folder->model->index;
    size_t at = mf_names_find(&index->tensor_names,
                              (struct mf_str){ name, sizeof(name) - 1 });

    if (size->given)
        return size->number;
    return at != MF_NOT_FOUND && index->tensor[at].rank == 2
               ? index->tensor[at].dim[0]
               : 0;
}

static void note_tokens(const struct tokens *tokens)
{
    struct mf_index *index = &tokens->folder->model->index;
    uint64_t rows = row_count(tokens->folder);

    if (!tokens->has_vocabulary || tokens->wrong_id)
        mf_index_note(index, 0, MF_ERROR, MF_RULE_CONFIG_TOKENS, MF_NO_OFFSET,
                      tokens->wrong_id
                          ? "a token's id in tokenizer.json is not a whole "
                            "number"
                          : "tokenizer.json has no 'model.vocab'");
    else if (rows > 0 && tokens->count > rows)
        mf_index_note(index, 0, MF_ERROR, MF_RULE_CONFIG_TOKENS, MF_NO_OFFSET,
                      "'%s' in tokenizer.json has id %" PRIu64
                      ", but the vocabulary has %" PRIu64 " rows",
                      tokens->within, tokens->count - 1, rows);
}

static enum mf_status check_tokenizer(struct mf_folder *folder)
{
    static const char name[] = "tokenizer.json";
    struct tokens tokens = { .folder = folder };
    struct mf_sidecar file;
    enum mf_status status;
    bool good;

    if (!mf_sidecar_exists(folder->model, folder->arena, name))
        return failed(&tokens);
    status = mf_sidecar_open(&file, folder->model, folder->arena, name);
    tokens.json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, &tokens);
    status = mf_folder_close(folder, &file, status, MF_ERROR, &good);
    if (good)
        note_tokens(&tokens);
    return status;
}

/* ---- special tokens ---- */

/* A text never ends if the token that ends it cannot occur; transformers does
 * not load a model whose padding is not in the embedding. */
static void check_ids(const struct mf_folder *folder, const char *file)
{
    static const enum mf_folder_field fields[] = { MF_FIELD_BOS, MF_FIELD_EOS,
                                                   MF_FIELD_PAD };
    uint64_t rows = row_count(folder);

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        const struct mf_folder_value *id = &folder->value[fields[i]];

        if (rows > 0 && id->given && id->number >= rows)
            mf_index_note(&folder->model->index, 0, MF_ERROR,
                          MF_RULE_CONFIG_TOKENS, MF_NO_OFFSET,
                          "'%s' in %s is %" PRIu64
                          ", but the vocabulary has %" PRIu64 " rows",
                          mf_folder_key(fields[i]), file, id->number, rows);
    }
}

static enum mf_status check_generation(struct mf_folder *folder)
{
    bool found;

    for (unsigned i = MF_FIELD_BOS; i <= MF_FIELD_PAD; i++)
        folder->value[i] = (struct mf_folder_value){ 0 };
    if (mf_folder_read_generation(folder, &found) != MF_OK)
        return folder->model->env->error.status;
    if (found)
        check_ids(folder, "generation_config.json");
    return MF_OK;
}

enum mf_status mf_folder_check_tokens(struct mf_folder *folder)
{
    if (folder->has_config)
        check_ids(folder, "config.json");
    if (check_generation(folder) != MF_OK)
        return folder->model->env->error.status;
    return check_tokenizer(folder);
}
