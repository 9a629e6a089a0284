/* SPDX-License-Identifier: MIT
 *
 * test_arch.c - the rows of architectures and what reads them
 */
#include "tests/image.h"

#include "lib/arch/run.h"
#include "lib/base/error.h"
#include "lib/base/heap.h"
#include "tests/rows/rows_of.h"

/* ---- expressions ---- */

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* two is 2 and three is 3 in every block, each is 5, 6, 7; lost is unknown. */
static const int64_t each[] = { 5, 6, 7 };

static struct mf_arch_run *set_up(void)
{
    static union {
        struct mf_arch_run run;
        char room[sizeof(struct mf_arch_run) + 3 * sizeof(struct mf_arch_let)];
    } memory;
    struct mf_arch_run *run = &memory.run;

    memset(&memory, 0, sizeof(memory));
    run->let_room = 3;
    mf_arch_add_let(run, str("two"), loader_expression("2", ""));
    mf_arch_add_let(run, str("three"), loader_expression("two + 1", ""));
    mf_arch_add_let(run, str("blocks"), loader_expression("three", ""));
    run->key[0] = (struct mf_arch_key){
        .name = str("each"), .present = true, .each = each, .count = 3
    };
    run->key[1] = (struct mf_arch_key){ .name = str("lost") };
    run->key[2] = (struct mf_arch_key){ .name = str("a.kind"),
                                        .present = true,
                                        .text = str("yarn") };
    run->key_count = 3;
    return run;
}

static void expressions_have_values(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "7 / 2 % 2", 1 },
        { "10 - 3 - 2", 5 },
        { "-two + three", 1 },
        { "!two || three == 3 && 1", 1 },
        { "two < three && three <= 3 && 3 >= 3 && 4 > 3 && 1 != 2", 1 },
        { "0 ? 1 / 0 : two ? 4 : 1 / 0", 4 },
        { "two == 3 && 1 / 0 || 2", 1 },
        { "each", 5 },
        { "at(2, each)", 7 },
        { "most(each)", 7 },
        { "any(i == 2)", 1 },
        { "any(each == 8)", 0 },
        { "min(3, two) * max(3, two)", 6 },
        { "set(each) + set(lost)", 1 },
        { "len(each)", 3 },
        { "is(a.kind, yarn)", 1 },
        { "is(a.kind, linear)", 0 },
        { "0 * lost", 0 },
    };
    struct mf_arch_run *run = set_up();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct mf_arch_number out =
            mf_arch_number_of(run, loader_expression(cases[i].text, ""));

        if (!out.known || out.value != cases[i].value)
            fail_msg("%s is %" PRId64, cases[i].text, out.value);
    }
}

static void unknown_stays_unknown(void **state)
{
    static const char *const cases[] = {
        "lost",
        "lost + 1",
        "1 / 0",
        "1 % (two - 2)",
        "lost ? 1 : 2",
        "lost && 1",
        "0 || lost",
        "9223372036854775807 + 1",
        "9223372036854775807 * two",
        "at(3, each)",
        "most(lost)",
    };
    struct mf_arch_run *run = set_up();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (mf_arch_number_of(run, loader_expression(cases[i], "")).known)
            fail_msg("%s is known", cases[i]);
}

static void arguments_belong_to_their_caller(void **state)
{
    struct mf_frame outer = { .up = NULL,
                              .value = { loader_expression("two", ""),
                                         loader_expression("max(1, 3)", "") } };
    struct mf_frame inner = { .up = &outer,
                              .value = { loader_expression("n * 10", "n m") } };
    struct mf_arch_run *run = set_up();

    (void)state;
    run->frame = &outer;
    assert_int_equal(
        mf_arch_number_of(run, loader_expression("n * m", "n m")).value, 6);
    run->frame = &inner;
    assert_int_equal(mf_arch_number_of(run, loader_expression("n", "n")).value,
                     20);
}

/* The maker of the tables refuses such rows. */
static void a_name_made_of_itself_is_unknown(void **state)
{
    struct mf_arch_run *run = set_up();

    (void)state;
    run->let[0].expression = loader_expression("max(1, three)", "");
    assert_false(mf_arch_number_of(run, loader_expression("two", "")).known);
    assert_false(mf_arch_number_of(run, loader_expression("three", "")).known);
    run = set_up();
    assert_int_equal(
        mf_arch_number_of(run, loader_expression("three", "")).value, 3);
}

/* ---- the tables ---- */

static void architectures_are_listed_once(void **state)
{
    const char *name, *other;

    (void)state;
    for (size_t i = 0; (name = mf_arch_name_at(i)) != NULL; i++)
        for (size_t k = 0; k < i; k++) {
            other = mf_arch_name_at(k);
            assert_string_not_equal(name, other);
        }
}

