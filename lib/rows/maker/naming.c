/* SPDX-License-Identifier: MIT
 *
 * naming.c - what tensors are called: section names
 *
 * Tensors come first, wherever they are: the other paragraphs name them.
 */
#include "lib/rows/maker/naming.h"

#include <string.h>

#include "lib/rows/maker/names.h"

static const char *const kinds[] = { "tensor", "at", "arch", NULL };
static const char *const sections[] = { "names", NULL };
const struct language naming_language = { .sections = sections,
                                          .kinds = kinds,
                                          .margin = true };

static const char *const flags[] = { MF_NAMING_FLAGS, NULL };
static const char *const words[] = { "with", "without", "only", NULL };

/* ---- tensors ---- */

static unsigned read_flags(const struct row *row, struct text list)
{
    unsigned out = 0;

    while (list.size > 0) {
        struct text word = take_word(&list);
        size_t flag = list_find(flags, word);

        if (flags[flag])
            out |= 1U << flag;
        else
            row_unknown_of(row, word, "tensor flag", flags);
    }
    return out;
}

/* "tensor ID NAME FLAG ..." */
static void read_tensor(struct naming *naming, const struct part *part)
{
    struct text rest = part->words, id = take_word(&rest);
    size_t at = naming->ids.count;

    if (part->count > 0)
        row_error(&part->row[0], "a tensor has no rows");
    if (at == 16 * MF_NAMING_WORDS) {
        row_error(&part->head, "more than %zu tensors", at);
        return;
    }
    if (!words_add(&naming->ids, id)) {
        row_error(&part->head, "tensor '%.*s' is there twice", (int)id.size,
                  id.at);
        return;
    }
    naming->tensor[at] =
        (struct naming_tensor){ .row = &part->head, .name = take_word(&rest) };
    if (naming->tensor[at].name.size == 0)
        row_error(&part->head, "'tensor ID NAME' lacks its name");
    naming->tensor[at].flags = read_flags(&part->head, rest);
}

/* False after an error. */
static bool find_tensor(struct naming *naming, const struct row *row,
                        struct text id, size_t *out)
{
    *out = words_find(&naming->ids, id);
    if (*out == naming->ids.count) {
        row_unknown(row, id, "tensor", &naming->ids);
        return false;
    }
    naming->tensor[*out].used = true;
    return true;
}

/* ---- names in Hugging Face's models ---- */

/* By bytes, and each once. */
static void check_order(const struct row *row, struct text before,
                        struct text text)
{
    if (text_order(before, text) >= 0)
        row_error(row, "'%.*s' is not in its place: '%.*s' is before it",
                  (int)text.size, text.at, (int)before.size, before.at);
}

/* "REST ID ..." */
static void read_name(struct naming *naming, const struct row *row)
{
    struct text list = text_of(row->text);
    struct naming_row *out = &naming->row[naming->rows++];

    *out = (struct naming_row){ .rest = take_word(&list) };
    if (list.size == 0)
        row_error(row, "'%.*s' means no tensor", (int)out->rest.size,
                  out->rest.at);
    for (; list.size > 0; out->count++) {
        if (out->count == MF_NAMING_MEANINGS) {
            row_error(row, "too many tensors: at most %d are possible",
                      MF_NAMING_MEANINGS);
            return;
        }
        find_tensor(naming, row, take_word(&list), &out->tensor[out->count]);
    }
}

static void read_prefix(struct naming *naming, const struct part *part)
{
    struct naming_prefix *out = &naming->prefix[naming->prefixes++];
    bool empty = text_is(part->name, "\"\"");

    *out = (struct naming_prefix){ empty ? text_of("") : part->name,
                                   naming->rows };
    if (part->words.size > part->name.size)
        row_error(&part->head, "nothing follows a prefix");
    if (naming->prefixes > 1)
        check_order(&part->head, out[-1].text, out->text);
    for (size_t i = 0; i < part->count; i++) {
        read_name(naming, &part->row[i]);
        if (i > 0)
            check_order(&part->row[i], naming->row[naming->rows - 2].rest,
                        naming->row[naming->rows - 1].rest);
    }
}

/* ---- architectures ---- */

static struct naming_arch *find_arch(const struct naming *naming,
                                     struct text name)
{
    for (size_t i = 0; i < naming->archs; i++)
        if (text_same(naming->arch[i].name, name))
            return &naming->arch[i];
    return NULL;
}

static struct naming_arch *add_arch(struct naming *naming, struct text name)
{
    struct naming_arch *out = &naming->arch[naming->archs++];

    *out = (struct naming_arch){ .name = name, .only = naming->onlys };
    return out;
}

static void read_like(struct naming *naming, const struct row *row,
                      struct text rest, struct naming_arch *out)
{
    struct text word = take_word(&rest);
    const struct naming_arch *like = find_arch(naming, rest);
    struct words known = { .count = 0 };

