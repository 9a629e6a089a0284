/* SPDX-License-Identifier: MIT
 *
 * json_file.c - the texts and numbers of a small JSON document, for the program
 */
#include "lib/json/json_walk.h"
#include "lib/program.h"

struct file {
    struct mf_json json;
    void (*found)(void *user, const char *path, struct mf_str value);
    /* or */
    mf_json_found *found_value;
    void *user;
};

/* Longer texts are left out. */
#define TEXT_MAX 512

static void give(const struct file *file, const char *path, struct mf_str value,
                 bool is_number)
{
    if (file->found_value)
        file->found_value(file->user, path, value, is_number);
    else
        file->found(file->user, path, value);
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct file *file = user;
    char text[TEXT_MAX];
    uint64_t size;
    bool more;

    if (token == MF_JSON_NUMBER)
        give(file, path,
             (struct mf_str){ file->json.digits, file->json.digits_size },
             true);
    if (token != MF_JSON_STRING)
        return MF_OK;
    if (mf_json_text(&file->json, text, sizeof(text), &size, &more) != MF_OK)
        return file->json.reader->env->error.status;
    if (!more)
        give(file, path, (struct mf_str){ text, (size_t)size }, false);
    return MF_OK;
}

static enum mf_status read_all(struct mf_env *env, struct mf_source *source,
                               char separator, struct file *file)
{
    struct mf_reader reader;
    enum mf_status status = mf_reader_init(&reader, env, source, NULL, 0);

    if (status != MF_OK)
        return status;
    mf_json_init(&file->json, &reader);
    status = mf_json_walk_by(&file->json, separator, visit, file);
    mf_reader_release(&reader);
    return status;
}

enum mf_status mf_json_file_read(struct mf_env *env, const char *path,
                                 uint64_t most,
                                 void (*found)(void *user, const char *path,
                                               struct mf_str value),
                                 void *user)
{
    struct file file = { .found = found, .user = user };
    struct mf_source source = { 0 };
    enum mf_status status;

    mf_clear_error(env);
    status = mf_source_open_file(env, path, &source, NULL);
    if (status == MF_OK)
        status = mf_source_check_size(env, &source, most);
    if (status == MF_OK)
        status = read_all(env, &source, '.', &file);
    mf_source_close(&source);
    return status;
}

enum mf_status mf_json_bytes_read(struct mf_env *env, struct mf_str bytes,
                                  char separator, mf_json_found *found,
                                  void *user, struct mf_error *error)
{
    struct file file = { .found_value = found, .user = user };
    struct mf_error before = env->error;
    struct mf_source source;
    enum mf_status status;

    mf_clear_error(env);
    mf_source_open_memory("", bytes.at, bytes.size, &source);
    status = read_all(env, &source, separator, &file);
    *error = env->error;
    env->error = before;
    return status;
}
