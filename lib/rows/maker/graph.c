/* SPDX-License-Identifier: MIT
 *
 * graph.c - rows about what an architecture computes: section graph
 *
 * Each graph is followed with all groups that it uses, as when it is run, but
 * on both sides of each `if`: a tensor must have been made by a row before, and
 * a number is one of the loader's, of the graph's or of the planner's.
 */
#include "lib/rows/maker/graph.h"

#include <string.h>

#include "lib/rows/maker/names.h"

static const char *const kinds[] = { "graph", "group", NULL };
static const char *const sections[] = { "graph", NULL };
const struct language graph_language = { .sections = sections, .kinds = kinds };

/* lib/plan/graph.c gives them to all graphs. */
static const char *const numbers[] = {
    "tokens",   "outputs", "sequences", "streams", "cells_full",
    "flash_on", "windows", "cells_swa", "v_most",  "wide_k",
    "wide_v",   "small_k", "small_v",
};

const size_t graph_given = sizeof(numbers) / sizeof(*numbers);

static const char *const words[] = { "use",    "if",     "else",  "end",
                                     "each",   "let",    "input", "carry",
                                     "expand", "output", "rough", "vary",
                                     "like",   NULL };

/* The arguments of the group whose rows are followed. */
struct frame {
    const struct frame *up;
    struct text parameters, arguments;
};

struct walk {
    const struct source *source;
    const struct frame *frame;
    const struct row *row;
    struct words names; /* of numbers */
    struct words made;  /* tensors */
    struct words read;  /* of them, in any graph */
    struct words *used;
    struct words missed; /* where something is wrong that was said */
    size_t depth;
    size_t given; /* names of numbers that are not from rows of graphs */
    bool begun;   /* an `each` */
};

/* Others that use the row would say the same. */
static bool is_said(struct walk *walk, struct text word)
{
    return !words_add_place(&walk->missed, word);
}

/* ---- parameters ---- */

static bool find_argument(const struct frame *frame, struct text name,
                          struct text *out)
{
    struct text list = frame->parameters, arguments = frame->arguments;

    while (list.size > 0) {
        struct text argument = take_until(&arguments, ',');

        if (!text_same(take_word(&list), name))
            continue;
        *out = argument;
        return true;
    }
    return false;
}

/* What a parameter stands for; any other word for itself. */
static struct text argument_of(const struct walk *walk, struct text word)
{
    const struct frame *frame = walk->frame;

    while (frame && find_argument(frame, word, &word))
        frame = frame->up;
    return word;
}

/* The same for what is an argument of the group already. */
static struct text argument_above(const struct walk *walk, struct text word)
{
    const struct frame *frame = walk->frame ? walk->frame->up : NULL;

    while (frame && find_argument(frame, word, &word))
        frame = frame->up;
    return word;
}

/* Copies the name with arguments in place of "{parameter}"; false after an
 * error. */
static bool fill_in(struct walk *walk, struct text name, char out[128],
                    size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < name.size; i++) {
        struct text word = { name.at + i, 1 };

        if (name.at[i] == '{') {
            size_t end = i;

            while (end < name.size && name.at[end] != '}')
                end++;
            word = (struct text){ name.at + i + 1, end - i - 1 };
            i = end;
            if (!walk->frame || !find_argument(walk->frame, word, &word)) {
                if (!is_said(walk, word))
                    row_unknown(walk->row, word, "parameter", NULL);
                return false;
            }
            word = argument_above(walk, word);
        }
        if (*size + word.size > 128) {
            row_error(walk->row, "'%.*s' is too long", (int)name.size, name.at);
            return false;
        }
        memcpy(out + *size, word.at, word.size);
        *size += word.size;
    }
    return true;
}

/* ---- numbers ---- */

static void see_number(struct walk *walk, struct text text);

static void see_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    struct walk *walk = user;
    const struct frame *frame = walk->frame;
    struct text argument;

    (void)whole;
    if (frame && find_argument(frame, name, &argument)) {
        walk->frame = frame->up;
        see_number(walk, argument);
        walk->frame = frame;
        return;
    }
    words_add(walk->used, name);
    if (!text_is(name, "i") && !words_have(&walk->names, name) &&
        !is_said(walk, name))
        row_unknown(row, name, "number", &walk->names);
}

static void see_tensor_name(void *user, const struct row *row, struct text name)
{
    struct walk *walk = user;
    char filled[128];
    size_t size;

    if (fill_in(walk, name, filled, &size) && !is_said(walk, name))
        names_check_tensor(row, (struct text){ filled, size });
}

static void see_tensor(struct walk *walk, struct text word)
{
    struct text name = argument_of(walk, word);

    words_add(&walk->read, name);
    if (!words_have(&walk->made, name) && !is_said(walk, word))
        row_unknown(walk->row, name, "earlier tensor", &walk->made);
}

