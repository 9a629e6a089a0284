/* SPDX-License-Identifier: MIT
 *
 * json_file.c - the texts and numbers of a small JSON file, for the program
 */
#include "lib/json/json_walk.h"
#include "lib/program.h"

struct file {
    struct mf_json json;
    void (*found)(void *user, const char *path, struct mf_str value);
    void *user;
};

/* Longer texts are left out. */
#define TEXT_MAX 512

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct file *file = user;
    char text[TEXT_MAX];
    uint64_t size;
    bool more;

    if (token == MF_JSON_NUMBER)
        file->found(
            file->user, path,
            (struct mf_str){ file->json.digits, file->json.digits_size });
    if (token != MF_JSON_STRING)
        return MF_OK;
    if (mf_json_text(&file->json, text, sizeof(text), &size, &more) != MF_OK)
        return file->json.reader->env->error.status;
    if (!more)
        file->found(file->user, path, (struct mf_str){ text, (size_t)size });
    return MF_OK;
}

enum mf_status mf_json_file_read(struct mf_env *env, const char *path,
                                 uint64_t most,
                                 void (*found)(void *user, const char *path,
                                               struct mf_str value),
                                 void *user)
{
    struct file file = { .found = found, .user = user };
    struct mf_source source = { 0 };
    struct mf_reader reader;
    enum mf_status status;

    mf_clear_error(env);
    status = mf_source_open_file(env, path, &source, NULL);
    if (status == MF_OK)
        status = mf_source_check_size(env, &source, most);
    if (status == MF_OK)
        status = mf_reader_init(&reader, env, &source, NULL, 0);
    if (status == MF_OK) {
        mf_json_init(&file.json, &reader);
        status = mf_json_walk(&file.json, visit, &file);
        mf_reader_release(&reader);
    }
    mf_source_close(&source);
    return status;
}
