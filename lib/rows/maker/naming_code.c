/* SPDX-License-Identifier: MIT
 *
 * naming_code.c - what tensors are called, as tables in C
 *
 * All texts are one string, and a row has the places of its own in there: no
 * pointers, which would have to be relocated when a program starts.
 */
#include "lib/rows/maker/naming.h"

/* A NUL ends each. */
static size_t place(struct pool *texts, struct text text)
{
    return pool_place(texts, text, 1);
}

static void put_texts(FILE *out, const struct pool *texts)
{
    fputs("const char mf_naming_text[] =", out);
    for (size_t i = 0; i < texts->known.count; i++)
        fprintf(out, "\n    \"%.*s\\0\"", (int)texts->known.at[i].size,
                texts->known.at[i].at);
    fputs(";\n", out);
}

/* Tensors by their names in GGUF, for those that are called so already. */
static void put_sorted(FILE *out, const struct naming *naming)
{
    size_t sorted[16 * MF_NAMING_WORDS];

    for (size_t i = 0; i < naming->ids.count; i++) {
        size_t at = i;

        for (; at > 0 && text_order(naming->tensor[sorted[at - 1]].name,
                                    naming->tensor[i].name) > 0;
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = i;
    }
    fputs("const uint16_t mf_naming_sorted[] = {\n", out);
    for (size_t i = 0; i < naming->ids.count; i++)
        fprintf(out, "    %zu,\n", sorted[i]);
    fputs("};\n\n", out);
}

static void put_tensors(FILE *out, const struct naming *naming,
                        struct pool *texts)
{
    fputs("const struct mf_naming_tensor mf_naming_tensors[] = {\n", out);
    for (size_t i = 0; i < naming->ids.count; i++)
        fprintf(out, "    { %zu, %u },\n", place(texts, naming->tensor[i].name),
                naming->tensor[i].flags);
    fputs("};\n\n", out);
    put_sorted(out, naming);
    fprintf(out, "const size_t mf_naming_tensor_count = %zu;\n\n",
            naming->ids.count);
}

static void put_names(FILE *out, const struct naming *naming,
                      struct pool *texts)
{
    fputs("const struct mf_naming_prefix mf_naming_prefixes[] = {\n", out);
    for (size_t i = 0; i < naming->prefixes; i++) {
        const struct naming_prefix *each = &naming->prefix[i];
        size_t end = i + 1 < naming->prefixes ? each[1].first : naming->rows;

        fprintf(out, "    { %zu, %zu, %zu },\n", place(texts, each->text),
                each->first, end - each->first);
    }
    fprintf(out, "};\n\nconst size_t mf_naming_prefix_count = %zu;\n\n",
            naming->prefixes);
    fputs("const struct mf_naming_row mf_naming_rows[] = {\n", out);
    for (size_t i = 0; i < naming->rows; i++) {
        const struct naming_row *row = &naming->row[i];

        fprintf(out, "    { %zu, %zu, { %zu", place(texts, row->rest),
                row->count, row->tensor[0]);
        for (size_t j = 1; j < row->count; j++)
            fprintf(out, ", %zu", row->tensor[j]);
        fputs(" } },\n", out);
    }
    fputs("};\n\n", out);
}

/* Which tensors it has: 16 bits in a number. */
static void put_bits(FILE *out, const struct naming *naming,
                     const struct naming_arch *arch)
{
    for (size_t i = 0; i < naming->ids.count; i += 16) {
        unsigned bits = 0;

        for (size_t j = 0; j < 16 && i + j < naming->ids.count; j++)
            bits |= (unsigned)arch->has[i + j] << j;
        fprintf(out, "%s %u", i > 0 ? "," : "", bits);
    }
}

static void put_archs(FILE *out, const struct naming *naming,
                      struct pool *texts)
{
    fputs("const struct mf_naming_only mf_naming_onlys[] = {\n", out);
    for (size_t i = 0; i < naming->onlys; i++)
        fprintf(out, "    { %zu, %zu },\n", place(texts, naming->only[i].name),
                naming->only[i].tensor);
    fputs("};\n\nconst struct mf_naming_arch mf_naming_archs[] = {\n", out);
    for (size_t i = 0; i < naming->archs; i++) {
        const struct naming_arch *each = &naming->arch[i];
        size_t end = i + 1 < naming->archs ? each[1].only : naming->onlys;

        fprintf(out, "    { %zu, %zu, %zu,\n      {", place(texts, each->name),
                each->only, end - each->only);
        put_bits(out, naming, each);
        fputs(" } },\n", out);
    }
    fprintf(out, "};\n\nconst size_t mf_naming_arch_count = %zu;\n\n",
            naming->archs);
}

void naming_put(FILE *out, const struct naming *naming)
{
    struct pool texts = { .size = 0 };

    place(&texts, text_of(""));
    fputs(
        "/* Made from lib/hf/hub/names and lib/families by lib/rows/maker. */\n"
        "#include \"lib/hf/hub/naming.h\"\n\n",
        out);
    put_tensors(out, naming, &texts);
    put_names(out, naming, &texts);
    put_archs(out, naming, &texts);
    put_texts(out, &texts);
}
