/* SPDX-License-Identifier: MIT
 *
 * test_loader_facts.c - what loaders demand of each architecture
 *
 * tests/data/loader_facts.txt has the keys and tensors that the rows of each
 * architecture read, in their order, with groups in the place of their names:
 *
 *     NAME                       an architecture, or a group that all have
 *      key TYPE NAME
 *      TENSOR DIMENSIONS #HASH   for one set of numbers; the digest is of all
 *      need EXPRESSION
 *      if VALUES ... else ... end    0 or 1 for each set, "?": unknown
 *      each FROM #HASH TO #HASH ... end
 *      let NAME VALUE #HASH      the numbers of the architecture's own rows
 *      lets #HASH                all of them
 *
 * row_sets.h explains the sets.  The rows that were written first agreed with
 * llama.cpp v0.5.0 about the models of tests/cli/differential.t.
 */
#include "tests/rows/row_sets.h"

#define TABLE "tests/data/loader_facts.txt"

static void print_rows(struct mf_code rows);

static void print_type(unsigned type, unsigned flags, size_t most)
{
    static const char *const names[] = { MF_KEY_TYPES };
    bool bracket = (flags & MF_KEY_ARRAY) && !(flags & MF_KEY_EXACT);

    facts_add("%s%s%s", names[type],
              bracket && (flags & MF_KEY_SINGLE) ? "|" : "",
              bracket                ? "["
              : flags & MF_KEY_EXACT ? "*"
                                     : "");
    if (most > 0)
        facts_add("%zu", most);
    facts_add("%s%s%s", bracket ? "]" : "", flags & MF_KEY_TRUNK ? "-" : "",
              flags & MF_KEY_OPTIONAL ? "?" : "");
}

static void print_key(struct mf_code row)
{
    struct mf_str name;
    unsigned flags, type;
    size_t most;

    type = take_key_row(&row, &flags, &most, &name);
    facts_add(" key ");
    print_type(type, flags, most);
    facts_add(" %s\n", name.at);
}

static void print_tensor(struct mf_code row)
{
    unsigned flags = mf_code_byte(&row), count;
    struct mf_str name = mf_code_text(&row);
    bool optional = (flags & MF_TENSOR_OPTIONAL) ||
                    (sets[0]->frame && sets[0]->frame->optional);
    uint64_t hash = 0;

    facts_add(" %s%s", name.at, optional ? "?" : "");
    count = mf_code_byte(&row);
    for (unsigned i = 0; i < count; i++) {
        struct values values = take_values(&row);
        struct mf_arch_number shown = values.of[SETS - 1];

        facts_add(i > 0 ? "x" : " ");
        if (shown.known)
            facts_add("%lld", (long long)shown.value);
        else
            facts_add("?");
        hash = values_hash(hash, &values);
    }
    facts_add(" #%04x", short_hash(hash));
    if (flags & MF_TENSOR_RESHAPE)
        facts_add(" reshape");
    if (flags & MF_TENSOR_CONDITION) {
        struct values values = take_values(&row);

        facts_add(" optional");
        print_condition(&values);
    } else
        facts_add("\n");
}

static void print_if(struct mf_code row)
{
    struct values which = take_values(&row);
    struct mf_code rows = mf_code_part(&row);

    facts_add(" if");
    print_condition(&which);
    print_rows(rows);
    if (mf_code_left(&row)) {
        facts_add(" else\n");
        print_rows(row);
    }
    facts_add(" end\n");
}

static void print_each(struct mf_code row)
{
    struct values from = take_values(&row), to = take_values(&row);

    facts_add(" each");
    print_values(&from);
    print_values(&to);
    facts_add("\n");
    print_rows(row);
    facts_add(" end\n");
}

static void print_group(struct mf_code row)
{
    const struct mf_frame *up = sets[0]->frame;
    struct mf_frame frame = { .up = up };
    struct mf_code rows = mf_code_use(row, &frame);

    set_frame(&frame);
    print_rows(rows);
    set_frame(up);
}

static void print_like(struct mf_code row)
{
    print_rows(
        mf_part_rows(&mf_loader_rows, &mf_loader_rows.part[mf_code_two(&row)]));
}

static void print_row(enum mf_code_row word, struct mf_code row)
{
    switch (word) {
    case MF_DO_IF:
        print_if(row);
        return;
    case MF_DO_EACH:
        print_each(row);
        return;
    case MF_DO_USE:
        print_group(row);
        return;
    case MF_DO_LIKE:
        print_like(row);
        return;
    case MF_DO_KEY:
        print_key(row);
        return;
    case MF_DO_NEED: /* what it is is its text */
        facts_add(" need %s\n", mf_code_text(&row).at);
        return;
    case MF_DO_TENSOR:
        print_tensor(row);
        return;
    default:
        return; /* a `let`, whose value is printed at the end */
    }
}

static void print_rows(struct mf_code rows)
{
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        print_row(word, row);
    }
}

/* The first `count` of them each in a line. */
static void print_lets(size_t count)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < sets[0]->let_count; i++) {
        struct mf_str name = sets[0]->let[i].name;
        struct values values;

        for (unsigned set = 0; set < SETS; set++)
            values.of[set] = mf_arch_name_value(sets[set], name);
        if (i < count) {
            facts_add(" let %s", name.at);
            print_values(&values);
            facts_add("\n");
        }
        hash = values_hash(facts_hash(hash, name.at, name.size), &values);
    }
    facts_add(" lets #%04x\n", short_hash(hash));
}

static void print_group_of_all(const char *name)
{
    facts_add("%s\n", name);
    print_rows(mf_part_rows(&mf_loader_rows, mf_arch_find(false, str(name))));
}

/* The groups "before" and "after" are printed once, for no architecture. */
static void print_common(void)
{
    open_sets(str(""));
    print_group_of_all("before");
    print_lets(sets[0]->let_count);
    print_group_of_all("after");
    close_sets();
}

static void print_architecture(const char *name)
{
    const struct mf_rows_part *part = mf_arch_find(true, str(name));
    size_t start = facts.size, own;

    open_sets(str(name));
    own = mf_arch_lets(NULL, part);
    print_rows(
        mf_part_rows(&mf_loader_rows, mf_arch_find(false, str("before"))));
    facts.size = start;
    facts_add("%s\n", name);
    print_rows(mf_part_rows(&mf_loader_rows, part));
    print_lets(own);
    close_sets();
}

static void loaders_demand_what_they_did(void **state)
{
    (void)state;
    facts_add("# SPDX-License-Identifier: MIT\n");
    print_common();
    for (size_t i = 0; mf_arch_name_at(i); i++)
        print_architecture(mf_arch_name_at(i));
    facts_compare(TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaders_demand_what_they_did),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, open_no_model, close_no_model);
}
