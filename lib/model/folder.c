/* SPDX-License-Identifier: MIT
 *
 * folder.c - the models in a folder
 *
 * Only names are looked at: which files are models, by their suffix, and which
 * are shards of one.  No file is opened.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/model.h"
#include "lib/model/open_parts.h"

struct entry {
    const char *path; /* folder and name, in the arena */
    const char *name; /* its last component */
    bool link;        /* a symbolic one */
};

struct listing {
    struct mf_env *env;
    struct mf_arena arena;
    struct entry *entry;
    size_t count, room;
    uint32_t *order;
    bool folders; /* list subfolders, not models */
};

static bool is_model_name(const struct mf_env *env, const char *name)
{
    for (size_t i = 0; env->formats[i]; i++)
        if (!env->formats[i]->accessory && !env->formats[i]->unlisted &&
            mf_name_ends(name, env->formats[i]->suffix))
            return true;
    return false;
}

static enum mf_status make_room(struct listing *listing)
{
    size_t room = listing->room ? listing->room * 2 : 16;
    struct entry *moved;

    if (listing->count < listing->room)
        return MF_OK;
    moved =
        mf_env_resize(listing->env, listing->entry,
                      listing->room * sizeof(*moved), room * sizeof(*moved));
    if (!moved)
        return listing->env->error.status;
    listing->entry = moved;
    listing->room = room;
    return MF_OK;
}

static enum mf_status add_entry(struct listing *listing, const char *folder,
                                const char *name, bool link)
{
    size_t size = strlen(folder), slash = size > 0 && folder[size - 1] != '/';
    char *path;

    if (make_room(listing) != MF_OK)
        return listing->env->error.status;
    path = mf_arena_text(&listing->arena, size + slash + strlen(name));
    if (!path)
        return listing->env->error.status;
    memcpy(path, folder, size);
    memcpy(path + size, "/", slash);
    memcpy(path + size + slash, name, strlen(name));
    listing->entry[listing->count++] =
        (struct entry){ path, path + size + slash, link };
    return MF_OK;
}

static const char *const checkpoints[] = { "pytorch_model.bin",
                                           "pytorch_model.bin.index.json" };
#define CHECKPOINTS (sizeof(checkpoints) / sizeof(*checkpoints))

/* A checkpoint of PyTorch, by the names that transformers gives it, in a folder
 * that has no other model. */
static enum mf_status add_checkpoint(struct listing *listing,
                                     const char *folder, int fd)
{
    for (size_t i = 0; i < CHECKPOINTS; i++)
        if (faccessat(fd, checkpoints[i], F_OK, 0) == 0)
            return add_entry(listing, folder, checkpoints[i], false);
    return MF_OK;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The same of a folder whose names are known. */
static enum mf_status add_names(struct listing *listing,
                                const char *const *names, size_t count)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        if (*names[i] != '.' && is_model_name(listing->env, names[i]))
            status = add_entry(listing, "", names[i], false);
    for (size_t i = 0; i < CHECKPOINTS && listing->count == 0; i++)
        if (status == MF_OK && is_among(checkpoints[i], names, count))
            status = add_entry(listing, "", checkpoints[i], false);
    return status;
}

/* Adds the name if it is of the kind that is listed.  A broken symbolic link
 * counts as a model, so that opening it reports the error. */
static enum mf_status try_name(struct listing *listing, const char *folder,
                               int fd, const char *name)
{
    struct stat status, itself;
    bool found, link;

    if (name[0] == '.' ||
        (!listing->folders && !is_model_name(listing->env, name)))
        return MF_OK;
    found = fstatat(fd, name, &status, 0) == 0;
    if (!found && listing->folders && errno != ENOENT && errno != ELOOP)
        return mf_fail_system(
            listing->env, MF_ERR_IO, MF_NO_OFFSET, errno,
            "cannot access '%s' in the folder: %s",
            mf_quote((struct mf_str){ name, strlen(name) }).text,
            mf_errno_text(errno));
    if ((found && S_ISDIR(status.st_mode)) != listing->folders)
        return MF_OK;
    link = listing->folders &&
           fstatat(fd, name, &itself, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(itself.st_mode);
    return add_entry(listing, folder, name, link);
}

static enum mf_status read_folder(struct listing *listing, const char *folder)
{
    enum mf_status status = MF_OK;
    struct mf_entries entries;
    const char *name;

    mf_entries_begin(&entries, mf_open_directory(folder));
    if (entries.folder < 0)
        return mf_fail_system(listing->env, mf_status_of(errno), MF_NO_OFFSET,
                              errno, "cannot open the folder: %s",
                              mf_errno_text(errno));
    errno = 0;
    while (status == MF_OK && (name = mf_entries_next(&entries)) != NULL) {
        status = try_name(listing, folder, entries.folder, name);
        errno = 0;
    }
    if (status == MF_OK && errno != 0)
        status = mf_fail_system(listing->env, mf_status_of(errno), MF_NO_OFFSET,
                                errno, "cannot read the folder: %s",
                                mf_errno_text(errno));
    if (status == MF_OK && listing->count == 0 && !listing->folders)
        status = add_checkpoint(listing, folder, entries.folder);
    mf_entries_end(&entries);
    return status;
}

static bool by_name(const void *table, uint32_t a, uint32_t b)
{
    const struct entry *entry = table;

    return strcmp(entry[a].name, entry[b].name) < 0;
}

/* Sets listing->order, by name. */
static enum mf_status sort_entries(struct listing *listing)
{
    listing->order =
        mf_arena_take(&listing->arena, listing->count * sizeof(uint32_t));
    if (!listing->order)
        return listing->env->error.status;
    for (size_t i = 0; i < listing->count; i++)
        listing->order[i] = (uint32_t)i;
    mf_sort(listing->order, listing->count, by_name, listing->entry);
    return MF_OK;
}

/* ---- which files are one model ---- */

/* True if a and b are the names of two shards of one model. */
static bool same_model(const char *a, const char *b)
{
    struct mf_shard_name left, right;

    return mf_shard_name_match(a, &left) && mf_shard_name_match(b, &right) &&
           left.prefix_size == right.prefix_size &&
           memcmp(a, b, left.prefix_size) == 0 && left.count == right.count &&
           strcmp(left.suffix, right.suffix) == 0;
}

/* True if the folder has a file of that prefix and suffix. */
static bool has_name(const struct listing *listing, struct mf_str prefix,
                     const char *suffix)
{
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->entry[i].name;

        if (mf_name_ends(name, suffix) &&
            strlen(name) - strlen(suffix) == prefix.size &&
            memcmp(name, prefix.at, prefix.size) == 0)
            return true;
    }
    return false;
}

