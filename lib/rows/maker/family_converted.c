/* SPDX-License-Identifier: MIT
 *
 * family_converted.c - the models that lib/families converts, as one text in C
 *
 * Names of classes are in rows `class` of paragraphs `family` and `projector`.
 * Model types are in the first line of paragraphs `config`, in rows
 * `field model_type` of paragraphs `restore`, and in names.def of lib/arch.
 */
#include "lib/rows/maker/family.h"

static void add_words(struct words *out, struct text list)
{
    while (list.size > 0)
        words_add(out, take_word(&list));
}

/* All texts of an expression. */
static void add_texts(struct words *out, struct text text)
{
    take_up_to(&text, '"');
    while (text.size > 0) {
        words_add(out, take_up_to(&text, '"'));
        take_up_to(&text, '"');
    }
}

static void add_row(struct words *out, const struct part *part,
                    const struct row *row)
{
    struct text rest = text_of(row->text), word = take_word(&rest);
    bool converts =
        text_is(part->kind, "family") || text_is(part->kind, "projector");

    if (converts && text_is(word, "class"))
        add_words(out, rest);
    else if (text_is(word, "field") && text_is(take_word(&rest), "model_type"))
        add_texts(out, rest);
}

static void add_part(struct words *out, const struct part *part)
{
    if (text_is(part->kind, "config"))
        add_words(out, part->words);
    for (size_t i = 0; i < part->count; i++)
        add_row(out, part, &part->row[i]);
}

void family_put_converted(FILE *out, const struct source *source)
{
    static const char *const others[] = {
#define ARCHITECTURE(other, gguf) other,
#include "lib/arch/names.def"
        NULL,
    };
    struct words names = { .count = 0 };

    for (size_t i = 0; i < source->count; i++)
        add_part(&names, &source->part[i]);
    for (size_t i = 0; others[i]; i++)
        words_add(&names, text_of(others[i]));
    fputs("/* Made from lib/families by lib/rows/maker. */\n"
          "#include \"lib/folder/folder.h\"\n\n"
          "const char mf_folder_converted[] =\n",
          out);
    for (size_t i = 0; i < names.count; i++)
        fprintf(out, "    \"%.*s\\0\"\n", (int)names.at[i].size,
                names.at[i].at);
    fputs("    ;\n", out);
    words_free(&names);
}