static void a_name_in_other_letters_is_recognized(void **state)
{
    (void)state;
    assert_string_equal(mf_arch_similar(str("Llama")), "llama");
    assert_string_equal(mf_arch_similar(str("QWEN3-Next")), "qwen3next");
    assert_null(mf_arch_similar(str("llama5")));
    assert_null(mf_arch_similar(str("-")));
    assert_null(mf_arch_similar(str("")));
}

/* ---- models with nothing in them ---- */

static void put_text(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

static void put_u32_key(const char *architecture, const char *name,
                        uint32_t value)
{
    char key[100];

    snprintf(key, sizeof(key), "%s.%s", architecture, name);
    put_text(key);
    put_number(4, 4);
    put_number(value, 4);
}

static const char *const keys[] = {
    "context_length",       "embedding_length",    "block_count",
    "attention.head_count", "feed_forward_length", "expert_count",
    "expert_used_count",    "vocab_size",
};

#define KEYS (sizeof(keys) / sizeof(*keys))

/* Numbers that lead as far into the rows as they can without the others.
 * missing: the place of the key that is left out; KEYS: none. */
static void make_model(const char *architecture, uint32_t value, size_t missing)
{
    image.size = 0;
    put("GGUF\3\0\0\0", 8);
    put_number(1, 8);
    put_number(1 + KEYS - (missing < KEYS), 8);
    put_text("general.architecture");
    put_number(8, 4);
    put_text(architecture);
    for (size_t i = 0; i < KEYS; i++)
        if (i != missing)
            put_u32_key(architecture, keys[i], value);
    put_text("token_embd.weight");
    put_number(1, 4);
    put_number(1, 8);
    put_number(0, 4);
    put_number(0, 8);
    put("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 31);
    put("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 31);
}

static void run_rows(const char *architecture, uint32_t value, size_t missing)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;

    make_model(architecture, value, missing);
    assert_int_equal(
        mf_model_open_memory(env, "memory", image.at, image.size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    mf_model_close(model);
    mf_env_free(env);
}

/* Every row is well formed as far as it is reached, and no number is too much.
 */
static void rows_run_to_their_end(void **state)
{
    static const uint32_t values[] = { 0, 1, 2, 3, 512, UINT32_MAX };
    const char *name;

    (void)state;
    for (size_t i = 0; (name = mf_arch_name_at(i)) != NULL; i++)
        for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++)
            run_rows(name, values[k], KEYS);
}

/* A condition may be unknown, so that keys are not read which others name. */
static void rows_run_without_a_key(void **state)
{
    const char *name;

    (void)state;
    for (size_t i = 0; (name = mf_arch_name_at(i)) != NULL; i++)
        for (size_t k = 0; k < KEYS; k++)
            run_rows(name, 2, k);
}

/* ---- fixtures ---- */

static void the_faults_of_fixtures(void **state)
{
    static const char *const expected[][2] = {
        { "bad-moe-experts.gguf",
          "tensor 'blk.0.ffn_up_exps.weight' is 8 x 4 x 2, but the metadata "
          "implies 8 x 4 x 3" },
        { "bad-moe-key.gguf", "architecture 'qwen3moe' requires used_most > "
                              "0, but used_most is 0" },
        { "bad-rope-length.gguf",
          "architecture 'llama' requires rot == head_k, but rot is 3 "
          "(rope.dimension_count), head_k is 4" },
        { "bad-moe-router.gguf", "missing tensor 'blk.0.ffn_gate_inp.weight'" },
        { "bad-fused-qkv.gguf",
          "tensor 'blk.0.attn_qkv.weight' is 8 x 24, but the metadata "
          "implies 8 x 16" },
        { "bad-uneven.gguf",
          "tensor 'blk.1.ffn_gate.weight' is 8 x 4, but the metadata "
          "implies 8 x 6" },
        { "bad-blocks-none.gguf",
          "the metadata has block count 32, but tensor names imply 0" },
        { "bad-blocks-negative.gguf",
          "'llama.block_count' is of type i32; the loader expects u32" },
        { "bad-shapes.apr",
          "tensor 'model.layers.0.self_attn.k_proj.weight' is 8 x 8, but "
          "the metadata implies 4 x 8" },
    };
    struct mf_env *env = mf_env_new(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct mf_model *model;
        struct mf_finding finding;

        assert_int_equal(
            mf_model_open(env, fixture_path(expected[i][0]), NULL, &model),
            MF_OK);
        assert_int_equal(mf_model_validate(model), MF_OK);
        assert_true(mf_finding_at(model, 0, &finding));
        assert_string_equal(finding.message, expected[i][1]);
        mf_model_close(model);
    }
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_values),
        cmocka_unit_test(unknown_stays_unknown),
        cmocka_unit_test(arguments_belong_to_their_caller),
        cmocka_unit_test(a_name_made_of_itself_is_unknown),
        cmocka_unit_test(architectures_are_listed_once),
        cmocka_unit_test(a_name_in_other_letters_is_recognized),
        cmocka_unit_test(rows_run_to_their_end),
        cmocka_unit_test(rows_run_without_a_key),
        cmocka_unit_test(the_faults_of_fixtures),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