/* True if a list of shards in the folder covers this file:
 * model.safetensors.index.json for model-00001-of-00002.safetensors, and for a
 * single model.safetensors too. */
static bool has_index(const struct listing *listing, const char *name)
{
    const struct mf_env *env = listing->env;

    for (size_t i = 0; env->formats[i]; i++) {
        const struct mf_format *list = mf_format_list_of(env, env->formats[i]);
        struct mf_str prefix = { name, strlen(name) };
        struct mf_shard_name shard;

        if (!list || !mf_name_ends(name, env->formats[i]->suffix))
            continue;
        prefix.size = mf_shard_name_match(name, &shard)
                          ? shard.prefix_size - 1
                          : prefix.size - strlen(env->formats[i]->suffix);
        if (has_name(listing, prefix, list->suffix))
            return true;
    }
    return false;
}

static enum mf_status
report_models(const struct listing *listing,
              enum mf_status (*found)(void *, const char *, enum mf_shards),
              void *user)
{
    enum mf_status status = MF_OK;
    const char *previous = NULL;

    for (size_t i = 0; i < listing->count && status == MF_OK; i++) {
        const struct entry *entry = &listing->entry[listing->order[i]];
        bool again = previous && same_model(previous, entry->name);
        struct mf_shard_name shard;

        previous = entry->name;
        /* Sorted by name, the shards of a model are adjacent. */
        if (again || has_index(listing, entry->name))
            continue;
        status =
            found(user, entry->path,
                  mf_shard_name_match(entry->name, &shard) ? MF_SHARDS_BY_NAME
                                                           : MF_SHARDS_AUTO);
    }
    return status;
}

/* Reads the folder and sorts its names; call release() even if it fails. */
static enum mf_status list(struct listing *listing, const char *folder)
{
    enum mf_status status;

    mf_clear_error(listing->env);
    mf_arena_init(&listing->arena, listing->env);
    status = read_folder(listing, folder);
    return status == MF_OK ? sort_entries(listing) : status;
}

static void release(struct listing *listing)
{
    mf_release(listing->env, listing->entry,
               listing->room * sizeof(*listing->entry));
    mf_arena_release(&listing->arena);
}

enum mf_status
mf_folder_list_names(struct mf_env *env, const char *const *names, size_t count,
                     enum mf_status (*found)(void *user, const char *path,
                                             enum mf_shards shards),
                     void *user)
{
    struct listing listing = { .env = env };
    enum mf_status status;

    mf_arena_init(&listing.arena, env);
    status = add_names(&listing, names, count);
    if (status == MF_OK)
        status = sort_entries(&listing);
    if (status == MF_OK)
        status = report_models(&listing, found, user);
    release(&listing);
    return status;
}

enum mf_status mf_folder_list(struct mf_env *env, const char *folder,
                              enum mf_status (*found)(void *user,
                                                      const char *path,
                                                      enum mf_shards shards),
                              void *user)
{
    MF_NEED(NULL, env);
    MF_NEED(env, folder);
    MF_NEED(env, found);

    struct listing listing = { .env = env };
    enum mf_status status = list(&listing, folder);

    if (status == MF_OK)
        status = report_models(&listing, found, user);
    release(&listing);
    return status;
}

enum mf_status mf_folder_subfolders(struct mf_env *env, const char *folder,
                                    enum mf_status (*found)(void *user,
                                                            const char *path,
                                                            bool link),
                                    void *user)
{
    MF_NEED(NULL, env);
    MF_NEED(env, folder);
    MF_NEED(env, found);

    struct listing listing = { .env = env, .folders = true };
    enum mf_status status = list(&listing, folder);

    for (size_t i = 0; i < listing.count && status == MF_OK; i++) {
        const struct entry *entry = &listing.entry[listing.order[i]];

        status = found(user, entry->path, entry->link);
    }
    release(&listing);
    return status;
}
