/* SPDX-License-Identifier: MIT
 *
 * kinds.c - the kinds of stores, and which ones a command is about
 */
#include "cli/commands/store/store.h"

#include <string.h>

#include "cli/inputs.h"
#include "cli/ollama.h"
#include "cli/report.h"
#include "cli/room.h"

/* The last kind has the least to be recognized by. */
const struct store_kind store_kinds[] = {
    { "huggingface", huggingface_usual, huggingface_is, huggingface_scan },
    { "ollama", ollama_folder, ollama_is, ollama_scan },
    { "llama.cpp", llama_cpp_usual, llama_cpp_is, llama_cpp_scan },
    { "lmstudio", lmstudio_usual, lmstudio_is, lmstudio_scan },
    { NULL, NULL, NULL, NULL },
};

/* One folder is one store, whatever leads to it; but llama.cpp has had two
 * layouts in one. */
static bool is_known(const struct store_places *places,
                     const struct store_kind *kind, const struct stat *status)
{
    struct stat known;

    for (size_t i = 0; i < places->count; i++)
        if (places->at[i].kind == kind &&
            stat(places->at[i].path, &known) == 0 &&
            known.st_dev == status->st_dev && known.st_ino == status->st_ino)
            return true;
    return false;
}

/* Paths are made by adding a slash and a name. */
static void cut_slashes(char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        path[--size] = 0;
}

static void add(struct store_places *places, const struct store_kind *kind,
                const char *path)
{
    struct stat status;

    if (places->count == PLACES_MAX || strlen(path) >= PATH_MAX ||
        stat(path, &status) != 0 || !S_ISDIR(status.st_mode) ||
        is_known(places, kind, &status))
        return;
    places->at[places->count].kind = kind;
    strcpy(places->at[places->count].path, path);
    cut_slashes(places->at[places->count++].path);
}

static void add_usual(struct store_places *places,
                      const struct store_kind *kind)
{
    char path[PATH_MAX];

    for (size_t i = 0; kind->usual(i, path); i++)
        if (inputs_is_folder(path) && kind->is(path))
            add(places, kind, path);
}

/* The name of a kind, or a folder. */
static bool add_operand(struct store_places *places, const char *operand)
{
    const struct store_kind *kind = store_kinds;
    bool found = false;

    while (kind->name && strcmp(kind->name, operand) != 0)
        kind++;
    if (kind->name) {
        add_usual(places, kind);
        return true;
    }
    /* The last kind only where there is no other. */
    for (kind = store_kinds; kind->name; kind++)
        if (kind->is(operand) && (kind[1].name || !found)) {
            add(places, kind, operand);
            found = true;
        }
    return found;
}

static void find(struct store_places *places, const struct run *run)
{
    for (size_t i = 0; i < run->operand_count && !places->unknown; i++)
        if (!add_operand(places, run->operand[i]))
            places->unknown = run->operand[i];
    if (run->operand_count > 0)
        return;
    for (const struct store_kind *kind = store_kinds; kind->name; kind++)
        add_usual(places, kind);
}

const struct store_places *store_places(const struct run *run)
{
    static struct store_places *places;

    if (!places) {
        places = room_take(sizeof(*places));
        if (places)
            find(places, run);
    }
    return places;
}

/* ---- all stores ---- */

bool scan_all(struct run *run, bool opens, struct scan *out)
{
    const struct store_places *places = store_places(run);

    *out = (struct scan){ .run = run, .opens = opens };
    if (!places) {
        report_no_room(run);
        return false;
    }
    if (places->unknown) {
        report_input(run, places->unknown,
                     "no folder with a layout that is known, nor one of "
                     "huggingface, ollama, llama.cpp and lmstudio");
        return false;
    }
    for (; out->place < places->count && !out->failed; out->place++) {
        const struct store_place *place = &places->at[out->place];

        place->kind->scan(out, place->path);
    }
    if (out->failed)
        report_failure(run, NULL);
    return !out->failed;
}
