/* SPDX-License-Identifier: MIT
 *
 * names.c - tensors and keys that are in a file
 */
#include <string.h>

#include "cli/commands/complete/complete.h"
#include "cli/describe.h"
#include "cli/inputs.h"

#define MANY 200 /* names that a person can look through */

/* What is offered: of many names, each up to the next dot. */
struct names {
    struct run *run;
    const struct place *place;
    const struct mf_model *model;
    const char *after;
    bool keys, parts;
    struct mf_str last; /* what was offered before */
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

static bool begins(struct mf_str name, const char *word)
{
    return name.size >= strlen(word) &&
           memcmp(name.at, word, strlen(word)) == 0;
}

static size_t count_matches(const struct names *names)
{
    struct type_text text;
    struct mf_str name;
    size_t count = 0;

    for (size_t i = 0; name_at(names, i, &name, &text); i++)
        count += begins(name, names->place->word);
    return count;
}

/* Names with one beginning mostly follow each other; what comes again is for
 * the shell to leave out. */
static void offer_part(struct names *names, struct mf_str name)
{
    size_t from = strlen(names->place->word);
    const char *dot = memchr(name.at + from, '.', name.size - from);

    if (dot)
        name.size = (size_t)(dot + 1 - name.at);
    if (name.size == names->last.size &&
        memcmp(name.at, names->last.at, name.size) == 0)
        return;
    names->last = name;
    offer(names->run, names->place, name, dot ? "" : names->after, "");
}

static void offer_all(struct names *names)
{
    struct type_text text;
    struct mf_str name;

    names->parts = count_matches(names) > MANY;
    for (size_t i = 0; name_at(names, i, &name, &text); i++) {
        if (!begins(name, names->place->word))
            continue;
        if (names->parts)
            offer_part(names, name);
        else
            offer(names->run, names->place, name, names->after, text.at);
    }
    if (names->parts)
        offer_by_shell(names->run, "nospace");
}

/* Nothing is said about a file that cannot be read: somebody is typing. */
void names_offer(struct run *run, const struct place *place, bool keys,
                 const char *after)
{
    struct mf_open_options options = { .size = sizeof(options),
                                       .metadata_only = keys };
    struct names names = { run, place, NULL, after, keys, false, { "", 0 } };
    struct mf_model *model;

    if (!place->file || mf_model_open(run->env, inputs_path(place->file),
                                      &options, &model) != MF_OK)
        return;
    names.model = model;
    offer_all(&names);
    mf_model_close(model);
}
