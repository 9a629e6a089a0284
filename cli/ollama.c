/* SPDX-License-Identifier: MIT
 *
 * ollama.c - models that Ollama has fetched, by their names
 *
 * A manifest is fetched from a registry and not trusted: its digests become
 * names of files only if they consist of hexadecimal digits.
 */
#include "cli/ollama.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/room.h"
#include "cli/walk.h"

#define HOST      "registry.ollama.ai"
#define NAMESPACE "library"
#define TAG       "latest"

/* ---- folders ---- */

bool ollama_folder(size_t index, char out[PATH_MAX])
{
    static const char *const usual[] = { "/usr/share/ollama/.ollama/models",
                                         "/var/lib/ollama/models",
                                         "/var/lib/ollama" };
    const char *set = getenv("OLLAMA_MODELS"), *home = getenv("HOME");

    if (set && *set)
        return index == 0 && snprintf(out, PATH_MAX, "%s", set) < PATH_MAX;
    if (index == 0)
        return walk_join(out, home ? home : "", ".ollama/models");
    if (index > sizeof(usual) / sizeof(*usual))
        return false;
    strcpy(out, usual[index - 1]);
    return true;
}

/* ---- manifests ---- */

struct reading {
    struct ollama_layer layer;
    char at[32]; /* "config", "layers.3"; "": none has begun */
    ollama_found *found;
    void *user;
};

static void end_layer(struct reading *reading)
{
    if (*reading->at)
        reading->found(reading->user, &reading->layer);
    *reading->at = 0;
    reading->layer = (struct ollama_layer){ .type = "" };
}

/* Members of one layer follow each other. */
static void begin_layer(struct reading *reading, struct mf_str at)
{
    if (strlen(reading->at) == at.size &&
        memcmp(reading->at, at.at, at.size) == 0)
        return;
    end_layer(reading);
    memcpy(reading->at, at.at, at.size);
    reading->at[at.size] = 0;
}

/* Text that is too long, or has a NUL, is left out. */
static void keep(char *out, size_t room, struct mf_str value)
{
    if (value.size >= room || memchr(value.at, 0, value.size))
        return;
    memcpy(out, value.at, value.size);
    out[value.size] = 0;
}

static void take_member(void *user, const char *path, struct mf_str value)
{
    struct reading *reading = user;
    const char *member = strrchr(path, '.');
    size_t size = member ? (size_t)(member - path) : 0;
    char digits[24] = "";

    if (size == 0 || size >= sizeof(reading->at) ||
        (strncmp(path, "layers.", 7) != 0 && strncmp(path, "config.", 7) != 0))
        return;
    begin_layer(reading, (struct mf_str){ path, size });
    if (strcmp(member, ".mediaType") == 0)
        keep(reading->layer.type, sizeof(reading->layer.type), value);
    else if (strcmp(member, ".digest") == 0)
        keep(reading->layer.digest, sizeof(reading->layer.digest), value);
    else if (strcmp(member, ".size") == 0)
        keep(digits, sizeof(digits), value);
    if (*digits)
        reading->layer.size = strtoull(digits, NULL, 10);
}

enum mf_status ollama_read(struct mf_env *env, const char *manifest,
                           ollama_found *found, void *user)
{
    struct reading reading = { .found = found, .user = user };
    enum mf_status status = mf_json_file_read(
        env, manifest, OLLAMA_MANIFEST_MAX, take_member, &reading);

    if (status == MF_OK)
        end_layer(&reading);
    return status;
}

const char *ollama_hex(const char *digest)
{
    const char *hex = digest + strlen("sha256:");

    if (strncmp(digest, "sha256:", 7) != 0 || strlen(hex) != 64 ||
        strspn(hex, "0123456789abcdef") != 64)
        return NULL;
    return hex;
}

/* ---- names ---- */

bool ollama_is_name(const char *operand)
{
    struct stat status;

    return strncmp(operand, OLLAMA_PREFIX, strlen(OLLAMA_PREFIX)) == 0 &&
           lstat(operand, &status) != 0;
}

/* Where the tag begins, with its colon; the end if there is none. */
static const char *tag_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *tag = strrchr(slash ? slash : name, ':');

    return tag ? tag : name + strlen(name);
}

