/* SPDX-License-Identifier: MIT
 *
 * test_graph_facts.c - what each architecture computes, row by row
 *
 * tests/data/graph_facts.txt has a paragraph for each graph:
 *
 *     NAME ROWS #HASH            how many rows it has, groups included, and a
 *                                digest of their meaning
 *     OPERATION COUNT, ...       how many tensors each operation makes
 *
 * The digest is of operations, tensors and weights as they are named, and of
 * numbers and conditions for some sets of numbers: row_sets.h explains them.
 * Memory is a maximum, which most rows of a graph do not reach: so the bytes of
 * tests/data/plan_archs.tsv alone would not show a change of them.  The rows
 * that were written first agreed with these bytes of llama.cpp v0.5.0.
 */
#include "lib/plan/graph.h"
#include "tests/rows/row_sets.h"

#define TABLE "tests/data/graph_facts.txt"

static const char *const operations[] = {
#define OP(name, rule, kind, least, most, inplace) #name,
#include "lib/plan/ops.def"
#undef OP
#define OP(name, least, most) #name,
    MF_GRAPH_MORE_OPS(OP)
#undef OP
};

enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

static struct {
    unsigned rows, calls[OPERATIONS];
    uint64_t hash;
} graph;

static void digest_rows(struct mf_code rows);

static void digest(uint64_t number)
{
    graph.hash = facts_hash_number(graph.hash, number);
}

static void digest_text(struct mf_str text)
{
    graph.hash = facts_hash(graph.hash, text.at, text.size);
}

static void digest_word(struct mf_code *row)
{
    digest_text(mf_frame_word(sets[0]->frame, mf_code_word(row)));
}

static void digest_values(struct mf_code *row)
{
    struct values values = take_values(row);

    graph.hash = values_hash(graph.hash, &values);
}

static void digest_list(struct mf_code *row)
{
    unsigned count = mf_code_byte(row);

    digest(count);
    for (; count > 0; count--)
        digest_values(row);
}

/* ---- lengths of tensors, in expressions ---- */

static struct mf_arch_number
made_up_length(void *user, struct mf_code_word name, unsigned dimension)
{
    unsigned *set = user;

    return (struct mf_arch_number){
        true,
        made_up(mf_frame_word(sets[*set]->frame, name), *set, 50 + dimension)
    };
}

/* ---- rows ---- */

static void digest_call(struct mf_code row)
{
    char text[MF_ARCH_PATTERN_MAX];
    unsigned op;

    digest(mf_code_byte(&row));
    op = mf_code_byte(&row);
    assert_true(op < OPERATIONS);
    graph.calls[op]++;
    digest_text(str(operations[op]));
    digest_word(&row);
    for (unsigned left = mf_code_byte(&row); left > 0; left--) {
        unsigned type = mf_code_byte(&row);

        digest(type);
        if (type == 0)
            digest_text(mf_arch_pattern(sets[0], &row, text));
    }
    digest_list(&row);
}

static void digest_input(struct mf_code row)
{
    digest_word(&row);
    digest(mf_code_byte(&row));
    digest_list(&row);
}

static void digest_carry(struct mf_code row)
{
    for (unsigned left = mf_code_byte(&row); left > 0; left--)
        digest_text(mf_code_text(&row));
}

static void digest_if(struct mf_code row)
{
    struct mf_code rows;

    digest_values(&row);
    rows = mf_code_part(&row);
    digest_rows(rows);
    digest_rows(row);
}

static void digest_each(struct mf_code row)
{
    digest_values(&row);
    digest_values(&row);
    digest_rows(row);
}

static void digest_group(struct mf_code row)
{
    const struct mf_frame *up = sets[0]->frame;
    struct mf_frame frame = { .up = up };
    struct mf_code rows = mf_code_use(row, &frame);

    set_frame(&frame);
    digest_rows(rows);
    set_frame(up);
}

static void add_let(struct mf_code row)
{
    struct mf_str name = mf_code_text(&row);
    struct mf_code expression;

    mf_code_byte(&row);
    expression = row;
    digest_text(name);
    digest_values(&row);
    for (unsigned set = 0; set < SETS; set++)
        mf_arch_add_let(sets[set], name, expression);
}

static void digest_row(enum mf_code_row word, struct mf_code row)
{
    switch (word) {
    case MF_DO_IF:
        digest_if(row);
        return;
    case MF_DO_EACH:
        digest_each(row);
        return;
    case MF_DO_USE:
        digest_group(row);
        return;
    case MF_DO_LET:
        add_let(row);
        return;
    case MF_DO_VARY:
        digest_values(&row);
        return;
    case MF_DO_INPUT:
        digest_input(row);
        return;
    case MF_DO_CARRY:
        digest_carry(row);
        return;
    case MF_DO_EXPAND:
    case MF_DO_OUTPUT:
        digest_word(&row);
        return;
    case MF_DO_CALL:
        digest_call(row);
        return;
    default:
        assert_true(word == MF_DO_ROUGH);
        return;
    }
}