static void see_length(void *user, const struct row *row, struct text name)
{
    (void)row;
    see_tensor(user, name);
}

/* Also of lengths: "cur[0] * heads". */
static void see_number(struct walk *walk, struct text text)
{
    struct expression expression = { .row = walk->row,
                                     .functions = loader_functions,
                                     .name = see_name,
                                     .tensor = see_tensor_name,
                                     .length = see_length,
                                     .user = walk };

    if (text.size > 0)
        expression_check(&expression, text);
    else
        row_error(walk->row, "a number is missing");
}

static void see_numbers(struct walk *walk, struct text list)
{
    size_t count = 0;

    for (; list.size > 0; count++)
        see_number(walk, take_until(&list, ','));
    if (count > 4)
        row_error(walk->row, "a tensor has at most 4 lengths, not %zu", count);
}

/* ---- tensors ---- */

/* "blk.*.{w}.weight|blk.*.{w}": a name after the other. */
static void see_weight(struct walk *walk, struct text word)
{
    char filled[128];
    size_t size;

    while (word.size > 0) {
        struct text name = take_until(&word, '|');

        if (fill_in(walk, name, filled, &size) && !is_said(walk, name))
            names_check_tensor(walk->row, (struct text){ filled, size });
    }
}

/* True if it is a source, not a type. */
static bool see_source(struct walk *walk, struct text word)
{
    struct text argument;

    if (list_has(graph_types, word))
        return false;
    argument = argument_of(walk, word);
    if (memchr(argument.at, '.', argument.size))
        see_weight(walk, argument);
    else
        see_tensor(walk, word);
    return true;
}

static void unknown_operation(const struct row *row, struct text name)
{
    struct words known = { .count = 0 };

    for (size_t i = 0; graph_operations[i].name; i++)
        words_add(&known, text_of(graph_operations[i].name));
    row_unknown(row, name, "operation", &known);
    words_free(&known);
}

/* "NAME = OP SOURCE ... : NUMBER, ..." */
static void see_call(struct walk *walk, struct text to, struct text rest)
{
    struct text head = take_until(&rest, ':'), name = take_word(&head);
    const struct graph_operation *operation;
    size_t count = 0;

    if (text_ends(name, "?"))
        name.size--;
    operation = graph_operation_find(name);
    if (!operation)
        unknown_operation(walk->row, name);
    while (head.size > 0)
        count += see_source(walk, take_word(&head));
    if (operation && (count < operation->least || count > operation->most))
        row_error(walk->row,
                  "'%s' has %zu sources, at least %zu and at most "
                  "%zu are possible",
                  operation->name, count, operation->least, operation->most);
    see_numbers(walk, trimmed(rest));
    words_add(&walk->made, argument_of(walk, to));
}

/* "input NAME TYPE: LENGTH, ..." */
static void see_input(struct walk *walk, struct text rest)
{
    struct text name = take_word(&rest), type = take_until(&rest, ':');

    if (!list_has(graph_types, type))
        row_unknown_of(walk->row, type, "type", graph_types);
    see_numbers(walk, trimmed(rest));
    words_add(&walk->made, argument_of(walk, name));
}

/* ---- rows ---- */

static void walk_part(struct walk *walk, const struct part *part);

static void see_group(struct walk *walk, struct text rest)
{
    const struct row *row = walk->row;
    const struct part *group = rows_use(walk->source, row, rest);
    struct frame frame = { .up = walk->frame };

    if (!group)
        return;
    take_word(&rest);
    frame.arguments = rest;
    frame.parameters = group->words;
    take_word(&frame.parameters);
    walk->frame = &frame;
    walk_part(walk, group);
    walk->frame = frame.up;
    walk->row = row;
}

static void see_each(struct walk *walk, struct text rest)
{
    struct text from = { rest.at, 0 };

    while (from.size < rest.size &&
           !text_begins(
               (struct text){ rest.at + from.size, rest.size - from.size },
               " .. "))
        from.size++;
    if (from.size == rest.size) {
        row_error(walk->row, "'..' expected in 'each FROM .. TO'");
        return;
    }
    see_number(walk, from);
    see_number(walk, (struct text){ rest.at + from.size + 4,
                                    rest.size - from.size - 4 });
}

/* Parts of the graph share what comes before all of them. */
static void see_early(struct walk *walk, struct text word)
{
    if (walk->begun && !is_said(walk, word))
        row_error(walk->row, "'%.*s' comes before the first 'each'",
                  (int)word.size, word.at);
}

static void see_let(struct walk *walk, struct text rest)
{
    struct text name = take_word(&rest);

    see_number(walk, rest);
    if (words_find(&walk->names, name) < walk->given && !is_said(walk, name))
        row_error(walk->row, "the number '%.*s' is there already",
                  (int)name.size, name.at);
    words_add(&walk->names, name);
}

