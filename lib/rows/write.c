/* SPDX-License-Identifier: MIT
 *
 * write.c - rows as tables in C
 *
 * A file that would not change is not written, so that nothing is compiled
 * again.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "lib/rows/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_text(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    char *there = take_memory(NULL, size + 1);
    bool same = file && fread(there, 1, size + 1, file) == size &&
                memcmp(there, text, size) == 0;

    if (file)
        fclose(file);
    free(there);
    return same;
}

static void save(const char *path, const char *text, size_t size)
{
    FILE *file;

    if (has_text(path, text, size))
        return;
    file = fopen(path, "wb");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* The text as it stands between quotes in C. */
static void put_text(FILE *out, struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.at[i] == '"' || text.at[i] == '\\')
            fprintf(out, "\\%c", text.at[i]);
        else
            fputc(text.at[i], out);
}

static void put_rows(FILE *out, const struct part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        fputs("\n      \"", out);
        put_text(out, text_of(part->row[i].text));
        fputs("\\n\"", out);
    }
    fputs("    },\n", out);
}

/* `struct mf_arch_text` of lib/arch/run.h. */
static void put_arch_texts(FILE *out, const struct source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];
        struct text rest = part->words;

        take_word(&rest);
        fprintf(out, "    { \"%c\" \"%.*s\\0\" \"%.*s\\0\"",
                text_is(part->kind, "group") ? 'g' : 'a', (int)part->name.size,
                part->name.at, (int)rest.size, rest.at);
        put_rows(out, part);
    }
}

/* `struct mf_recipe_text` of lib/hub/recipe.h. */
static void put_recipe_texts(FILE *out, const struct source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];

        fprintf(out, "    { \"%.*s\", \"%.*s\", \"\"", (int)part->kind.size,
                part->kind.at, (int)part->words.size, part->words.at);
        put_rows(out, part);
    }
}

static const struct table {
    const char *name, *array, *header;
    void (*put)(FILE *out, const struct source *source);
} tables[] = {
    { "mf_arch_text", "mf_arch_texts", "lib/arch/run.h", put_arch_texts },
    { "mf_arch_text", "mf_graph_texts", "lib/plan/graph.h", put_arch_texts },
    { "mf_recipe_text", "mf_recipe_texts", "lib/hub/recipe.h",
      put_recipe_texts },
};

void rows_write(const char *path, const struct source *source,
                enum rows_table which)
{
    const struct table *table = &tables[which];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        perror(path);
        exit(2);
    }
    fprintf(out,
            "/* Made from lib/families by lib/rows. */\n"
            "#include \"%s\"\n\nconst struct %s %s[] = {\n",
            table->header, table->name, table->array);
    table->put(out, source);
    fprintf(out,
            "};\n\nconst size_t %.*s_count =\n    sizeof(%s) / sizeof(*%s);\n",
            (int)strlen(table->array) - 1, table->array, table->array,
            table->array);
    fclose(out);
    save(path, text, size);
    free(text);
}
