/* SPDX-License-Identifier: MIT
 *
 * family_head.c - the words by which paragraphs of families are found
 */
#include <string.h>

#include "lib/rows/maker/family.h"

/* The table of all names in C has them between quotes. */
static void check_letters(const struct row *row, struct text name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    size_t size = 0;

    while (size < name.size && strchr(letters, name.at[size]))
        size++;
    if (size < name.size)
        row_error(row, "'%c' cannot be in a name: '%.*s'", name.at[size],
                  (int)name.size, name.at);
}

/* All words by which a paragraph is found: its names, and its classes. */
static void add_names(struct words *names, const struct part *part)
{
    struct text list = part->words;

    while (list.size > 0) {
        struct text name = take_word(&list);

        check_letters(&part->head, name);
        if (!words_add(names, name))
            row_error(&part->head, "'%.*s' is there twice", (int)name.size,
                      name.at);
    }
    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), all = rest;

        if (text_begins(all, "field model_type ") &&
            memchr(all.at, '\\', all.size))
            row_error(&part->row[i], "'\\' cannot be in a name");
        if (!text_is(take_word(&rest), "class"))
            continue;
        if (rest.size == 0)
            row_error(&part->row[i], "the name of a class is missing");
        while (rest.size > 0) {
            struct text name = take_word(&rest);

            check_letters(&part->row[i], name);
            if (!words_add(names, name))
                row_error(&part->row[i], "class '%.*s' is there twice",
                          (int)name.size, name.at);
        }
    }
}

static void check_names(const struct source *source)
{
    for (size_t k = 0; family_language.kinds[k]; k++) {
        struct words names = { .count = 0 };

        for (size_t i = 0; i < source->count; i++)
            if (text_is(source->part[i].kind, family_language.kinds[k]))
                add_names(&names, &source->part[i]);
        words_free(&names);
    }
}

/* `tensors FAMILY` of an unknown family, `restore ARCH` of an unknown one. */
static void check_head(const struct source *source, const struct source *loader,
                       const struct part *part)
{
    struct text list = part->words;
    bool tensors = text_is(part->kind, "tensors");
    bool restore = text_is(part->kind, "restore");

    if (text_is(part->kind, "family") || text_is(part->kind, "projector"))
        rows_one_name(part);

    while ((tensors || restore) && list.size > 0) {
        struct text name = take_word(&list);

        if (tensors && !source_find(source, "family", name))
            row_unknown(&part->head, name, "family", NULL);
        if (restore && !source_find(loader, "arch", name))
            row_unknown(&part->head, name, "architecture", NULL);
    }
}

void family_check_heads(const struct source *source,
                        const struct source *loader)
{
    check_names(source);
    for (size_t i = 0; i < source->count; i++)
        check_head(source, loader, &source->part[i]);
}
