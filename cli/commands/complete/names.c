/* SPDX-License-Identifier: MIT
 *
 * names.c - tensors and keys that are in a file
 */
#include <stdlib.h>
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
    const struct place *place = names->place;
    size_t size = strlen(place->word);

    return name.size > 0 && (*name.at != '-' || place->any) &&
           name.size >= size && memcmp(name.at, place->word, size) == 0;
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

/* Up to the dot behind the word, with it. */
static struct mf_str part_of(const struct names *names, struct mf_str name)
{
    size_t from = strlen(names->place->word);
    const char *dot = memchr(name.at + from, '.', name.size - from);

    if (dot)
        name.size = (size_t)(dot + 1 - name.at);
    return name;
}

static int compare(const void *left, const void *right)
{
    const struct mf_str *a = left, *b = right;
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->at, b->at, size);

    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Names with one beginning mostly follow each other: the list that is sorted
 * is short. */
static size_t take_parts(const struct names *names, struct mf_str *parts)
{
    struct type_text text;
    struct mf_str name;
    size_t count = 0;

    for (size_t i = 0; name_at(names, i, &name, &text); i++) {
        if (!is_wanted(names, name))
            continue;
        name = part_of(names, name);
        if (count == 0 || compare(&name, &parts[count - 1]) != 0)
            parts[count++] = name;
    }
    qsort(parts, count, sizeof(*parts), compare);
    return count;
}

static void offer_parts(const struct names *names, struct mf_str *parts)
{
    size_t count = take_parts(names, parts);

    for (size_t i = 0; i < count; i++) {
        bool whole = parts[i].at[parts[i].size - 1] != '.';

        if (i == 0 || compare(&parts[i], &parts[i - 1]) != 0)
            offer(names->run, names->place, parts[i], whole ? names->after : "",
                  "");
    }
    offer_by_shell(names->run, "nospace");
}

static void offer_all(const struct names *names)
{
    size_t count = count_wanted(names);
    struct mf_str *parts =
        count > MANY ? room_take(count * sizeof(*parts)) : NULL;
    struct type_text text;
    struct mf_str name;

    if (parts) {
        offer_parts(names, parts);
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

/* Nothing is said about a file that cannot be read: somebody is typing. */
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
