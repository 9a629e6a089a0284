/* SPDX-License-Identifier: MIT
 *
 * tree.c - info --tree: the bytes of a model by the parts of its tensors' names
 *
 * In the order of names, tensors of a group are next to each other, and so are
 * groups that differ in a number.  Groups are printed in the order of the file.
 */
#include "cli/commands/info/tree.h"

#include <string.h>

#include "cli/chart.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/totals.h"

/* A name can have as many parts as letters; the last level has the rest. */
#define LEVELS_MOST 16

/* Digits of a block's number: more do not count blocks. */
#define DIGITS_MOST 6

/* Columns of a bar, on a terminal of at least as many. */
#define BAR        20
#define BAR_FROM   72
#define BAR_NARROW 8
#define NARROW     48
#define BAR_LEAST  4

/* The end of a range, and what can be cut. */
#define NAME_MIN (DIGITS_MOST + 6)

/* What a line has next to its name and its bar: bytes, tensors, spaces. */
#define BESIDE (2 + 1 + 1 + 10 + 1 + 7 + 2)
#define TYPES  20 /* columns that the types usually take */

/* Tensors whose names begin alike. */
struct group {
    struct mf_str key;   /* of the first of them */
    size_t first, count; /* in the order of names */
    size_t digits;       /* at the end of the key: a block's number; or 0 */
    size_t family;       /* the first group with the same key but for that */
    bool shown;          /* of the first group of such */
};

struct tree {
    struct run *run;
    const struct mf_model *model;
    size_t levels;      /* 0: up to the first number */
    uint32_t *name;     /* tensors in the order of names */
    uint32_t *group_of; /* of each tensor */
    struct group *group;
    size_t tensors, groups;
    /* Of the lines that will be printed. */
    size_t width, bar;
    uint64_t most;
};

/* ---- parts of names ---- */

/* The end of the part that begins there. */
static size_t part_end(struct mf_str name, size_t at)
{
    while (at < name.size && name.at[at] != '.')
        at++;
    return at;
}

static bool is_number(struct mf_str name, size_t from, size_t to)
{
    if (from == to || to - from > DIGITS_MOST ||
        (name.at[from] == '0' && to - from > 1))
        return false;
    while (from < to && name.at[from] >= '0' && name.at[from] <= '9')
        from++;
    return from == to;
}

/* How much of the name the first levels are; *digits: of the number at its end,
 * or 0. */
static size_t key_size(struct mf_str name, size_t levels, size_t *digits)
{
    size_t end = part_end(name, 0), before = end;

    *digits = 0;
    for (size_t level = 1; end < name.size; level++) {
        size_t next = part_end(name, end + 1);

        if (is_number(name, end + 1, next)) {
            *digits = next - end - 1;
            end = next;
            if (levels == 0 || end == name.size)
                return end;
            next = part_end(name, end + 1);
        }
        if (levels > 0 ? level == levels : level == LEVELS_MOST)
            return end;
        before = end;
        end = next;
        *digits = 0;
    }
    return levels > 0 || before == 0 ? end : before;
}

static struct mf_tensor tensor_at(const struct tree *tree, size_t place)
{
    struct mf_tensor tensor = { .type = "" };

    mf_tensor_at(tree->model, tree->name[place], &tensor);
    return tensor;
}

/* ---- groups ---- */

static struct mf_str stem_of(const struct group *group)
{
    return (struct mf_str){ group->key.at, group->key.size - group->digits };
}

static void begin_group(struct tree *tree, struct mf_str key, size_t digits,
                        size_t first)
{
    struct group *group = &tree->group[tree->groups];

    *group = (struct group){
        .key = key, .digits = digits, .first = first, .family = tree->groups
    };
    if (tree->groups > 0 && digits > 0 && group[-1].digits > 0 &&
        str_same(stem_of(group), stem_of(group - 1)))
        group->family = group[-1].family;
    tree->groups++;
}

static void make_groups(struct tree *tree)
{
    for (size_t i = 0; i < tree->tensors; i++) {
        struct mf_str key = tensor_at(tree, i).name;
        size_t digits;

        key.size = key_size(key, tree->levels, &digits);
        if (i == 0 || !str_same(key, tree->group[tree->groups - 1].key))
            begin_group(tree, key, digits, i);
        tree->group[tree->groups - 1].count++;
        tree->group_of[tree->name[i]] = (uint32_t)(tree->groups - 1);
    }
}

