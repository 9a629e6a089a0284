/* SPDX-License-Identifier: MIT
 *
 * folder_templates.c - chat templates in files next to a model
 *
 * transformers takes chat_template.jinja, or the value of "chat_template" in
 * tokenizer_config.json: a text, or a list of texts with names.
 */
#include <stdio.h>
#include <string.h>

#include "lib/folder/folder.h"
#include "lib/json/json_walk.h"
#include "lib/vocab/templates.h"

#define TEMPLATES_MAX 16 /* publishers have up to four */
#define PIECE         1024

/* Where the texts in a JSON file begin. */
struct places {
    struct mf_json *json;
    uint64_t offset[TEMPLATES_MAX];
    size_t count;
};

static bool is_template(const char *path)
{
    static const char head[] = "chat_template.";
    const char *dot;

    if (strcmp(path, "chat_template") == 0)
        return true;
    if (strncmp(path, head, sizeof(head) - 1) != 0)
        return false;
    dot = strchr(path + sizeof(head) - 1, '.');
    return dot && strcmp(dot, ".template") == 0;
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct places *places = user;

    if (token == MF_JSON_STRING && is_template(path) &&
        places->count < TEMPLATES_MAX)
        places->offset[places->count++] = places->json->token_offset;
    return !*path || strncmp(path, "chat_template", 13) == 0
               ? MF_OK
               : mf_json_skip(places->json, token);
}

/* ---- texts ---- */

struct text {
    struct mf_sidecar file;
    uint64_t offset;
    bool is_json, more;
    char piece[PIECE];
};

static enum mf_status rewind_text(struct mf_template_text *text)
{
    struct text *of = text->user;

    mf_reader_seek(&of->file.reader, of->offset);
    of->more = true;
    if (of->is_json) {
        mf_json_init(&of->file.json, &of->file.reader);
        if (mf_json_next(&of->file.json) != MF_JSON_STRING)
            return mf_fail(of->file.env, MF_ERR_IO, of->offset,
                           "the file changed while it was read");
    }
    return MF_OK;
}

static enum mf_status next_piece(struct mf_template_text *text,
                                 struct mf_str *piece)
{
    struct text *of = text->user;
    uint64_t size = 0, left;

    if (of->is_json && of->more) {
        if (mf_json_text(&of->file.json, of->piece, PIECE, &size, &of->more) !=
            MF_OK)
            return of->file.env->error.status;
    } else if (!of->is_json) {
        left = mf_reader_left(&of->file.reader);
        size = left < PIECE ? left : PIECE;
        mf_take_bytes(&of->file.reader, of->piece, (size_t)size);
        if (mf_reader_check(&of->file.reader, "the template") != MF_OK)
            return of->file.env->error.status;
    }
    *piece = (struct mf_str){ of->piece, (size_t)size };
    return MF_OK;
}

/* Checks the text at an offset of the file. */
static enum mf_status check_text(struct mf_folder *folder, const char *name,
                                 uint64_t offset, bool is_json)
{
    struct mf_env *env = folder->model->env;
    struct text *of = mf_alloc(env, sizeof(*of));
    struct mf_template_report *report = mf_alloc(env, sizeof(*report));
    struct mf_template_text text = {
        rewind_text, next_piece, of, { 0 }, false
    };
    const struct mf_template_use use = {
        .name = { name, strlen(name) },
        .offset = MF_NO_OFFSET,
        .llama = MF_NOTE,
        .jinja2 = MF_ERROR,
        .llama_does = "llama.cpp ends where it is used",
    };
    enum mf_status status = env->error.status;

    if (of && report) {
        *of = (struct text){ .offset = offset, .is_json = is_json };
        status = mf_sidecar_open(&of->file, folder->model, folder->arena, name);
        if (status == MF_OK)
            status = mf_template_check(env, &text, report);
        if (status == MF_OK)
            mf_template_note(&folder->model->index, &use, report);
        folder->model->sidecar_template = true;
        status = mf_sidecar_close(&of->file, status);
    }
    mf_release(env, report, sizeof(*report));
    mf_release(env, of, sizeof(*of));
    return status;
}

/* ---- files ---- */

static enum mf_status check_json(struct mf_folder *folder, const char *name)
{
    struct places places = { 0 };
    struct mf_sidecar file;
    enum mf_status status;
    bool good;

    if (!mf_sidecar_exists(folder->model, folder->arena, name))
        return folder->model->env->error.status;
    status = mf_sidecar_open(&file, folder->model, folder->arena, name);
    places.json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, &places);
    status = mf_folder_close(folder, &file, status, MF_ERROR, &good);
    for (size_t i = 0; i < places.count && good && status == MF_OK; i++)
        status = check_text(folder, name, places.offset[i], true);
    return status;
}

enum mf_status mf_folder_check_templates(struct mf_folder *folder)
{
    static const char jinja[] = "chat_template.jinja";

    if (mf_sidecar_exists(folder->model, folder->arena, jinja) &&
        check_text(folder, jinja, 0, false) != MF_OK)
        return folder->model->env->error.status;
    if (check_json(folder, "tokenizer_config.json") != MF_OK)
        return folder->model->env->error.status;
    return check_json(folder, "chat_template.json");
}