/* The manifest's path in Ollama's folder; false if the name is not one. */
static bool manifest_path(const char *name, char *out, size_t room)
{
    const char *tag = tag_of(name);
    int size = (int)(tag - name), slashes = 0;

    for (const char *at = name; at < tag; at++)
        slashes += *at == '/';
    if (size == 0 || strstr(name, "..") || strstr(name, "//") || *name == '/' ||
        slashes > 2)
        return false;
    return snprintf(out, room, "manifests/%s%s%.*s/%s",
                    slashes < 2 ? HOST "/" : "",
                    slashes < 1 ? NAMESPACE "/" : "", size, name,
                    *tag && tag[1] ? tag + 1 : TAG) < (int)room;
}

struct finding {
    const char *folder;
    char *out;
};

static void take_model(void *user, const struct ollama_layer *layer)
{
    struct finding *finding = user;
    const char *hex = ollama_hex(layer->digest);

    if (hex && strcmp(layer->type, OLLAMA_MODEL) == 0)
        snprintf(finding->out, PATH_MAX, "%s/blobs/sha256-%s", finding->folder,
                 hex);
}

/* In the first folder that has the manifest; else the one where it would be. */
static void find(struct run *run, const char *name, char out[PATH_MAX])
{
    char folder[PATH_MAX], manifest[PATH_MAX], path[PATH_MAX];
    struct stat status;

    for (size_t i = 0; ollama_folder(i, folder); i++) {
        struct finding finding = { folder, out };

        if (!manifest_path(name, manifest, sizeof(manifest)) ||
            !walk_join(path, folder, manifest))
            return;
        if (i == 0)
            strcpy(out, path);
        if (stat(path, &status) != 0)
            continue;
        strcpy(out, path);
        ollama_read(run->env, path, take_model, &finding);
        return;
    }
}

/* What was found is kept for the rest of the run. */
struct found {
    struct found *next;
    const char *operand;
    char path[PATH_MAX];
};

const char *ollama_path(struct run *run, const char *operand)
{
    static struct found *all;
    struct found *found = all;

    while (found && strcmp(found->operand, operand) != 0)
        found = found->next;
    if (found)
        return found->path;
    found = room_take(sizeof(*found));
    if (!found)
        return operand;
    found->operand = operand;
    strcpy(found->path, "");
    snprintf(found->path, sizeof(found->path), "%s", operand);
    find(run, operand + strlen(OLLAMA_PREFIX), found->path);
    found->next = all;
    all = found;
    return found->path;
}

/* ---- all of them ---- */

struct each {
    struct run *run;
    const char *manifests; /* their folder */
    unsigned depth;
    void (*found)(void *user, const char *name, const char *path, bool bad);
    void *user;
};

/* As Ollama lists it: "llama3.2:3b" of HOST/library/llama3.2/3b. */
static void put_name(char out[PATH_MAX], const char *below)
{
    static const char *const usual[] = { HOST "/" NAMESPACE "/", HOST "/" };
    char *slash;

    for (size_t i = 0; i < 2; i++)
        if (strncmp(below, usual[i], strlen(usual[i])) == 0) {
            below += strlen(usual[i]);
            break;
        }
    snprintf(out, PATH_MAX, "%s", below);
    slash = strrchr(out, '/');
    if (slash)
        *slash = ':';
}

#define DEPTH 3 /* folders HOST, NAMESPACE and NAME */

static void walk(void *user, const struct walk_entry *entry)
{
    struct each *each = user;
    char name[PATH_MAX];

    if (*entry->name == '.')
        return;
    if (each->depth < DEPTH && S_ISDIR(entry->status.st_mode)) {
        each->depth++;
        walk_folder(each->run, entry->path, walk, each);
        each->depth--;
    } else if (each->depth == DEPTH) {
        put_name(name, entry->path + strlen(each->manifests) + 1);
        each->found(each->user, name, entry->path,
                    !S_ISREG(entry->status.st_mode));
    }
}

void ollama_each(struct run *run, const char *folder,
                 void (*found)(void *user, const char *name, const char *path,
                               bool bad),
                 void *user)
{
    char manifests[PATH_MAX];
    struct each each = { run, manifests, 0, found, user };

    if (walk_join(manifests, folder, "manifests"))
        walk_folder(run, manifests, walk, &each);
}
