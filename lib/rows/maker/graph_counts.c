/* SPDX-License-Identifier: MIT
 *
 * graph_counts.c - what the library has room for while it lays out a graph
 */
#include "lib/rows/maker/graph.h"

void graph_check_numbers(const struct source *source)
{
    const struct part *group = source_find(source, "group", text_of("numbers"));
    size_t wanted = MF_GRAPH_NUMBERS - graph_given;
    size_t lets = group ? rows_most(source, group, "let", true) : 0;

    if (group && (lets != wanted || group->count != wanted))
        row_error(&group->head,
                  "this group has %zu rows 'let' and no others, not %zu of %zu",
                  wanted, lets, group->count);
}

static void check_counts(const struct source *source, const struct part *part,
                         const struct source *loader)
{
    const struct part *arch = source_find(loader, "arch", part->name);
    size_t vary = rows_most(source, part, "vary", false);
    size_t lets = rows_most(source, part, "let", false) +
                  loader_most(loader, arch, "let") + MF_GRAPH_NUMBERS;

    if (vary > MF_GRAPH_VARY_MAX)
        row_error(&part->head, "a graph has at most %d rows 'vary', not %zu",
                  MF_GRAPH_VARY_MAX, vary);
    if (lets > MF_ARCH_LETS_MAX)
        row_error(&part->head,
                  "a graph and its architecture have at most %d rows 'let', "
                  "not %zu",
                  MF_ARCH_LETS_MAX, lets);
}

void graph_check_counts(const struct source *source,
                        const struct source *loader)
{
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, "graph"))
            check_counts(source, &source->part[i], loader);
}
