/* SPDX-License-Identifier: MIT
 *
 * test_family_facts.c - how families are converted and restored, row by row
 *
 * tests/data/family_facts.txt has a line for each paragraph of sections
 * `convert` and `restore`, and of their groups:
 *
 *     KIND NAME... #HASH: WORD COUNT, ...
 *
 * how many rows of each word it has, and a digest of them: names, types,
 * expressions, patterns and steps, without the layout and comments.  What rows
 * give is tested with folders that llama.cpp's converter has converted
 * (test_hub_keys.c, test_hub_tensors.c) and that come back (test_hub_back.c).
 * These do not have every variant of every family; here no row can change
 * without notice.
 */
#include "lib/rows/rows.h"
#include "tests/facts.h"

#define TABLE "tests/data/family_facts.txt"

static const char *const kinds[] = { "arch",      "graph",   "family",
                                     "projector", "tensors", "config",
                                     "restore",   "group" };

static const struct {
    enum mf_code_row code;
    const char *word;
} words[] = {
    { MF_DO_LET, "let" },
    { MF_DO_IF, "if" },
    { MF_DO_USE, "use" },
    { MF_DO_CLASS, "class" },
    { MF_DO_ARCH, "arch" },
    { MF_DO_VOCAB, "vocab" },
    { MF_DO_MTP, "mtp" },
    { MF_DO_WITHOUT_MTP, "without_mtp" },
    { MF_DO_PART, "part" },
    { MF_DO_PUT, "key" },
    { MF_DO_PUT_FIRST, "first_key" },
    { MF_DO_REFUSE, "refuse" },
    { MF_DO_DEFAULT, "default" },
    { MF_DO_SET, "set" },
    { MF_DO_FIELD, "field" },
    { MF_DO_USUAL, "usual" },
    { MF_DO_NOTHING, "null" },
    { MF_DO_SKIP, "skip" },
    { MF_DO_RENAME, "rename" },
    { MF_DO_REPLACE, "replace" },
    { MF_DO_CHANGE, "tensor" },
    { MF_DO_EARLY, "early" },
    { MF_DO_EXTRA, "extra" },
    { MF_DO_TYPE, "type" },
    { MF_DO_GGUF_TYPE, "gguf_type" },
};

enum { WORDS = sizeof(words) / sizeof(*words) };

static const char *const functions[] = {
#define FORM(name, arguments, call)     name,
#define FUNCTION(name, arguments, call) name,
#include "lib/hf/hub/functions.def"
#undef FORM
#undef FUNCTION
};

static const char *const steps[] = {
#define STEP(NAME, word, least, most, names, whole, on) word,
#include "lib/hf/hub/tensor_steps.def"
#undef STEP
};

static unsigned count_of[WORDS];
static uint64_t hash;

/* ---- digests ---- */

static void digest(const void *bytes, size_t size)
{
    hash = facts_hash(hash, bytes, size);
}

static void digest_name(const char *name)
{
    digest(name, strlen(name) + 1);
}

static void digest_text(struct mf_code *code)
{
    struct mf_str text = mf_code_text(code);

    digest(text.at, text.size + 1);
}

static unsigned digest_byte(struct mf_code *code)
{
    uint8_t byte = (uint8_t)mf_code_byte(code);

    digest(&byte, 1);
    return byte;
}

static void digest_expression(struct mf_code *code);

static void digest_expressions(struct mf_code *code, unsigned count)
{
    for (; count > 0; count--)
        digest_expression(code);
}

static void digest_texts(struct mf_code *code)
{
    for (unsigned left = digest_byte(code); left > 0; left--)
        digest_text(code);
}

/* What follows the function: the size, the arguments, perhaps their text. */
static void digest_call(struct mf_code *code)
{
    unsigned function = mf_code_byte(code);
    struct mf_code rest = mf_code_part(code);

    digest_name(functions[function]);
    digest_expressions(&rest, digest_byte(&rest));
}

static void digest_number(struct mf_code *code)
{
    hash = facts_hash_number(hash, (uint64_t)mf_code_number(code));
}

/* What a node has of its own; how many expressions follow is given. */
static unsigned digest_node(enum mf_code_kind kind, struct mf_code *code)
{
    switch (kind) {
    case MF_IS_NUMBER:
        digest_number(code);
        return 0;
    case MF_IS_REAL:
    case MF_IS_TEXT:
    case MF_IS_NAME:
    case MF_IS_KEY:
        digest_text(code);
        return 0;
    case MF_IS_PATH:
        digest_texts(code);
        return 0;
    case MF_IS_CALL:
        digest_call(code);
        return 0;
    case MF_IS_MEMBER:
        digest_text(code);
        return 1;
    case MF_IS_LIST:
        return digest_byte(code);
    case MF_IS_CHOICE: /* two sizes */
        mf_code_bytes(code, 4);
        return 3;
    case MF_IS_AND:
    case MF_IS_OR:
        mf_code_bytes(code, 2);
        return 2;
    case MF_IS_DIVIDE:
    case MF_IS_QUOTIENT:
    case MF_IS_REMAINDER: /* the divisor once more, as a text */
        mf_code_text(code);
        return 2;
    case MF_IS_NULL:
    case MF_IS_TRUE:
    case MF_IS_FALSE:
        return 0;
    default:
        return kind == MF_IS_NOT || kind == MF_IS_MINUS ? 1 : 2;
    }
}

