/* SPDX-License-Identifier: MIT
 *
 * ollama.c - the store of Ollama
 *
 *     manifests/HOST/NAMESPACE/NAME/TAG   JSON: layers with digest and size
 *     blobs/sha256-HEX                    a layer
 *     blobs/sha256-HEX-partial            half-fetched, also with -N
 */
#include "cli/ollama.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands/store/store.h"
#include "cli/inputs.h"

bool ollama_is(const char *folder)
{
    char path[PATH_MAX];

    return walk_join(path, folder, "manifests") && inputs_is_folder(path) &&
           walk_join(path, folder, "blobs") && inputs_is_folder(path);
}

struct manifest {
    struct scan *scan;
    const char *folder, *path;
    char model[PATH_MAX]; /* the blob with tensors, or "" */
    bool counts;          /* its layers, instead of checking them */
};

/* A layer that is there and as large as the manifest says. */
static void check_layer(const struct manifest *manifest,
                        const struct ollama_layer *layer, const char *blob)
{
    struct stat status;

    if (stat(blob, &status) != 0)
        scan_problem(manifest->scan, TROUBLE_MISSING, manifest->path,
                     "names %.80s, which is missing", layer->digest);
    else if ((uint64_t)status.st_size != layer->size)
        scan_problem(manifest->scan, TROUBLE_SIZE, blob,
                     "has %s bytes, not %s as the manifest says",
                     number_text((uint64_t)status.st_size).at,
                     number_text(layer->size).at);
}

static void take_layer(void *user, const struct ollama_layer *layer)
{
    struct manifest *manifest = user;
    const char *hex = ollama_hex(layer->digest);
    char blob[PATH_MAX];

    if (!hex) {
        if (!manifest->counts)
            scan_problem(manifest->scan, TROUBLE_INVALID, manifest->path,
                         "names a layer by '%s', which is not a digest",
                         layer->digest);
        return;
    }
    if (snprintf(blob, sizeof(blob), "%s/blobs/sha256-%s", manifest->folder,
                 hex) >= PATH_MAX)
        return;
    if (manifest->counts) {
        scan_use(manifest->scan, blob);
        return;
    }
    check_layer(manifest, layer, blob);
    if (strcmp(layer->type, OLLAMA_MODEL) == 0)
        strcpy(manifest->model, blob);
}

static void take_manifest(void *user, const char *name, const char *path,
                          bool bad)
{
    struct manifest *manifest = user;
    struct scan *scan = manifest->scan;

    manifest->path = path;
    manifest->counts = false;
    *manifest->model = 0;
    if (bad) {
        scan_problem(scan, TROUBLE_INVALID, path, "is not a file");
        return;
    }
    if (ollama_read(scan->run->env, path, take_layer, manifest) != MF_OK) {
        scan_problem(scan, TROUBLE_INVALID, path,
                     "cannot be read as a manifest: %s",
                     mf_env_error(scan->run->env)->message);
        return;
    }
    if (!scan->opens)
        return;
    scan_model(scan, name, manifest->model);
    manifest->counts = true;
    ollama_read(scan->run->env, path, take_layer, manifest);
}

static void take_blob(void *user, const struct walk_entry *entry)
{
    struct scan *scan = user;
    const char *hex = entry->name + strlen("sha256-");

    if (!S_ISREG(entry->status.st_mode) ||
        strncmp(entry->name, "sha256-", 7) != 0)
        return;
    if (strspn(hex, "0123456789abcdef") == 64 && hex[64] == 0)
        scan_file(scan, entry, hex);
    else if (strstr(hex, "-partial"))
        scan_partial(scan, entry);
}

void ollama_scan(struct scan *scan, const char *folder)
{
    struct manifest manifest = { .scan = scan, .folder = folder };
    char blobs[PATH_MAX];

    ollama_each(scan->run, folder, take_manifest, &manifest);
    if (walk_join(blobs, folder, "blobs"))
        walk_folder(scan->run, blobs, take_blob, scan);
}
