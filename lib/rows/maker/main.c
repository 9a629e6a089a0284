/* SPDX-License-Identifier: MIT
 *
 * main.c - the rows of the library, checked and written as tables in C
 *
 *     rows --fields FILE --tensors FILE [--loader OUT] [--graph OUT]
 *         [--family OUT] FILE...
 *
 * fields: what config.json may have; tensors: what GGUF calls them.  OUT is
 * where the tables of a language go; FILEs have the rows of all of them.  If
 * anything is wrong with these, it says what and where, writes nothing and
 * ends with 1.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rows/maker/family.h"
#include "lib/rows/maker/graph.h"
#include "lib/rows/maker/names.h"
#include "lib/rows/maker/write.h"

int main(int argc, char **argv)
{
    struct source loader = { .language = &loader_language };
    struct source graph = { .language = &graph_language };
    struct source family = { .language = &family_language };
    struct source *const all[] = { &loader, &graph, &family, NULL };
    static const char *const options[] = { "--loader", "--graph", "--family" };
    const char *out[3] = { NULL };
    struct words used = { .count = 0 };

    for (int i = 1; i < argc; i++) {
        size_t which = 0;

        while (which < 3 && strcmp(argv[i], options[which]) != 0)
            which++;
        if (strcmp(argv[i], "--fields") == 0 && argv[i + 1])
            names_read_fields(argv[++i]);
        else if (strcmp(argv[i], "--tensors") == 0 && argv[i + 1])
            names_read_tensors(argv[++i]);
        else if (which < 3 && argv[i + 1])
            out[which] = argv[++i];
        else
            source_read(all, argv[i]);
    }
    graph_check(&graph, &loader, &used);
    loader_check(&loader, &used);
    family_check(&family, &loader, &known_names.fields);
    if (row_errors > 0) {
        fprintf(stderr, "wrong rows: %d\n", row_errors);
        return 1;
    }
    for (size_t i = 0; i < 3; i++)
        if (out[i])
            rows_write(out[i], all[i], (enum rows_table)i);
    return 0;
}
