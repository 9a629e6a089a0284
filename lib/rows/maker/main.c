/* SPDX-License-Identifier: MIT
 *
 * main.c - the rows of the library, checked and written as tables in C
 *
 *     rows --fields FILE [--leave-out KIND] [--loader OUT] [--graph OUT]
 *         [--family OUT] [--naming OUT] [--converted OUT] FILE...
 *
 * fields: what config.json may have.  OUT is where the tables of a language go,
 * and the names of all models that are converted; FILEs have the rows of all
 * languages.  The tables have no rows of paragraphs of the KIND, such as
 * restore, for a library that has no use for them.  If anything is wrong with
 * these, it says what and where, writes nothing and ends with 1.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rows/maker/family.h"
#include "lib/rows/maker/graph.h"
#include "lib/rows/maker/names.h"
#include "lib/rows/maker/naming.h"
#include "lib/rows/maker/write.h"

static struct source loader = { .language = &loader_language };
static struct source graph = { .language = &graph_language };
static struct source family = { .language = &family_language };
static struct source names = { .language = &naming_language };
static struct source *const all[] = { &loader, &graph, &family, &names, NULL };

/* The first ones are in the order of enum rows_table. */
static const char *const options[] = { "--loader", "--graph",     "--family",
                                       "--naming", "--converted", NULL };
enum { OUT_NAMING = 3, OUT_CONVERTED, OUTS };

static void check(struct naming *naming)
{
    struct words used = { .count = 0 };

    names_read_tensors(&names);
    naming_read(naming, &names);
    graph_check(&graph, &loader, &used);
    loader_check(&loader, &used);
    family_check(&family, &loader, &known_names.fields);
    if (row_errors == 0)
        graph_check_counts(&graph, &loader);
    if (row_errors == 0)
        naming_add_loaded(naming, &loader);
}

static void leave_out(struct source *source, const char *kind)
{
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, kind))
            source->part[i].count = 0;
}

/* The names of what is converted are also in rows that are left out. */
static void write_all(const char *const *out, const struct naming *naming,
                      const char *left_out)
{
    struct output output;

    if (out[OUT_NAMING]) {
        output_begin(&output);
        naming_put(output.file, naming);
        output_end(&output, out[OUT_NAMING]);
    }
    if (out[OUT_CONVERTED]) {
        output_begin(&output);
        family_put_converted(output.file, &family);
        output_end(&output, out[OUT_CONVERTED]);
    }
    for (size_t i = 0; i < OUT_NAMING; i++) {
        if (left_out)
            leave_out(all[i], left_out);
        if (out[i])
            rows_write(out[i], all[i], (enum rows_table)i);
    }
}

int main(int argc, char **argv)
{
    const char *out[OUTS] = { NULL }, *left_out = NULL;
    struct naming naming = { .rows = 0 };

    for (int i = 1; i < argc; i++) {
        size_t which = list_find(options, text_of(argv[i]));

        if (strcmp(argv[i], "--fields") == 0 && argv[i + 1])
            names_read_fields(argv[++i]);
        else if (strcmp(argv[i], "--leave-out") == 0 && argv[i + 1])
            left_out = argv[++i];
        else if (which < OUTS && argv[i + 1])
            out[which] = argv[++i];
        else
            source_read(all, argv[i]);
    }
    check(&naming);
    if (row_errors > 0) {
        fprintf(stderr, "wrong rows: %d\n", row_errors);
        return 1;
    }
    write_all(out, &naming, left_out);
    return 0;
}