static uint64_t number_of(const struct group *group)
{
    const char *at = group->key.at + group->key.size - group->digits;
    uint64_t number = 0;

    for (size_t i = 0; i < group->digits; i++)
        number = number * 10 + (uint64_t)(at[i] - '0');
    return number;
}

/* The same kinds of tensors, with the same types and bytes. */
static bool is_alike(const struct tree *tree, const struct group *a,
                     const struct group *b)
{
    bool alike = a->count == b->count;

    for (size_t i = 0; i < a->count && alike; i++) {
        struct mf_tensor x = tensor_at(tree, a->first + i);
        struct mf_tensor y = tensor_at(tree, b->first + i);
        struct mf_str x_rest = { x.name.at + a->key.size,
                                 x.name.size - a->key.size };
        struct mf_str y_rest = { y.name.at + b->key.size,
                                 y.name.size - b->key.size };

        alike = str_same(x_rest, y_rest) && strcmp(x.type, y.type) == 0 &&
                x.data.size == y.data.size;
    }
    return alike;
}

static void add_group(const struct tree *tree, struct totals *totals,
                      const struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        struct mf_tensor tensor = tensor_at(tree, group->first + i);

        totals_add(totals, &tensor);
    }
}

/* ---- lines ---- */

/* Groups that are alike, and have numbers one after the other. */
struct line {
    const struct group *first, *last;
    struct totals totals;
};

typedef void line_function(struct tree *tree, const struct line *line);

static void end_line(struct tree *tree, struct line *line,
                     line_function *function)
{
    if (line->first)
        function(tree, line);
    line->first = NULL;
}

static void add_to_line(struct tree *tree, struct line *line,
                        const struct group *group, line_function *function)
{
    if (line->first && !(number_of(group) == number_of(line->last) + 1 &&
                         is_alike(tree, line->last, group)))
        end_line(tree, line, function);
    if (!line->first) {
        line->first = group;
        memset(&line->totals, 0, sizeof(line->totals));
    }
    line->last = group;
    add_group(tree, &line->totals, group);
}

/* A group and those that differ from it in the number, by number: among those
 * of as many digits, names are in the order of numbers. */
static void each_line_of(struct tree *tree, size_t first,
                         line_function *function)
{
    static struct line line; /* large */
    size_t end = first + 1;

    while (end < tree->groups && tree->group[end].family == first)
        end++;
    for (size_t digits = 0; digits <= DIGITS_MOST; digits++)
        for (size_t i = first; i < end; i++)
            if (tree->group[i].digits == digits)
                add_to_line(tree, &line, &tree->group[i], function);
    end_line(tree, &line, function);
}

/* In the order of the file. */
static void each_line(struct tree *tree, line_function *function)
{
    for (size_t i = 0; i < tree->groups; i++)
        tree->group[i].shown = false;
    for (size_t i = 0; i < tree->tensors; i++) {
        size_t first = tree->group[tree->group_of[i]].family;

        if (tree->group[first].shown)
            continue;
        tree->group[first].shown = true;
        each_line_of(tree, first, function);
    }
}

/* The last number of "blk.0-31". */
static struct number_text range_end(const struct line *line)
{
    struct number_text text = { "" };

    if (line->last != line->first) {
        text.at[0] = '-';
        text.at[1 + put_decimal(text.at + 1, number_of(line->last))] = 0;
    }
    return text;
}

static void measure_line(struct tree *tree, const struct line *line)
{
    size_t width = out_width(line->first->key) + strlen(range_end(line).at);

    tree->width = width > tree->width ? width : tree->width;
    if (line->totals.all.bytes > tree->most)
        tree->most = line->totals.all.bytes;
}

/* Cut to the terminal; nothing where it ends. */
static void print_types(const struct tree *tree, const struct totals *totals)
{
    struct out *out = &tree->run->out;
    size_t taken = tree->width + tree->bar + BESIDE;

    if (out->columns > 0 && out->columns <= taken)
        return;
    out_text(out, "  ");
    out_cell_begin(out);
    for (size_t i = 0; i < totals->count; i++)
        out_format(out, "%s%s", i > 0 ? " " : "", totals->row[i].type);
    if (out->columns > 0)
        out_cell_end(out, out->columns - taken);
}

static void print_line(struct tree *tree, const struct line *line)
{
    struct number_text end = range_end(line);
    struct out *out = &tree->run->out;
    const struct totals *totals = &line->totals;
    size_t room = tree->width - strlen(end.at), width;

    width = out_width(line->first->key);
    width = width < room ? width : room;
    out_text(out, "  ");
    out_column(out, line->first->key, width, true);
    out_text(out, end.at);
    out_spaces(out, room - width + 1);
    chart_bar(out, totals->all.bytes, tree->most, tree->bar);
    out_format(out, " %10s ", size_text(totals->all.bytes).at);
    out_number(out, totals->all.tensors, 7);
    print_types(tree, totals);
    out_text(out, "\n");
}

