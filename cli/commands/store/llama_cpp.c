/* SPDX-License-Identifier: MIT
 *
 * llama_cpp.c - the cache of llama.cpp, before it used that of huggingface_hub
 *
 *     OWNER_NAME_FILE.gguf            a model
 *     manifest=OWNER=NAME=TAG.json    which file a tag means, and its SHA-256
 *     X.downloadInProgress            half-fetched
 *     X.etag, X.json                  of the server
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/store/store.h"

#define MANIFEST     "manifest="
#define MANIFEST_MAX ((uint64_t)1024 * 1024)

bool llama_cpp_usual(size_t index, char out[PATH_MAX])
{
    const struct scan_base bases[] = {
        { getenv("LLAMA_CACHE"), "" },
        { getenv("XDG_CACHE_HOME"), "/llama.cpp" },
        { getenv("HOME"), "/.cache/llama.cpp" },
    };

    return index == 0 &&
           scan_first_base(bases, sizeof(bases) / sizeof(*bases), out);
}

static bool is_model_or_manifest(const char *name)
{
    return scan_ends(name, ".gguf") ||
           strncmp(name, MANIFEST, strlen(MANIFEST)) == 0;
}

bool llama_cpp_is(const char *folder)
{
    return scan_has_name(folder, is_model_or_manifest);
}

/* ---- manifests ---- */

/* What one says of its files: the model, and what it sees or hears with, which
 * is not always fetched. */
struct manifest {
    struct {
        char name[256], hex[80];
    } file[2];
};

static void take_text(struct mf_str value, char *out, size_t room)
{
    if (value.size < room && !memchr(value.at, 0, value.size))
        snprintf(out, room, "%.*s", (int)value.size, value.at);
}

static void take_member(void *user, const char *path, struct mf_str value)
{
    static const char *const members[] = { "ggufFile.", "mmprojFile." };
    struct manifest *manifest = user;

    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(members[i]);

        if (strncmp(path, members[i], size) != 0)
            continue;
        if (strcmp(path + size, "rfilename") == 0)
            take_text(value, manifest->file[i].name,
                      sizeof(manifest->file[i].name));
        else if (strcmp(path + size, "lfs.sha256") == 0)
            take_text(value, manifest->file[i].hex,
                      sizeof(manifest->file[i].hex));
    }
}

struct store {
    struct scan *scan;
    const char *folder;
    const char *file; /* the one whose digest is looked for */
    char hex[80];     /* it; "" until it is found */
};

/* "OWNER_NAME_" of "manifest=OWNER=NAME=TAG.json"; a slash in the file's own
 * name is "_", too. */
static void cached_name(const char *manifest, const char *file, char *out,
                        size_t room)
{
    int size = (int)strcspn(manifest, "=");
    const char *name = manifest + size + (manifest[size] != 0);

    snprintf(out, room, "%.*s_%.*s_%s", size, manifest, (int)strcspn(name, "="),
             name, file);
    for (char *at = out; *at; at++)
        *at = *at == '/' ? '_' : *at;
}

/* The digest of the file that is looked for, if the manifest has it. */
static void take_digest(struct store *store, const char *entry,
                        const struct manifest *manifest)
{
    char name[3 * 256];

    for (size_t i = 0; i < 2; i++) {
        const char *hex = manifest->file[i].hex;

        cached_name(entry, manifest->file[i].name, name, sizeof(name));
        if (strcmp(name, store->file) == 0 && strlen(hex) == 64 &&
            strspn(hex, "0123456789abcdef") == 64)
            memcpy(store->hex, hex, sizeof(store->hex));
    }
}

static void take_manifest(void *user, const struct walk_entry *entry)
{
    struct store *store = user;
    struct scan *scan = store->scan;
    struct manifest manifest = { .file = { { "", "" } } };
    const char *rest = entry->name + strlen(MANIFEST);
    char name[3 * 256], path[PATH_MAX];
    struct stat status;

    if (strncmp(entry->name, MANIFEST, strlen(MANIFEST)) != 0)
        return;
    if (mf_json_file_read(scan->run->env, entry->path, MANIFEST_MAX,
                          take_member, &manifest) != MF_OK) {
        if (!store->file)
            scan_problem(scan, TROUBLE_INVALID, entry->path,
                         "cannot be read as a manifest: %s",
                         mf_env_error(scan->run->env)->message);
        return;
    }
    if (store->file) {
        take_digest(store, rest, &manifest);
        return;
    }
    if (!*manifest.file[0].name)
        return;
    cached_name(rest, manifest.file[0].name, name, sizeof(name));
    if (!walk_join(path, store->folder, name) || lstat(path, &status) != 0)
        scan_problem(scan, TROUBLE_MISSING, entry->path,
                     "names %.300s, which is missing", name);
}

/* ---- files ---- */

static void take_file(void *user, const struct walk_entry *entry)
{
    struct store *store = user;

    if (!S_ISREG(entry->status.st_mode))
        return;
    if (scan_ends(entry->name, ".downloadInProgress")) {
        scan_partial(store->scan, entry);
    } else if (scan_ends(entry->name, ".gguf")) {
        store->file = entry->name;
        *store->hex = 0;
        walk_folder(store->scan->run, store->folder, take_manifest, store);
        store->file = NULL;
        scan_file(store->scan, entry, *store->hex ? store->hex : NULL);
    }
}

void llama_cpp_scan(struct scan *scan, const char *folder)
{
    struct store store = { .scan = scan, .folder = folder };

    walk_folder(scan->run, folder, take_manifest, &store);
    walk_folder(scan->run, folder, take_file, &store);
    scan_folder_models(scan, "", folder, strlen(folder) + 1);
}
