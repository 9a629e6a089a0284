/* SPDX-License-Identifier: MIT
 *
 * loader_names.c - what names in a loader's rows mean
 *
 * Each architecture is looked at with all groups that it uses: a name is a key
 * or a `let` of any of them, or a parameter.
 */
#include "lib/rows/maker/loader.h"

struct walk {
    const struct source *source;
    struct words defined, parts; /* of this architecture */
    struct words used;           /* by any */
    struct words missed;         /* "FILE:LINE NAME" of errors, each once */
    const struct part *part;
    bool of_let; /* which sees no parameters */
};

typedef void visit(struct walk *walk, const struct row *row, struct text word,
                   struct text rest);

static struct part *used_by(const struct source *source, struct text word,
                            struct text rest)
{
    return text_is(word, "like") ? source_find(source, "arch", rest)
           : text_is(word, "use") || text_is(word, "use?")
               ? source_find(source, "group", take_word(&rest))
               : NULL;
}

/* Calls visit for each row of the paragraph and of those that it uses, each
 * paragraph once. */
static void walk_rows(struct walk *walk, const struct part *part, visit *each)
{
    const struct part *before = walk->part;

    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), word = take_word(&rest);
        const struct part *used = used_by(walk->source, word, rest);

        walk->part = part;
        each(walk, &part->row[i], word, rest);
        if (used && words_add(&walk->parts, text_of(used->head.text)))
            walk_rows(walk, used, each);
    }
    walk->part = before;
}

static void define(struct walk *walk, const struct row *row, struct text word,
                   struct text rest)
{
    (void)row;
    if (text_is(word, "key"))
        take_word(&rest);
    if (text_is(word, "key") || text_is(word, "let"))
        words_add(&walk->defined, take_word(&rest));
}

static void see_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    struct walk *walk = user;

    (void)whole;
    words_add(&walk->used, name);
    if (text_is(name, "i") || words_have(&walk->defined, name) ||
        (!walk->of_let && rows_parameter(walk->part, name) > 0))
        return;
    /* Other architectures that use the row would say the same. */
    if (words_add_place(&walk->missed, name))
        row_unknown(row, name, "key, 'let' or parameter", &walk->defined);
}

/* All expressions of a row: between them are commas, "..", "reshape". */
static void see_names(struct walk *walk, const struct row *row,
                      struct text word, struct text rest)
{
    struct expression expression = { .row = row,
                                     .functions = loader_functions,
                                     .name = see_name,
                                     .user = walk };

    walk->of_let = text_is(word, "let");
    if (text_is(word, "key") || text_is(word, "like") ||
        text_is(word, "else") || text_is(word, "end"))
        return;
    if (!text_is(word, "need") && !text_is(word, "if") &&
        !text_is(word, "each"))
        take_word(&rest);
    while (rest.size > 0) {
        if (text_begins(rest, "reshape") || text_begins(rest, "optional"))
            take_word(&rest);
        if (rest.size > 0 && !expression_take(&expression, &rest))
            return;
        rest = trimmed(rest);
        if (text_begins(rest, ",")) {
            rest.at++;
            rest.size--;
        } else if (text_begins(rest, ".."))
            take_word(&rest);
        rest = trimmed(rest);
    }
}

/* A group that the library runs by its name. */
static void walk_group(struct walk *walk, const char *name, visit *each)
{
    struct part *part = source_find(walk->source, "group", text_of(name));

    if (!part)
        return;
    part->used = true;
    walk_rows(walk, part, each);
}

static const char *const common[] = { "before", "after" };

/* What expressions of the architecture may name. */
static void begin_walk(struct walk *walk, const struct part *arch)
{
    words_free(&walk->defined);
    for (size_t i = 0; i < 2; i++)
        walk_group(walk, common[i], define);
    walk_rows(walk, arch, define);
    words_free(&walk->parts);
}

void loader_names(const struct source *source, const struct part *arch,
                  struct words *out)
{
    struct walk walk = { .source = source };

    begin_walk(&walk, arch);
    *out = walk.defined;
}

static void take_tensor(struct walk *walk, const struct row *row,
                        struct text word, struct text rest)
{
    (void)row;
    if (text_is(word, "tensor") || text_is(word, "tensor?"))
        words_add(&walk->defined, take_word(&rest));
}

void loader_tensors(const struct source *source, const struct part *arch,
                    struct words *out)
{
    struct walk walk = { .source = source };

    walk_rows(&walk, arch, take_tensor);
    words_free(&walk.parts);
    *out = walk.defined;
}

void loader_keys(const struct source *source, struct words *out)
{
    for (size_t i = 0; i < source->count; i++)
        for (size_t j = 0; j < source->part[i].count; j++) {
            struct text rest = text_of(source->part[i].row[j].text);

            if (!text_is(take_word(&rest), "key"))
                continue;
            take_word(&rest);
            words_add(out, take_word(&rest));
        }
}

static void use_name(struct walk *walk, const struct row *row, struct text word,
                     struct text rest)
{
    (void)row;
    if (text_is(word, "let"))
        words_add(&walk->used, take_word(&rest));
}

void loader_check_names(struct source *source, struct words *used)
{
    struct walk walk = { .source = source, .used = *used };

    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];

        if (!text_is(part->kind, "arch"))
            continue;
        begin_walk(&walk, part);
        for (size_t j = 0; j < 2; j++)
            walk_group(&walk, common[j], see_names);
        walk_rows(&walk, part, see_names);
        words_free(&walk.parts);
    }
    /* What all have is for the library, which asks for it by name. */
    walk_group(&walk, common[0], use_name);
    for (size_t i = 0; i < source->count; i++)
        rows_unused(&source->part[i], &walk.used);
}
