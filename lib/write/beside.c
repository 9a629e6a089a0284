/* SPDX-License-Identifier: MIT
 *
 * beside.c - what is next to a model, for a folder that gets its tensors
 *
 * Weights are not copied, nor what lists or compresses them; all else that
 * transformers may look for is small.  config.json keeps its text but for the
 * values that are not true any more.
 */
#include "lib/write/convert.h"

#include <errno.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/nearby.h"
#include "lib/program.h"

struct copying {
    struct mf_env *env;
    struct mf_stage *stage;
    struct mf_arena *arena;
    const struct mf_model *model;
    const struct mf_beside *how;
};

/* ---- which files ---- */

static bool is_one_of(struct mf_str name, const char *const *names, bool ends)
{
    for (size_t i = 0; names[i]; i++)
        if (ends ? mf_str_ends(name, names[i]) : mf_str_is(name, names[i]))
            return true;
    return false;
}

static bool is_wanted(const struct mf_beside *how, const char *file)
{
    static const char *const ends[] = { ".json",  ".jinja", ".txt",
                                        ".model", ".py",    ".tiktoken",
                                        ".md",    ".vocab", "LICENSE",
                                        "NOTICE", NULL };
    static const char *const compresses[] = { "hf_quant_config.json",
                                              "quantize_config.json",
                                              "quant_config.json", NULL };
    struct mf_str name = { file, strlen(file) };

    if (*file == '.' || mf_str_ends(name, ".index.json") ||
        mf_str_is(name, "config.json") ||
        (how->decoded && is_one_of(name, compresses, false)))
        return false;
    return is_one_of(name, ends, true) ||
           mf_str_begins(name, "tokenizer.model.v");
}

/* ---- a file ---- */

static enum mf_status copy_source(struct copying *work, const char *name,
                                  const struct mf_source *source)
{
    struct mf_stage_file out;
    enum mf_status status = mf_stage_open(work->stage, name, &out);

    if (status == MF_OK)
        mf_put_span(&out.sink, source, (struct mf_span){ 0, source->size });
    return mf_stage_close(&out, status);
}

/* name: with the subfolder that it is in, for both folders. */
static enum mf_status copy_file(struct copying *work, const char *name)
{
    struct mf_str text = { name, strlen(name) };
    const char *path =
        mf_path_sibling(work->arena, work->model->file[0].path, text);
    struct mf_source source;
    struct stat kind;
    enum mf_status status;

    if (!path)
        return work->env->error.status;
    if (stat(path, &kind) != 0 || !S_ISREG(kind.st_mode))
        return MF_OK; /* a folder with such a name */
    status = mf_sidecar_beside(work->model, path, &source);
    if (status != MF_OK)
        return mf_sidecar_fail(work->env, name);
    status = copy_source(work, name, &source);
    if (status == MF_OK)
        status = mf_source_unchanged(work->env, &source);
    mf_source_close(&source);
    return status;
}

/* The files of a folder; inside: of that one in it, which may be missing. */
static enum mf_status copy_folder(struct copying *work, const char *inside)
{
    const char *path =
        mf_path_sibling(work->arena, work->model->file[0].path,
                        (struct mf_str){ *inside ? inside : ".",
                                         *inside ? strlen(inside) : 1 });
    struct mf_entries entries;
    const char *name;
    bool made = !*inside;
    enum mf_status status = path ? MF_OK : work->env->error.status;

    if (status != MF_OK)
        return status;
    mf_entries_begin(&entries, mf_open_directory(path));
    while (status == MF_OK && (name = mf_entries_next(&entries)) != NULL) {
        size_t size = strlen(inside) + strlen(name) + 1;
        bool config = *inside && strcmp(name, "config.json") == 0;
        char *whole;

        if ((!config && !is_wanted(work->how, name)) || size > 255)
            continue;
        whole = mf_arena_text(work->arena, size);
        if (!whole)
            return work->env->error.status;
        sprintf(whole, "%s%s%s", inside, *inside ? "/" : "", name);
        if (!made)
            status = mf_stage_folder(work->stage, inside);
        made = true;
        if (status == MF_OK)
            status = copy_file(work, whole);
    }
    mf_entries_end(&entries);
    return status;
}

/* ---- config.json ---- */

struct text {
    char *at;
    size_t size, room;
};

