/* SPDX-License-Identifier: MIT
 *
 * loader_lets.c - what `let` rows and counts of a loader's rows must not be
 *
 * A `let` is computed where its name is used, so one that depends on itself
 * would have no end.  And the library has room for so many keys and names.
 */
#include "lib/rows/maker/loader.h"

enum visited { NEVER, OPEN, DONE };

/* The `let` rows that an architecture's expressions see: of those with one name
 * the first, as the library finds them. */
struct lets {
    struct words names;
    const struct row **row; /* of each name */
    unsigned char *visited;
    struct words *missed; /* of other architectures as well */
};

static void add_let(struct lets *lets, const struct row *row, struct text name)
{
    size_t at = lets->names.count;

    if (!words_add(&lets->names, name))
        return;
    lets->row = take_memory(lets->row, (at + 1) * sizeof(const struct row *));
    lets->row[at] = row;
    lets->visited = take_memory(lets->visited, at + 1);
    lets->visited[at] = NEVER;
}

static void add_lets(const struct source *source, const struct part *part,
                     struct lets *lets)
{
    for (size_t i = 0; part && i < part->count; i++) {
        struct text rest = text_of(part->row[i].text);

        if (text_is(take_word(&rest), "let"))
            add_let(lets, &part->row[i], take_word(&rest));
        else
            add_lets(source, rows_next(source, part, &part->row[i]), lets);
    }
}

/* ---- names in an expression ---- */

static void any_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    (void)user, (void)row, (void)name, (void)whole;
}

static void follow(struct lets *lets, struct text name);

/* A key or a tensor is not looked for among `let` rows. */
static void follow_node(struct lets *lets, const struct node *node)
{
    for (; node; node = node->next) {
        if (node->kind == MF_IS_NAME && node->letter == 'x')
            follow(lets, node->text);
        follow_node(lets, node->child);
    }
}

static void follow(struct lets *lets, struct text name)
{
    size_t at = words_find(&lets->names, name);
    struct expression expression = { .functions = loader_functions,
                                     .name = any_name };
    struct text rest;

    if (at == lets->names.count || lets->visited[at] == DONE)
        return;
    expression.row = lets->row[at];
    if (lets->visited[at] == OPEN) {
        if (words_add_place(lets->missed, lets->names.at[at]))
            row_error(lets->row[at], "the value of '%.*s' depends on itself",
                      (int)name.size, name.at);
        return;
    }
    lets->visited[at] = OPEN;
    rest = text_of(lets->row[at]->text);
    take_word(&rest);
    take_word(&rest);
    follow_node(lets, expression_take(&expression, &rest));
    lets->visited[at] = DONE;
}

static void check_lets(const struct source *source, const struct part *part,
                       struct words *missed)
{
    struct lets lets = { .missed = missed };

    add_lets(source, part, &lets);
    add_lets(source, source_find(source, "group", text_of("before")), &lets);
    for (size_t i = 0; i < lets.names.count; i++)
        follow(&lets, lets.names.at[i]);
}

/* ---- how many there are ---- */

size_t loader_most(const struct source *source, const struct part *part,
                   const char *word)
{
    static const char *const common[] = { "before", "after" };
    bool all = text_is(text_of(word), "let");
    size_t count = rows_most(source, part, word, all);

    for (size_t i = 0; i < (all ? 1 : 2); i++) {
        const struct part *group =
            source_find(source, "group", text_of(common[i]));

        count += group ? rows_most(source, group, word, all) : 0;
    }
    return count;
}

/* It would be read again for each block. */
static void check_each(const struct source *source, const struct part *part)
{
    size_t depth = 0; /* from an `each` on */

    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), word = take_word(&rest);
        const struct part *next = rows_next(source, part, &part->row[i]);

        if (text_is(word, "each") || (depth > 0 && text_is(word, "if")))
            depth++;
        else if (depth > 0 && text_is(word, "end"))
            depth--;
        else if (depth > 0 &&
                 (text_is(word, "key") ||
                  (next && rows_most(source, next, "key", true) > 0)))
            row_error(&part->row[i], "a key must not be read in 'each'");
    }
}

void loader_check_lets(const struct source *source)
{
    struct words missed = { .count = 0 };

    for (size_t i = 0; i < source->count; i++) {
        const struct part *part = &source->part[i];
        size_t keys;

        check_each(source, part);
        if (!text_is(part->kind, "arch"))
            continue;
        check_lets(source, part, &missed);
        keys = loader_most(source, part, "key");
        if (keys > MF_ARCH_KEYS_MAX)
            row_error(&part->head,
                      "an architecture reads at most %d keys, not %zu",
                      MF_ARCH_KEYS_MAX, keys);
    }
    words_free(&missed);
}
