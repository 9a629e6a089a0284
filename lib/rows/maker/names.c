/* SPDX-License-Identifier: MIT
 *
 * names.c - names that rows may have
 */
#include "lib/rows/maker/names.h"

#include <string.h>

struct names known_names;

void names_read_fields(const char *file)
{
    static const char *const no_kinds[] = { NULL };
    static const struct language language = { .kinds = no_kinds };
    struct source source = { .language = &language };

    source_read((struct source *const[]){ &source, NULL }, file);
    for (size_t i = 0; i < source.loose_count; i++) {
        struct text rest = text_of(source.loose[i].text);

        while (rest.size > 0)
            words_add(&known_names.fields, take_word(&rest));
    }
}

/* A copy in which each number between dots is "*". */
static struct text with_stars(struct text name, char sign)
{
    char *copy = take_memory(NULL, name.size);
    struct text out = { copy, 0 };

    for (size_t i = 0; i < name.size; i++) {
        bool number =
            name.at[i] == sign || (name.at[i] >= '0' && name.at[i] <= '9' &&
                                   i > 0 && name.at[i - 1] == '.' &&
                                   i + 1 < name.size && name.at[i + 1] == '.');

        copy[out.size++] = number ? '*' : name.at[i];
    }
    return out;
}

struct text names_in_gguf(struct text name)
{
    return with_stars(name, '#');
}

void names_read_tensors(const struct source *naming)
{
    for (size_t i = 0; i < naming->count; i++) {
        struct text rest = naming->part[i].words;

        if (!text_is(naming->part[i].kind, "tensor"))
            continue;
        take_word(&rest);
        words_add(&known_names.tensors, names_in_gguf(take_word(&rest)));
    }
}

struct text names_base(struct text name)
{
    static const char *const ends[] = { ".weight",      ".bias",   ".scale",
                                        ".act.scales",  ".lora_a", ".lora_b",
                                        ".input_scale", ".beta" };
    struct text base = with_stars(name, '*');

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (text_ends(base, ends[i])) {
            base.size -= strlen(ends[i]);
            break;
        }
    return base;
}

void names_check_tensor(const struct row *row, struct text name)
{
    struct text base = names_base(name);

    if (known_names.tensors.count > 0 &&
        !words_have(&known_names.tensors, base))
        row_unknown(row, base, "GGUF tensor", &known_names.tensors);
}