/* Names get what the rest of a terminal's line leaves. */
static void fit(struct tree *tree)
{
    size_t columns = tree->run->out.columns, taken, most = NAME_MIN;

    tree->bar = columns == 0 || columns >= BAR_FROM ? BAR
                : columns >= NARROW                 ? BAR_NARROW
                                                    : BAR_LEAST;
    taken = tree->bar + BESIDE + (columns < BAR_FROM ? 0 : TYPES);
    if (columns > taken + NAME_MIN)
        most = columns - taken;
    if (columns > 0 && tree->width > most)
        tree->width = most;
}

static void print_lines(struct tree *tree)
{
    struct out *out = &tree->run->out;

    tree->width = NAME_MIN;
    each_line(tree, measure_line);
    fit(tree);
    out_text(out, "  ");
    out_column(out, str_of("part"), tree->width, false);
    out_format(out, " %*s %10s %7s", (int)tree->bar, "", "bytes", "tensors");
    if (out->columns == 0 ||
        out->columns > tree->width + tree->bar + BESIDE + 5)
        out_text(out, "  types");
    out_text(out, "\n");
    each_line(tree, print_line);
}

/* ---- JSON ---- */

/* The end of the first levels of a group's key. */
static size_t level_end(const struct tree *tree, size_t group, size_t levels)
{
    struct mf_str key = tree->group[group].key;
    size_t digits;

    return levels == 0 ? 0 : key_size(key, levels, &digits);
}

/* The groups from `first` on that have the same first levels. */
static size_t node_end(const struct tree *tree, size_t first, size_t end,
                       size_t levels)
{
    size_t size = level_end(tree, first, levels), next = first + 1;

    while (next < end && level_end(tree, next, levels) == size &&
           memcmp(tree->group[next].key.at, tree->group[first].key.at, size) ==
               0)
        next++;
    return next;
}

static void node_json(const struct tree *tree, size_t first, size_t end,
                      size_t levels)
{
    struct run *run = tree->run;
    struct mf_str name = tree->group[first].key;
    struct totals totals = { 0 };

    name.size = level_end(tree, first, levels);
    for (size_t i = first; i < end; i++)
        add_group(tree, &totals, &tree->group[i]);
    json_str(run, "name", name);
    json_number(run, "tensors", totals.all.tensors);
    json_number(run, "parameters", totals.all.parameters);
    json_number(run, "bytes", totals.all.bytes);
    totals_show(run, &totals);
    if (end == first + 1 && name.size == tree->group[first].key.size)
        return;
    mf_json_key(&run->json, "nodes");
    mf_json_begin(&run->json, '[');
    for (size_t next; first < end; first = next) {
        next = node_end(tree, first, end, levels + 1);
        mf_json_begin(&run->json, '{');
        node_json(tree, first, next, levels + 1);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

/* ---- all of it ---- */

static void show(struct tree *tree)
{
    for (size_t i = 0; i < tree->tensors; i++)
        tree->name[i] = (uint32_t)i;
    mf_tensor_sort(tree->model, MF_ORDER_NAME, tree->name, tree->tensors);
    make_groups(tree);
    if (!tree->run->options->json) {
        print_lines(tree);
        return;
    }
    mf_json_key(&tree->run->json, "tree");
    mf_json_begin(&tree->run->json, '{');
    node_json(tree, 0, tree->groups, 0);
    mf_json_end(&tree->run->json, '}');
}

void tree_show(struct run *run, const struct mf_model *model, const char *path,
               uint64_t depth)
{
    size_t count = mf_model_info(model)->tensor_count;
    size_t each = sizeof(struct group) + 2 * sizeof(uint32_t);
    struct tree tree = { .run = run, .model = model, .tensors = count };

    if (count == 0) {
        if (!run->options->json)
            out_text(&run->out, "  no tensors\n");
        return;
    }
    tree.levels = depth < LEVELS_MOST ? (size_t)depth : LEVELS_MOST;
    tree.group = mf_env_resize(run->env, NULL, 0, count * each);
    if (!tree.group) {
        report_failure(run, path);
        return;
    }
    tree.name = (void *)(tree.group + count);
    tree.group_of = tree.name + count;
    show(&tree);
    mf_env_resize(run->env, tree.group, count * each, 0);
}