static void digest_expression(struct mf_code *code)
{
    enum mf_code_kind kind = (enum mf_code_kind)digest_byte(code);

    digest_expressions(code, digest_node(kind, code));
}

/* ---- rows about tensors ---- */

static void digest_template(struct mf_code *code)
{
    for (unsigned left = digest_byte(code); left > 0; left--)
        if (digest_byte(code) == MF_PIECE_TEXT)
            digest_text(code);
        else
            digest_expression(code);
}

static void digest_range(struct mf_code *code)
{
    unsigned flags = digest_byte(code);

    for (unsigned flag = MF_RANGE_FROM; flag <= MF_RANGE_AT; flag *= 2)
        if (flags & flag)
            digest_expression(code);
    if (flags & MF_RANGE_EXCEPT)
        digest_text(code);
}

static void digest_steps(struct mf_code *code)
{
    for (unsigned left = digest_byte(code); left > 0; left--) {
        digest_name(steps[mf_code_byte(code)]);
        digest_byte(code);
        digest_expressions(code, digest_byte(code));
        for (unsigned names = digest_byte(code); names > 0; names--)
            digest_template(code);
    }
}

/* ---- rows ---- */

static void digest_rows(struct mf_code rows);

static void digest_if(struct mf_code row)
{
    digest_expression(&row);
    digest_rows(mf_code_part(&row));
    digest_rows(row);
}

static void digest_use(struct mf_code row)
{
    mf_code_byte(&row);
    digest_name(mf_part_words(row.rows, &row.rows->part[mf_code_two(&row)]).at);
    assert_int_equal(mf_code_byte(&row), 0);
}

static void digest_let(struct mf_code row)
{
    digest_text(&row);
    if (!digest_byte(&row))
        digest_expression(&row);
}

static void digest_value_row(enum mf_code_row word, struct mf_code row)
{
    if (word == MF_DO_PUT || word == MF_DO_PUT_FIRST) {
        digest_byte(&row);
        digest_byte(&row);
    }
    digest_text(&row);
    if (word == MF_DO_PART)
        digest_text(&row);
    else if (word >= MF_DO_PUT && word <= MF_DO_USUAL)
        digest_expression(&row);
    if (word == MF_DO_REFUSE)
        digest_text(&row);
    assert_false(mf_code_left(&row));
}

static void digest_tensor_row(enum mf_code_row word, struct mf_code row)
{
    if (word == MF_DO_TYPE || word == MF_DO_GGUF_TYPE)
        digest_byte(&row);
    if (word == MF_DO_TYPE || word == MF_DO_GGUF_TYPE || word == MF_DO_SKIP)
        digest_texts(&row);
    else
        digest_text(&row);
    if (word == MF_DO_RENAME || word == MF_DO_REPLACE)
        digest_template(&row);
    if (word != MF_DO_TYPE && word != MF_DO_GGUF_TYPE)
        digest_range(&row);
    if (word == MF_DO_CHANGE || word == MF_DO_EARLY || word == MF_DO_EXTRA)
        digest_steps(&row);
    assert_false(mf_code_left(&row));
}

static void digest_row(enum mf_code_row word, struct mf_code row)
{
    unsigned at = 0;

    while (at < WORDS && words[at].code != word)
        at++;
    assert_true(at < WORDS);
    count_of[at]++;
    digest_name(words[at].word);
    if (word == MF_DO_IF)
        digest_if(row);
    else if (word == MF_DO_USE)
        digest_use(row);
    else if (word == MF_DO_LET)
        digest_let(row);
    else if (word >= MF_DO_SKIP)
        digest_tensor_row(word, row);
    else if (word != MF_DO_MTP && word != MF_DO_WITHOUT_MTP)
        digest_value_row(word, row);
}

static void digest_rows(struct mf_code rows)
{
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        digest_row(word, row);
    }
    digest_name("end");
}

static void print_part(const struct mf_rows_part *part)
{
    memset(count_of, 0, sizeof(count_of));
    hash = 0;
    digest_rows(mf_part_rows(&mf_family_rows, part));
    facts_add("%s %s #%08x:", kinds[part->kind],
              mf_part_words(&mf_family_rows, part).at,
              (unsigned)(hash & UINT32_MAX));
    for (unsigned i = 0, first = 1; i < WORDS; i++)
        if (count_of[i] > 0) {
            facts_add("%s %s %u", first ? "" : ",", words[i].word, count_of[i]);
            first = 0;
        }
    facts_add("\n");
}

static void families_are_what_they_were(void **state)
{
    (void)state;
    facts_add("# SPDX-License-Identifier: MIT\n");
    for (size_t i = 0; i < mf_family_rows.count; i++)
        print_part(&mf_family_rows.part[i]);
    facts_compare(TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_what_they_were),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
