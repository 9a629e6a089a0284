/* SPDX-License-Identifier: MIT
 *
 * scan.c - what stores contain: models, files and problems
 */
#include "cli/commands/store/store.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool scan_ends(const char *text, const char *suffix)
{
    size_t size = strlen(text), end = strlen(suffix);

    return size > end && strcmp(text + size - end, suffix) == 0;
}

/* ---- names ---- */

bool scan_first_base(const struct scan_base *base, size_t count,
                     char out[PATH_MAX])
{
    for (size_t i = 0; i < count; i++)
        if (base[i].set && *base[i].set)
            return snprintf(out, PATH_MAX, "%s%s", base[i].set, base[i].below) <
                   PATH_MAX;
    return false;
}

bool scan_has_name(const char *folder, bool (*passes)(const char *name))
{
    struct mf_entries entries;
    const char *name;
    bool found = false;

    mf_entries_begin(&entries,
                     open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (!found && (name = mf_entries_next(&entries)) != NULL)
        found = passes(name);
    mf_entries_end(&entries);
    return found;
}

/* ---- tables ---- */

static void add(struct scan *scan, struct buffer *buffer, const void *row,
                size_t size)
{
    if (!scan->failed)
        scan->failed = !buffer_add(scan->run, buffer, row, size);
}

static size_t add_text(struct scan *scan, const char *text)
{
    size_t at = scan->text.size;

    add(scan, &scan->text, text, strlen(text) + 1);
    return scan->failed ? 0 : at;
}

void scan_problem(struct scan *scan, enum store_trouble trouble,
                  const char *path, const char *format, ...)
{
    struct store_problem problem = { .trouble = trouble };
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    problem.path = add_text(scan, path);
    problem.text = add_text(scan, text);
    add(scan, &scan->problems, &problem, sizeof(problem));
}

/* ---- files ---- */

static void add_file(struct scan *scan, const struct walk_entry *entry,
                     const char *hex, bool partial)
{
    struct store_file file = { .path = add_text(scan, entry->path),
                               .device = entry->status.st_dev,
                               .inode = entry->status.st_ino,
                               .size = (uint64_t)entry->status.st_size,
                               .partial = partial };

    if (hex) {
        file.digest = strlen(hex) == 64 ? DIGEST_SHA256 : DIGEST_GIT;
        snprintf(file.hex, sizeof(file.hex), "%s", hex);
    }
    add(scan, &scan->files, &file, sizeof(file));
}

void scan_file(struct scan *scan, const struct walk_entry *entry,
               const char *hex)
{
    add_file(scan, entry, hex, false);
}

void scan_partial(struct scan *scan, const struct walk_entry *entry)
{
    add_file(scan, entry, NULL, true);
    scan_problem(scan, TROUBLE_PARTIAL, entry->path, "half-fetched: %s so far",
                 size_text((uint64_t)entry->status.st_size).at);
}

/* ---- models ---- */

void scan_use(struct scan *scan, const char *path)
{
    struct store_use use = { .model = (uint32_t)scan_model_count(scan) - 1 };
    struct stat status;

    if (scan->failed || stat(path, &status) != 0)
        return;
    use.device = status.st_dev;
    use.inode = status.st_ino;
    use.size = (uint64_t)status.st_size;
    add(scan, &scan->uses, &use, sizeof(use));
    scan_models(scan)[use.model].size += use.size;
}

/* What a GGUF file itself says, else the type that most bytes have. */
static void find_type(struct mf_model *model, char out[24])
{
    struct mf_meta meta;
    struct mf_tensor tensor;
    uint64_t most = 0;

    if (mf_model_fact(model, MF_FACT_FILE_TYPE, &meta, NULL) &&
        meta.type == MF_VALUE_STRING && meta.text.size > 0) {
        snprintf(out, 24, "%.23s", meta.text.at);
        return;
    }
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (tensor.data.size > most) {
            most = tensor.data.size;
            snprintf(out, 24, "%.23s", tensor.type);
        }
}

/* By its header; NULL after a problem. */
static struct mf_model *open_model(struct scan *scan, const char *path,
                                   enum mf_shards shards)
{
    struct mf_open_options options = { .size = sizeof(options),
                                       .shards = shards,
                                       .tensors_only = true,
                                       .allow_missing = true };
    struct mf_model *model;

    if (mf_model_open(scan->run->env, path, &options, &model) == MF_OK) {
        scan->run->size += mf_model_info(model)->file_size;
        return model;
    }
    scan_problem(scan, TROUBLE_INVALID, path, "cannot be read as a model: %s",
                 mf_env_error(scan->run->env)->message);
    return NULL;
}

/* base: of path, where the name in the repository begins. */
static void add_model(struct scan *scan, const char *name, const char *path,
                      size_t base, enum mf_shards shards,
                      struct mf_model *model)
{
    struct store_model row = { .place = scan->place,
                               .name = add_text(scan, name),
                               .path = add_text(scan, path),
                               .shards = shards };

    row.file = row.path + base;
    if (model) {
        snprintf(row.format, sizeof(row.format), "%s",
                 mf_model_info(model)->format);
        find_type(model, row.type);
    }
    add(scan, &scan->models, &row, sizeof(row));
}

void scan_model(struct scan *scan, const char *name, const char *path)
{
    struct mf_model *model =
        *path ? open_model(scan, path, MF_SHARDS_AUTO) : NULL;

    add_model(scan, name, path, strlen(path), MF_SHARDS_AUTO, model);
    mf_model_close(model);
}

size_t scan_show_name(const struct scan *scan, const struct store_model *model)
{
    struct mf_str name = str_of(scan_text(scan, model->name));
    struct mf_str file = str_of(scan_text(scan, model->file));
    bool both = name.size > 0 && file.size > 0;
    struct out *out = &scan->run->out;

    out_escaped(out, name, "");
    out_text(out, both ? "/" : "");
    out_escaped(out, file, "");
    return out_width(name) + both + out_width(file);
}

/* ---- models in folders ---- */

struct below {
    struct scan *scan;
    const char *name;
    size_t base;
    unsigned depth;
};

static enum mf_status add_found(void *user, const char *path,
                                enum mf_shards shards)
{
    struct below *below = user;
    struct mf_model *model = open_model(below->scan, path, shards);
    struct mf_shard shard;

    add_model(below->scan, below->name, path, below->base, shards, model);
    if (!model)
        scan_use(below->scan, path);
    for (size_t i = 0; model && mf_shard_at(model, i, &shard); i++)
        scan_use(below->scan, shard.path);
    mf_model_close(model);
    return MF_OK;
}

#define DEPTH_MAX 8

/* A folder of the cache of huggingface_hub, which is read by another layout:
 * llama.cpp has both in one. */
static bool is_repository(const char *folder)
{
    const char *slash = strrchr(folder, '/');

    return slash && strncmp(slash, "/models--", strlen("/models--")) == 0;
}

static enum mf_status go_below(void *user, const char *folder, bool link)
{
    struct below *below = user;

    if (link || below->depth == DEPTH_MAX ||
        (below->depth > 0 && is_repository(folder)))
        return MF_OK;
    below->depth++;
    if (mf_folder_list(below->scan->run->env, folder, add_found, below) ==
        MF_OK)
        mf_folder_subfolders(below->scan->run->env, folder, go_below, below);
    below->depth--;
    return MF_OK;
}

void scan_folder_models(struct scan *scan, const char *name, const char *folder,
                        size_t base)
{
    struct below below = { scan, name, base, 0 };

    if (scan->opens)
        go_below(&below, folder, false);
}

void scan_release(struct scan *scan)
{
    buffer_release(scan->run, &scan->text);
    buffer_release(scan->run, &scan->models);
    buffer_release(scan->run, &scan->files);
    buffer_release(scan->run, &scan->uses);
    buffer_release(scan->run, &scan->problems);
}
