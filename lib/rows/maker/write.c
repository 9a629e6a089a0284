/* SPDX-License-Identifier: MIT
 *
 * write.c - rows as tables in C
 *
 * A file that would not change is not written, so that nothing is compiled
 * again.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "lib/rows/maker/write.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/languages.h"

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

void output_begin(struct output *output)
{
    *output = (struct output){ .text = NULL };
    output->file = open_memstream(&output->text, &output->size);
    if (!output->file) {
        perror("rows");
        exit(2);
    }
}

void output_end(struct output *output, const char *path)
{
    fclose(output->file);
    save(path, output->text, output->size);
    free(output->text);
}

/* Bytes as a text in C: lines of it are faster to compile than numbers. */
static void put_bytes(FILE *out, const char *name, const struct bytes *bytes)
{
    fprintf(out, "static const char %s[] =", name);
    for (size_t i = 0; i < bytes->size; i++)
        fprintf(out, "%s\\%03o",
                i % 24 ? ""
                : i    ? "\"\n    \""
                       : "\n    \"",
                bytes->at[i]);
    fputs(bytes->size ? "\";\n\n" : " \"\";\n\n", out);
}

static void put_parts(FILE *out, struct writing *to)
{
    const struct source *source = to->program->source;

    fputs("static const struct mf_rows_part parts[] = {\n", out);
    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];

        to->program->row = &part->head;
        fprintf(out, "    { MF_ROWS_%.*s, %zu, %zu, %zu },\n",
                (int)part->kind.size, part->kind.at,
                text_place(to->program, part->words), to->program->begin[i],
                to->program->begin[i + 1]);
    }
    fputs("};\n\n", out);
}

static const struct table {
    const char *name;
    const struct function *functions;
    put_row *put;
} tables[] = {
    { "mf_loader_rows", loader_functions, put_loader_row },
    { "mf_graph_rows", loader_functions, put_graph_row },
    { "mf_family_rows", family_functions, put_family_row },
};

static void put_program(FILE *out, const char *name, struct program *program)
{
    struct writing to = { .program = program };

    fputs("/* Made from lib/families by lib/rows/maker. */\n"
          "#include \"lib/rows/rows.h\"\n\n",
          out);
    put_parts(out, &to);
    put_bytes(out, "code", &program->code);
    put_bytes(out, "texts", &program->texts);
    fprintf(out,
            "const struct mf_rows %s = { (const uint8_t *)code,\n"
            "    (const uint8_t *)texts, %zu, parts, %zu };\n",
            name, program->texts.size, program->source->count);
}

struct program rows_program(const struct source *source, enum rows_table which)
{
    return program_of(source, tables[which].functions, tables[which].put);
}

void rows_write(const char *path, const struct source *source,
                enum rows_table which)
{
    const struct table *table = &tables[which];
    struct program program = rows_program(source, which);
    struct output output;

    output_begin(&output);
    put_program(output.file, table->name, &program);
    output_end(&output, path);
}
