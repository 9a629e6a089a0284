/* SPDX-License-Identifier: MIT
 *
 * names.c - tensors and keys that are in a file
 */
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/complete/complete.h"
#include "cli/describe.h"
#include "cli/room.h"

#define MANY 200 /* names that a person can look through */

/* What is offered: of many names, each up to the next dot. */
struct names {
    struct run *run;
    const struct place *place;
    const struct mf_model *model;
    const char *after;
    bool keys;
};

/* The name, and what is said about it. */
static bool name_at(const struct names *names, size_t index,
                    struct mf_str *name, struct type_text *text)
{
    struct mf_tensor tensor;
    struct mf_meta meta;

    if (names->keys) {
        if (!mf_meta_at(names->model, index, &meta))
            return false;
        *name = meta.key;
        *text = type_text(&meta);
        return true;
    }
    if (!mf_tensor_at(names->model, index, &tensor))
        return false;
    *name = tensor.name;
    *text = (struct type_text){ "" };
    if (strlen(tensor.type) < sizeof(text->at))
        memcpy(text->at, tensor.type, strlen(tensor.type) + 1);
    return true;
}

/* An option is nothing that a file can add to the line. */
static bool is_wanted(const struct names *names, struct mf_str name)
{
    return name.size > 0 && (*name.at != '-' || names->place->any) &&
           offer_continues(names->place, name);
}

static size_t count_wanted(const struct names *names)
{
    struct type_text text;
    struct mf_str name;
    size_t count = 0;

    for (size_t i = 0; name_at(names, i, &name, &text); i++)
        count += is_wanted(names, name);
    return count;
}

/* Up to the first dot after the word, with it. */
static struct mf_str part_of(const struct names *names, struct mf_str name)
{
    size_t from = strlen(names->place->word);
    const char *dot = memchr(name.at + from, '.', name.size - from);

    if (dot)
        name.size = (size_t)(dot + 1 - name.at);
    return name;
}

static bool is_same(const struct mf_str *a, const struct mf_str *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

/* A set of parts: a power of two of places, of which most stay empty. */
struct parts {
    struct mf_str *at;
    size_t places;
};

#define PROBES 64 /* a file may have names whose hashes are equal */

/* False if it was there.  After too many probes it counts as new: shells leave
 * out duplicates as well. */
static bool add_part(struct parts *parts, struct mf_str part)
{
    size_t place = (size_t)mf_text_hash(part, 0);

    for (int i = 0; i < PROBES; i++, place++) {
        struct mf_str *found = &parts->at[place & (parts->places - 1)];

        if (!found->at) {
            *found = part;
            return true;
        }
        if (is_same(found, &part))
            return false;
    }
    return true;
}

static void offer_parts(const struct names *names, struct parts *parts)
{
    struct mf_str name, last = { "", 0 };
    struct type_text text;

    for (size_t i = 0; name_at(names, i, &name, &text); i++) {
        if (!is_wanted(names, name))
            continue;
        name = part_of(names, name);
        /* Names with one beginning mostly follow each other. */
        if (is_same(&name, &last) || !add_part(parts, name))
            continue;
        last = name;
        offer(names->run, names->place, name,
              name.at[name.size - 1] == '.' ? "" : names->after, "");
    }
    offer_by_shell(names->run, "nospace");
}

static void offer_all(const struct names *names)
{
    size_t count = count_wanted(names);
    struct parts parts = { NULL, 2 };
    struct type_text text;
    struct mf_str name;

    while (parts.places < 2 * count)
        parts.places *= 2;
    if (count > MANY)
        parts.at = room_take(parts.places * sizeof(*parts.at));
    if (parts.at) {
        offer_parts(names, &parts);
        return;
    }
    for (size_t i = 0; name_at(names, i, &name, &text); i++)
        if (is_wanted(names, name))
            offer(names->run, names->place, name, names->after, text.at);
}

/* A pipe would have to be waited for, and a device may do anything. */
static bool is_plain(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* A file that cannot be read is not reported: the user is still typing. */
void names_offer(struct run *run, const struct place *place, bool keys,
                 const char *after)
{
    struct mf_open_options options = { .size = sizeof(options),
                                       .metadata_only = keys };
    struct names names = { run, place, NULL, after, keys };
    struct mf_model *model;

    if (!place->file || !is_plain(place->file) ||
        mf_model_open(run->env, place->file, &options, &model) != MF_OK)
        return;
    names.model = model;
    offer_all(&names);
    mf_model_close(model);
}
