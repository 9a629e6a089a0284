/* SPDX-License-Identifier: MIT
 *
 * hub_open.c - models of the Hub: which file is meant, and what is checked
 */
#include "cli/remote/hub_open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/remote/asking.h"
#include "cli/remote/hub_file.h"

/* ---- which file ---- */

/* Names of a listing that are in a folder. */
struct names {
    const char **at;
    size_t count, room;
};

static bool is_in(const char *path, const char *folder, bool below)
{
    size_t size = strlen(folder);

    if (size > 0 && (strncmp(path, folder, size) != 0 || path[size] != '/'))
        return false;
    path += size > 0 ? size + 1 : 0;
    return below || !strchr(path, '/');
}

/* below: those in its folders, too. */
static int collect(const struct repository *repository, bool below,
                   struct names *out)
{
    const struct listing *listing = repository->listing;

    *out = (struct names){ .room = listing->count + 1 };
    out->at =
        mf_env_resize(the_hub.run->env, NULL, 0, out->room * sizeof(*out->at));
    if (!out->at)
        return ENOMEM;
    for (size_t i = 0; i < listing->count; i++) {
        const char *path =
            listing_path(listing, &listing->file[listing->order[i]]);

        if (is_in(path, repository->name.path, below))
            out->at[out->count++] = path;
    }
    return 0;
}

static void release(struct names *names)
{
    if (names->at)
        mf_env_resize(the_hub.run->env, names->at,
                      names->room * sizeof(*names->at), 0);
}

struct choice {
    char path[HUB_PATH_SIZE + 32]; /* a listed one is shorter */
    enum mf_shards shards;
};

/* A folder without a model, but with config.json: that, for a plan. */
static bool choose_bare(const struct repository *repository,
                        struct choice *choice)
{
    const char *folder = repository->name.path;

    snprintf(choice->path, sizeof(choice->path), "%s%sconfig.json", folder,
             *folder ? "/" : "");
    choice->shards = MF_SHARDS_ALONE;
    return the_hub.run->may_be_bare &&
           listing_find(repository->listing, choice->path);
}

/* The model in the folder, else in the folders below: of several, the error
 * lists them.  A name as of the folder is what the library ranks. */
static enum mf_status choose_of(const struct repository *repository, bool below,
                                struct choice *choice, size_t *count)
{
    struct mf_env *env = the_hub.run->env;
    size_t size = strlen(repository->name.path);
    enum mf_status status = MF_ERR_MEMORY;
    struct names names;

    if (collect(repository, below, &names) == 0) {
        *count = names.count;
        for (size_t i = 0; i < names.count; i++)
            names.at[i] += size > 0 ? size + 1 : 0;
        status = mf_names_choose(
            env, names.at, names.count, choice->path + size + (size > 0),
            sizeof(choice->path) - size - 1, &choice->shards);
        memcpy(choice->path, repository->name.path, size);
        if (size > 0)
            choice->path[size] = '/';
    }
    release(&names);
    return status;
}

/* A name of the command line is a file, or a folder.  *reason: a number of
 * errno where it is not the library that has failed. */
static enum mf_status choose(struct repository *repository,
                             struct choice *choice, int *reason)
{
    enum mf_status status;
    size_t count = 0;

    *choice = (struct choice){ .shards = MF_SHARDS_AUTO };
    strcpy(choice->path, repository->name.path);
    if (*choice->path &&
        hub_cache_find(repository->name.repository, repository->commit,
                       choice->path, (char[PATH_MAX]){ "" }))
        return MF_OK;
    *reason = hub_list(repository);
    if (*reason != 0 ||
        (*choice->path && listing_find(repository->listing, choice->path)))
        return MF_OK;
    status = choose_of(repository, false, choice, &count);
    if (status == MF_ERR_FORMAT && choose_bare(repository, choice))
        return MF_OK;
    if (status == MF_ERR_FORMAT)
        status = choose_of(repository, true, choice, &count);
    if (status == MF_ERR_FORMAT && count == 0 && *repository->name.path) {
        *reason = hub_no_such_file();
        return MF_OK;
    }
    return status;
}

enum mf_status hub_open(struct run *run, const char *operand,
                        const struct mf_open_options *options,
                        struct mf_model **out)
{
    struct repository *repository = hub_find(operand);
    char name[HUB_REPOSITORY_SIZE + HUB_PATH_SIZE + 64];
    struct mf_open_options known = *options;
    struct mf_byte_source source;
    struct choice choice;
    enum mf_status status = MF_OK;
    int reason = repository
                     ? hub_resolve(repository)
                     : asking_failed(EIO, "name the model on the command line");

    if (reason == 0)
        status = choose(repository, &choice, &reason);
    if (status != MF_OK)
        return status;
    if (reason == 0)
        reason = hub_open_path(repository, choice.path, &source);
    if (reason != 0)
        return asking_open_failed(run, operand, reason, options, out);
    hub_put_name(repository, choice.path, name, sizeof(name));
    source.name = name;
    if (known.shards == MF_SHARDS_AUTO)
        known.shards = choice.shards;
    return mf_model_open_source(run->env, &source, &known, out);
}

/* ---- the end ---- */

static int check_file(const struct repository *repository, const char *name)
{
    struct hub_file *file = hub_find_named(repository, name);
    uint8_t *room;
    int reason;

    if (!file || !file->has_digest || file->checked)
        return 0;
    room = mf_env_resize(the_hub.run->env, NULL, 0, HUB_PIECE);
    if (!room)
        return ENOMEM;
    reason = hub_read_rest(file, room);
    mf_env_resize(the_hub.run->env, room, HUB_PIECE, 0);
    return reason;
}

int hub_check(const struct mf_model *model, const char *operand)
{
    const struct repository *repository = hub_find(operand);
    struct mf_shard shard = { NULL, 0, 0, 0, { 0 } };
    int reason = 0;

    for (size_t i = 0; reason == 0 && mf_shard_at(model, i, &shard); i++)
        reason = check_file(repository, shard.path);
    return reason;
}