static void see_rough(struct walk *walk, struct text word, struct text rest)
{
    if (rest.size > 0 && !is_said(walk, word))
        row_error(walk->row, "nothing follows '%.*s'", (int)word.size, word.at);
}

static void see_condition(struct walk *walk, struct text rest)
{
    if (expression_is_constant(rest))
        row_error(walk->row, "the condition always has the same value");
    else
        see_number(walk, rest);
}

static void see_row(struct walk *walk, struct text word, struct text rest)
{
    struct text sign = rest;

    if (text_is(word, "use"))
        see_group(walk, rest);
    else if (text_is(word, "if"))
        see_condition(walk, rest);
    else if (text_is(word, "vary")) {
        see_early(walk, word);
        see_number(walk, rest);
    } else if (text_is(word, "each")) {
        if (walk->depth > 1)
            row_error(walk->row, "'each' must be in a graph, not in a group");
        walk->begun = true;
        see_each(walk, rest);
    } else if (text_is(word, "let")) {
        see_early(walk, word);
        see_let(walk, rest);
    } else if (text_is(word, "rough"))
        see_rough(walk, word, rest);
    else if (text_is(word, "input"))
        see_input(walk, rest);
    else if (text_is(word, "carry"))
        while (rest.size > 0) {
            struct text name = take_word(&rest);

            words_add(&walk->made, name);
            words_add(&walk->read, name);
        }
    else if (text_is(word, "expand") || text_is(word, "output"))
        see_tensor(walk, rest);
    else if (text_is(take_word(&sign), "="))
        see_call(walk, word, sign);
    else if (!text_is(word, "else") && !text_is(word, "end"))
        row_unknown_of(walk->row, word, "row", words);
}

static void walk_part(struct walk *walk, const struct part *part)
{
    walk->depth++;
    for (size_t i = 0; i < part->count && row_errors < 20; i++) {
        struct text rest = text_of(part->row[i].text), word = take_word(&rest);

        walk->row = &part->row[i];
        see_row(walk, word, rest);
    }
    walk->depth--;
}

/* ---- all graphs ---- */

static bool is_like(const struct source *source, const struct part *part)
{
    struct text rest = text_of(part->count > 0 ? part->row[0].text : "");

    if (!text_is(take_word(&rest), "like"))
        return false;
    if (part->count > 1)
        row_error(&part->row[1], "'like' is the only row of a graph");
    if (!source_find(source, "graph", rest))
        row_unknown(&part->row[0], rest, "graph", NULL);
    return true;
}

/* The group that the library gives to all graphs. */
static void walk_numbers(struct walk *walk)
{
    struct part *group = source_find(walk->source, "group", text_of("numbers"));

    if (!group)
        return;
    group->used = true;
    walk->given = walk->names.count;
    walk_part(walk, group);
}

static void check_graph(struct walk *walk, const struct part *part,
                        const struct source *loader)
{
    struct part *arch = source_find(loader, "arch", part->name);

    if (!arch) {
        row_unknown(&part->head, part->name, "architecture", NULL);
        return;
    }
    if (is_like(walk->source, part))
        return;
    words_free(&walk->names);
    words_free(&walk->made);
    loader_names(loader, arch, &walk->names);
    for (size_t i = 0; i < graph_given; i++)
        words_add(&walk->names, text_of(numbers[i]));
    walk->begun = false;
    walk_numbers(walk);
    walk_part(walk, part);
}

/* A tensor that no row reads was meant to have another name. */
static void check_read(const struct words *read, const struct part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), name = take_word(&rest);

        if (text_is(take_word(&rest), "=") && !words_have(read, name) &&
            rows_parameter(part, name) == 0)
            row_error(&part->row[i], "no row reads '%.*s'", (int)name.size,
                      name.at);
    }
}

void graph_check(struct source *source, const struct source *loader,
                 struct words *used)
{
    struct walk walk = { .source = source, .used = used };

    for (size_t i = 0; i < source->count; i++) {
        rows_twice(source, &source->part[i]);
        if (!text_is(source->part[i].kind, "group"))
            rows_one_name(&source->part[i]);
        rows_nesting(&source->part[i], false);
        rows_parameters(&source->part[i], MF_ARGUMENTS_MAX);
    }
    if (rows_cycles(source))
        return;
    if (row_errors == 0)
        graph_check_numbers(source);
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, "graph"))
            check_graph(&walk, &source->part[i], loader);
    for (size_t i = 0; i < source->count && row_errors == 0; i++)
        rows_unused(&source->part[i], used);
    for (size_t i = 0; i < source->count && row_errors == 0; i++)
        check_read(&walk.read, &source->part[i]);
}
