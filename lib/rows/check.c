/* SPDX-License-Identifier: MIT
 *
 * check.c - whether all rows of the library make sense
 *
 *     rows-check --fields FILE --tensors FILE --loader FILE... --graph FILE...
 * --family FILE...
 *
 * fields: what config.json may have; tensors: what GGUF calls them; the others
 * are the languages of rows.h.
 * Says what is wrong, and where, and ends with 1; else it says nothing.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rows/family.h"
#include "lib/rows/graph.h"
#include "lib/rows/names.h"

int main(int argc, char **argv)
{
    struct source loader = { .language = &loader_language };
    struct source graph = { .language = &graph_language };
    struct source family = { .language = &family_language };
    struct source *source = NULL;
    struct words used = { .count = 0 };

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--fields") == 0 && argv[i + 1])
            names_read_fields(argv[++i]);
        else if (strcmp(argv[i], "--tensors") == 0 && argv[i + 1])
            names_read_tensors(argv[++i]);
        else if (strcmp(argv[i], "--loader") == 0)
            source = &loader;
        else if (strcmp(argv[i], "--graph") == 0)
            source = &graph;
        else if (strcmp(argv[i], "--family") == 0)
            source = &family;
        else if (source)
            source_read(source, argv[i]);
    graph_check(&graph, &loader, &used);
    loader_check(&loader, &used);
    family_check(&family, &loader, &known_names.fields);
    if (row_errors > 0)
        fprintf(stderr, "wrong rows: %d\n", row_errors);
    return row_errors > 0;
}