static void digest_rows(struct mf_code rows)
{
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        digest(word);
        graph.rows += word != MF_DO_USE;
        digest_row(word, row);
    }
    digest(UINT64_MAX); /* where rows end */
}

/* ---- numbers of graphs ---- */

/* What lib/plan/graph.c gives them, and rows that compute more. */
static void add_numbers(void)
{
    static const char *const names[] = {
        "sequences", "streams",  "tokens",  "outputs", "cells_full",
        "cells_swa", "flash_on", "windows", "v_most",  "small_k",
        "small_v",   "wide_k",   "wide_v",
    };

    for (unsigned set = 0; set < SETS; set++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
            struct mf_arch_run *run = sets[set];

            mf_arch_add_let(run, str(names[i]), (struct mf_code){ 0 });
            run->let[run->let_count - 1].fixed = true;
            run->let[run->let_count - 1].value =
                (struct mf_arch_number){ true, made_up(str(names[i]), set, 0) };
        }
    digest_rows(
        mf_part_rows(&mf_graph_rows, mf_rows_find(&mf_graph_rows, MF_ROWS_group,
                                                  str("numbers"))));
}

/* Reads the keys of a loader's rows. */
static void read_keys(struct mf_code rows)
{
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);
        struct mf_frame frame = { .up = NULL };
        struct mf_str name;
        unsigned flags;
        size_t most;

        if (word == MF_DO_KEY)
            take_key_row(&row, &flags, &most, &name);
        else if (word == MF_DO_USE)
            read_keys(mf_code_use(row, &frame));
        else if (word == MF_DO_LIKE)
            read_keys(mf_part_rows(&mf_loader_rows,
                                   &mf_loader_rows.part[mf_code_two(&row)]));
        else if (word == MF_DO_IF) {
            mf_code_expression(&row);
            read_keys(mf_code_part(&row));
            read_keys(row);
        }
    }
}

static void print_graph(const struct mf_rows_part *part)
{
    static unsigned numbers[SETS];
    struct mf_str words = mf_part_words(&mf_graph_rows, part);
    struct mf_str name = mf_word(&words);
    const struct mf_rows_part *arch = mf_arch_find(true, name);

    memset(&graph, 0, sizeof(graph));
    open_sets(name);
    for (unsigned set = 0; set < SETS; set++) {
        numbers[set] = set;
        sets[set]->length = made_up_length;
        sets[set]->length_user = &numbers[set];
    }
    read_keys(
        mf_part_rows(&mf_loader_rows, mf_arch_find(false, str("before"))));
    if (arch)
        read_keys(mf_part_rows(&mf_loader_rows, arch));
    add_numbers();
    digest_rows(mf_part_rows(&mf_graph_rows, part));
    facts_add("%s %u #%08x\n", name.at, graph.rows,
              (unsigned)(graph.hash & UINT32_MAX));
    for (unsigned op = 0, first = 1; op < OPERATIONS; op++)
        if (graph.calls[op] > 0) {
            facts_add("%s %s %u", first ? "" : ",", operations[op],
                      graph.calls[op]);
            first = 0;
        }
    facts_add("\n");
    close_sets();
}

static void print_like(const struct mf_rows_part *part,
                       const struct mf_rows_part *other)
{
    struct mf_str words = mf_part_words(&mf_graph_rows, part);
    struct mf_str others = mf_part_words(&mf_graph_rows, other);

    facts_add("%s", mf_word(&words).at);
    facts_add(" like %s\n", mf_word(&others).at);
}

static void graphs_are_what_they_were(void **state)
{
    (void)state;
    facts_add("# SPDX-License-Identifier: MIT\n");
    for (size_t i = 0; i < mf_graph_rows.count; i++) {
        const struct mf_rows_part *part = &mf_graph_rows.part[i];
        struct mf_code rows = mf_part_rows(&mf_graph_rows, part);
        enum mf_code_row word;
        struct mf_code row;

        if (part->kind != MF_ROWS_graph || !mf_code_left(&rows))
            continue;
        row = mf_code_row(&rows, &word);
        if (word == MF_DO_LIKE)
            print_like(part, &mf_graph_rows.part[mf_code_two(&row)]);
        else
            print_graph(part);
    }
    facts_compare(TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_what_they_were),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, open_no_model, close_no_model);
}