    if (!text_is(word, "like"))
        row_error(row, "'like' expected before '%.*s'", (int)word.size,
                  word.at);
    else if (like && like != out)
        memcpy(out->has, like->has, sizeof(out->has));
    else {
        for (size_t i = 0; i + 1 < naming->archs; i++)
            words_add(&known, naming->arch[i].name);
        row_unknown(row, rest, "earlier architecture", &known);
        words_free(&known);
    }
}

/* "only NAME ID" */
static void read_only(struct naming *naming, const struct row *row,
                      struct text rest)
{
    struct naming_only *out = &naming->only[naming->onlys++];

    out->name = take_word(&rest);
    find_tensor(naming, row, rest, &out->tensor);
}

static void read_arch_row(struct naming *naming, const struct row *row,
                          struct naming_arch *out)
{
    struct text rest = text_of(row->text), word = take_word(&rest);
    size_t tensor;

    if (text_is(word, "only"))
        read_only(naming, row, rest);
    else if (!list_has(words, word))
        row_unknown_of(row, word, "row", words);
    else
        while (rest.size > 0)
            if (find_tensor(naming, row, take_word(&rest), &tensor))
                out->has[tensor] = text_is(word, "with");
}

/* "arch NAME [like OTHER]" */
static void read_arch(struct naming *naming, const struct part *part)
{
    struct text rest = part->words;
    struct naming_arch *out = add_arch(naming, take_word(&rest));

    if (rest.size > 0)
        read_like(naming, &part->head, rest, out);
    for (size_t i = 0; i < part->count; i++)
        read_arch_row(naming, &part->row[i], out);
}

/* ---- all of them ---- */

/* There is one paragraph, or row, for each of these at least. */
static void take_tables(struct naming *naming, const struct source *source)
{
    size_t rows = 0, parts = source->count;

    for (size_t i = 0; i < parts; i++)
        rows += source->part[i].count;
    naming->tensor = take_memory(NULL, parts * sizeof(*naming->tensor));
    naming->prefix = take_memory(NULL, parts * sizeof(*naming->prefix));
    naming->arch = take_memory(NULL, parts * sizeof(*naming->arch));
    naming->row = take_memory(NULL, rows * sizeof(*naming->row));
    naming->only = take_memory(NULL, rows * sizeof(*naming->only));
}

/* The table in C has the words between quotes; a prefix may be "". */
static void check_quotes(const struct row *row)
{
    struct text rest = text_of(row->text);

    while (rest.size > 0) {
        struct text word = take_word(&rest);

        if (!text_is(word, "\"\"") && (memchr(word.at, '"', word.size) ||
                                       memchr(word.at, '\\', word.size)))
            row_error(row, "a quote or '\\' cannot be in a name: '%.*s'",
                      (int)word.size, word.at);
    }
}

void naming_read(struct naming *naming, const struct source *source)
{
    take_tables(naming, source);
    for (size_t i = 0; i < source->count; i++) {
        check_quotes(&source->part[i].head);
        for (size_t j = 0; j < source->part[i].count; j++)
            check_quotes(&source->part[i].row[j]);
    }
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, "tensor"))
            read_tensor(naming, &source->part[i]);
    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];

        if (text_is(part->kind, "at"))
            read_prefix(naming, part);
        if (!text_is(part->kind, "arch"))
            continue;
        rows_twice(source, part);
        read_arch(naming, part);
    }
}

static void add_loaded(struct naming *naming, const struct source *loader,
                       const struct part *part)
{
    struct naming_arch *out = add_arch(naming, part->name);
    struct words looked = { .count = 0 }, bases = { .count = 0 };

    loader_tensors(loader, part, &looked);
    for (size_t i = 0; i < looked.count; i++)
        words_add(&bases, names_base(looked.at[i]));
    for (size_t i = 0; i < naming->ids.count; i++) {
        struct naming_tensor *tensor = &naming->tensor[i];

        out->has[i] = words_have(&bases, names_in_gguf(tensor->name));
        tensor->used = tensor->used || out->has[i];
    }
    words_free(&looked);
    words_free(&bases);
}

void naming_add_loaded(struct naming *naming, const struct source *loader)
{
    naming->arch = take_memory(naming->arch, (naming->archs + loader->count) *
                                                 sizeof(*naming->arch));
    for (size_t i = 0; i < loader->count; i++)
        if (text_is(loader->part[i].kind, "arch") &&
            !find_arch(naming, loader->part[i].name))
            add_loaded(naming, loader, &loader->part[i]);
    for (size_t i = 0; i < naming->ids.count; i++)
        if (!naming->tensor[i].used)
            row_error(naming->tensor[i].row, "nothing uses this tensor");
}