/* Puts other bytes in the place of some. */
static void replace(struct text *text, size_t from, size_t to, const char *by)
{
    size_t size = strlen(by);

    memmove(text->at + from + size, text->at + to, text->size - to);
    memcpy(text->at + from, by, size);
    text->size = text->size - (to - from) + size;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The place of the quote that begins the text which ends before `end`. */
static size_t quote_before(const struct text *text, size_t end)
{
    size_t at = end;

    while (at > 0 && text->at[at - 1] != '"')
        at--;
    at -= at > 0; /* the closing one */
    while (at > 0) {
        size_t escapes = 0;

        at--;
        while (text->at[at] == '"' && escapes < at &&
               text->at[at - 1 - escapes] == '\\')
            escapes++;
        if (text->at[at] == '"' && escapes % 2 == 0)
            return at;
    }
    return 0;
}

/* Takes a member away, with the comma before it, or after it. */
static void remove_member(struct text *text, size_t value, size_t end)
{
    size_t from = quote_before(text, value);

    while (from > 0 && is_space(text->at[from - 1]))
        from--;
    if (from > 0 && text->at[from - 1] == ',') {
        replace(text, from - 1, end, "");
        return;
    }
    while (end < text->size && is_space(text->at[end]))
        end++;
    end += end < text->size && text->at[end] == ',';
    replace(text, from, end, "");
}

static const struct mf_node *find(const struct mf_node *root, const char *path)
{
    const struct mf_node *node = mf_node_at(root, path);

    return node && node->kind != MF_NODE_NULL ? node : NULL;
}

/* A change at a time, so that offsets fit the text.  *done: there is
 * nothing more to change. */
static enum mf_status change(struct copying *work, struct text *text,
                             const struct mf_node *root, bool *done)
{
    static const char *const gone[] = { "quantization_config",
                                        "text_config.quantization_config",
                                        "compression_config", NULL };
    static const char *const types[] = { "torch_dtype", "dtype",
                                         "text_config.torch_dtype",
                                         "text_config.dtype", NULL };
    const struct mf_node *node;

    *done = false;
    for (size_t i = 0; work->how->decoded && gone[i]; i++)
        if ((node = find(root, gone[i])) != NULL) {
            if (node->kind != MF_NODE_OBJECT)
                return mf_fail(work->env, MF_ERR_CORRUPT, node->offset,
                               "config.json: '%s' is not an object", gone[i]);
            remove_member(text, (size_t)node->offset, (size_t)node->number.u64);
            return MF_OK;
        }
    for (size_t i = 0; work->how->dtype && types[i]; i++)
        if ((node = find(root, types[i])) != NULL &&
            node->kind == MF_NODE_STRING && text->at[node->offset] == '"' &&
            !mf_str_is(node->text, work->how->dtype)) {
            size_t begin = (size_t)node->offset + 1, end = begin;

            while (text->at[end] != '"')
                end += text->at[end] == '\\' ? 2 : 1;
            replace(text, begin, end, work->how->dtype);
            return MF_OK;
        }
    *done = true;
    return MF_OK;
}

static enum mf_status read_tree(struct copying *work, struct mf_arena *arena,
                                const struct text *text, struct mf_node **root)
{
    static const char *const left[] = { "quantization_config",
                                        "text_config.quantization_config",
                                        "compression_config", NULL };
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
    enum mf_status status;

    mf_source_open_memory("config.json", text->at, text->size, &source);
    status = mf_reader_init(&reader, work->env, &source, NULL, 0);
    if (status != MF_OK)
        return status;
    mf_json_init(&json, &reader);
    status = mf_tree_read_but(&json, arena, MF_SIDECAR_LIMIT, left, root);
    mf_reader_release(&reader);
    return status == MF_OK ? MF_OK : mf_sidecar_fail(work->env, "config.json");
}

/* A key that is there many times has to be taken away as often. */
#define CHANGES 64

static enum mf_status change_all(struct copying *work, struct text *text)
{
    bool done = false;

    for (unsigned i = 0; i < CHANGES && !done; i++) {
        struct mf_node *root = NULL;
        struct mf_arena arena;
        enum mf_status status;

        mf_arena_init(&arena, work->env);
        status = read_tree(work, &arena, text, &root);
        if (status == MF_OK)
            status = change(work, text, root, &done);
        mf_arena_release(&arena);
        if (status != MF_OK)
            return status;
    }
    return done ? MF_OK
                : mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                          "config.json: keys are there too often");
}

static enum mf_status read_config(struct copying *work, struct text *text)
{
    struct mf_sidecar file;
    enum mf_status status =
        mf_sidecar_open(&file, work->model, work->arena, "config.json");

    if (status == MF_OK && file.source.size > MF_SIDECAR_LIMIT)
        status = mf_fail(work->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                         "it has more than %llu bytes",
                         (unsigned long long)MF_SIDECAR_LIMIT);
    if (status == MF_OK) {
        text->size = (size_t)file.source.size;
        /* A new type is longer than an old one by a few bytes. */
        text->room = text->size + 16 * (size_t)CHANGES;
        text->at = mf_arena_text(work->arena, text->room);
        status = text->at ? mf_source_read(work->env, &file.source, 0, text->at,
                                           text->size)
                          : work->env->error.status;
    }
    return mf_sidecar_close(&file, status);
}

static enum mf_status copy_config(struct copying *work)
{
    struct text text = { NULL, 0, 0 };
    struct mf_stage_file out;
    enum mf_status status;

    if (read_config(work, &text) != MF_OK || change_all(work, &text) != MF_OK)
        return work->env->error.status;
    status = mf_stage_open(work->stage, "config.json", &out);
    if (status == MF_OK)
        mf_put(&out.sink, text.at, text.size);
    return mf_stage_close(&out, status);
}

enum mf_status mf_beside_copy(const struct mf_model *model,
                              struct mf_stage *stage,
                              const struct mf_beside *how)
{
    struct mf_arena arena;
    struct copying work = { .env = model->env,
                            .stage = stage,
                            .arena = &arena,
                            .model = model,
                            .how = how };
    enum mf_status status;

    if (!mf_nearby_on_disk(model))
        return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the files next to the model cannot be listed, and a "
                       "folder of it needs them all");
    mf_arena_init(&arena, model->env);
    status = copy_config(&work);
    if (status == MF_OK)
        status = copy_folder(&work, "");
    if (status == MF_OK)
        status = copy_folder(&work, MF_SIDECAR_FOLDER);
    if (status == MF_OK)
        status = copy_folder(&work, "1_Pooling");
    mf_arena_release(&arena);
    return status;
}
