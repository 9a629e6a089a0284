/* SPDX-License-Identifier: MIT
 *
 * test_naming.c - names of tensors: patterns, new names, and the table of what
 * they are called in GGUF
 *
 * Every name of the table was compared with gguf-py of llama.cpp v0.5.0, for
 * each architecture and blocks 0 to 3; here are some of each kind.
 */
#include "lib/hf/hub/glob.h"
#include "lib/hf/hub/naming.h"
#include "lib/hf/hub/pytorch.h"
#include "tests/with_env.h"

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- the table ---- */

static const struct {
    const char *arch, *name, *gguf; /* NULL: none */
} names[] = {
    { "llama", "model.embed_tokens.weight", "token_embd.weight" },
    { "llama", "model.layers.0.self_attn.q_proj.weight",
      "blk.0.attn_q.weight" },
    { "llama", "model.layers.1.self_attn.q_proj.bias", "blk.1.attn_q.bias" },
    { "llama", "model.layers.2.self_attn.q_proj.weight", NULL },
    { "llama", "model.layers.01.self_attn.q_proj.weight", NULL },
    { "llama", "model.layers.1.self_attn.q_proj.scale", NULL },
    { "llama", "blk.1.attn_q.weight", "blk.1.attn_q.weight" },
    { "llama", "blk.2.attn_q.weight", NULL },
    { "llama", "blk.1.attn_q.scale", "blk.1.attn_q.scale" },
    { "llama", "lm_head", "output" },
    { "llama", "model.layers.0.post_attention_layernorm.weight",
      "blk.0.ffn_norm.weight" },
    { "gemma2", "model.layers.0.post_attention_layernorm.weight",
      "blk.0.post_attention_norm.weight" },
    { "arctic", "model.layers.0.post_attention_layernorm.weight",
      "blk.0.ffn_norm_exps.weight" },
    { "arctic", "model.layers.0.residual_layernorm.weight",
      "blk.0.ffn_norm.weight" },
    { "t5", "decoder.block.1.layer.0.SelfAttention.q.weight",
      "dec.blk.1.attn_q.weight" },
    { "gpt2", "h.0.attn.bias", NULL },
    { "gpt2", "transformer.h.1.mlp.c_fc.weight", "blk.1.ffn_up.weight" },
    { "qwen2", "model.layers.0.self_attn.q_norm.weight", NULL },
    { "qwen3", "model.layers.0.self_attn.q_norm.weight",
      "blk.0.attn_q_norm.weight" },
    { "rwkv6", "rwkv.blocks.0.pre_ln.weight", "token_embd_norm.weight" },
    { "llama", "", NULL },
    { "llama", ".weight", NULL },
    { "llama", "7", NULL },
};

static void names_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct mf_naming_arch *arch =
            mf_naming_arch_find(str(names[i].arch));
        struct mf_named_tensor named;
        char text[MF_TENSOR_NAME_MAX + 1] = "nothing";
        bool found;

        assert_non_null(arch);
        found = mf_naming_find(arch, 2, str(names[i].name), &named);
        if (found) {
            size_t size = mf_naming_put(&named, text, sizeof(text));

            assert_int_equal(size, strlen(text));
        }
        if (found != (names[i].gguf != NULL) ||
            (found && strcmp(text, names[i].gguf) != 0))
            fail_msg("%s of %s is %s", names[i].name, names[i].arch, text);
    }
    assert_null(mf_naming_arch_find(str("llama9")));
}

/* Binary searches depend on it. */
static void rows_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < mf_naming_prefix_count; i++) {
        const struct mf_naming_prefix *prefix = &mf_naming_prefixes[i];

        if (i > 0)
            assert_true(strcmp(&mf_naming_text[prefix[-1].text],
                               &mf_naming_text[prefix->text]) < 0);
        for (size_t row = 1; row < prefix->count; row++)
            assert_true(
                strcmp(
                    &mf_naming_text[mf_naming_rows[prefix->first + row - 1]
                                        .rest],
                    &mf_naming_text[mf_naming_rows[prefix->first + row].rest]) <
                0);
    }
    for (size_t i = 1; i < mf_naming_tensor_count; i++)
        assert_true(
            strcmp(
                &mf_naming_text[mf_naming_tensors[mf_naming_sorted[i - 1]]
                                    .name],
                &mf_naming_text[mf_naming_tensors[mf_naming_sorted[i]].name]) <=
            0);
    assert_true(mf_naming_tensor_count <= 16 * MF_NAMING_WORDS);
}

static unsigned flags_of(const char *arch, const char *name)
{
    struct mf_named_tensor named;

    assert_true(
        mf_naming_find(mf_naming_arch_find(str(arch)), 9, str(name), &named));
    return mf_naming_flags(&named);
}

static void flags_are_as_in_the_table(void **state)
{
    (void)state;
    assert_int_equal(flags_of("qwen3moe", "model.layers.8.mlp.gate.weight"),
                     MF_NAMED_F32);
    assert_int_equal(flags_of("llama", "lm_head.weight"), MF_NAMED_WIDE);
    assert_int_equal(flags_of("llama", "model.norm.weight"), 0);
}

/* ---- patterns ---- */

static const struct {
    const char *pattern, *name, *to, *made; /* made NULL: it does not fit */
} patterns[] = {
    { "a.b", "a.b", "x", "x" },
    { "a.b", "a.bc", "x", NULL },
    { "a.b", "a", "x", NULL },
    { "*", "", "<*>", "<>" },
    { "*.b", "a.b.b", "*", "a.b" },
    { "a*b*c", "a1b2bc", "*|*", "1|2b" },
    { "*q_proj.{weight,bias}", "m.0.q_proj.bias", "*-$", "m.0.-bias" },
    { "*q_proj.{weight,bias}", "m.0.q_proj.scale", "*", NULL },
    { "*x{.weight,}", "ax", "*[$]", "a[]" },
    { "*x{.weight,}", "ax.weight", "*[$]", "a[.weight]" },
    { "l.#.e.#.w", "l.12.e.345.w", "#/#/#", "12/345/#" },
    { "l.#.w", "l..w", "#", NULL },
    { "l.#.w", "l.1a.w", "#", NULL },
    { "#", "0123", "#", "0123" },
    { "*.#", "a.b.7", "# *", "7 a.b" },
    { "{ab,a}#", "ab1", "$#", "ab1" },
    { "{a,b}{c,d}", "bd", "$$", "bd" },
};

static void patterns_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct mf_glob_match match;
        struct mf_tensor_name name = { .size = 0 };
        bool fits = mf_glob_fits(str(patterns[i].pattern),
                                 str(patterns[i].name), &match);

        if (fits)
            assert_true(mf_glob_make(str(patterns[i].to), &match, &name));
        if (fits != (patterns[i].made != NULL) ||
            (fits && strcmp(name.at, patterns[i].made) != 0))
            fail_msg("%s in %s: %s", patterns[i].pattern, patterns[i].name,
                     name.at);
    }
}

/* "*" does not try all ways: a name may have 65,535 bytes. */
static void long_names_take_no_time(void **state)
{
    static char name[65535];
    struct mf_glob_match match;

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_false(mf_glob_fits(str("*a*a*a*a*a*a*b"),
                              (struct mf_str){ name, sizeof(name) }, &match));
    assert_true(mf_glob_fits(str("*a*a*a*a*a*a"),
                             (struct mf_str){ name, sizeof(name) }, &match));
}

static void choices_are_listed(void **state)
{
    struct mf_str pattern = str("x{a,bc,}y{d}");

    (void)state;
    assert_int_equal(mf_glob_choices(pattern, 0), 3);
    assert_int_equal(mf_glob_choices(pattern, 1), 1);
    assert_int_equal(mf_glob_choices(pattern, 2), 0);
    assert_true(mf_str_is(mf_glob_choice(pattern, 0, 1), "bc"));
    assert_int_equal(mf_glob_choice(pattern, 0, 2).size, 0);
    assert_true(mf_str_is(mf_glob_choice(pattern, 1, 0), "d"));
}

static void texts_are_replaced(void **state)
{
    struct mf_tensor_name name = { .size = 0 };

    (void)state;
    assert_true(mf_tensor_name_add(&name, str("text.a.text.text.b")));
    assert_true(mf_hub_name_replace(&name, str("text."), str("")));
    assert_string_equal(name.at, "a.b");
    assert_true(mf_hub_name_replace(&name, str("."), str("-.-")));
    assert_string_equal(name.at, "a-.-b");
    assert_int_equal(name.size, 5);
    /* What is replaced is a part of a row, and does not end with a NUL. */
    assert_true(
        mf_hub_name_replace(&name, (struct mf_str){ "a-x", 2 }, str("b")));
    assert_string_equal(name.at, "b.-b");
}

static void names_have_a_greatest_length(void **state)
{
    static const char text[MF_TENSOR_NAME_MAX + 1] = { 0 };
    struct mf_tensor_name name = { .size = 0 };

    (void)state;
    assert_false(mf_tensor_name_add(
        &name, (struct mf_str){ text, MF_TENSOR_NAME_MAX + 1 }));
    assert_true(
        mf_tensor_name_add(&name, (struct mf_str){ text, MF_TENSOR_NAME_MAX }));
    assert_false(mf_tensor_name_add(&name, str("a")));
}

/* ---- Llama 3 ---- */

/* Values of PyTorch 2.11, for the powers in whose last bit it is not right. */
static void powers_are_as_in_pytorch(void **state)
{
    static const struct {
        float theta, part, power;
    } rows[] = {
        { 10000.0F, 0.4166666567325592F, 46.4158821105957F },
        { 10000.0F, 0.8671875F, 2942.72705078125F },
        { 500000.0F, 0.3958333432674408F, 180.236328125F },
        { 1000000.0F, 0.91015625F, 289026.375F },
        { 150000.0F, 0.1875F, 9.343661308288574F },
        { 10000000.0F, 0.97265625F, 6435669.5F },
        { 500000.0F, 0.0F, 1.0F },
        { 500000.0F, 0.5F, 707.1068115234375F },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        float power = mf_llama3_power(rows[i].theta, rows[i].part);

        assert_memory_equal(&power, &rows[i].power, sizeof(power));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(flags_are_as_in_the_table),
        cmocka_unit_test(patterns_fit),
        cmocka_unit_test(long_names_take_no_time),
        cmocka_unit_test(choices_are_listed),
        cmocka_unit_test(texts_are_replaced),
        cmocka_unit_test(names_have_a_greatest_length),
        cmocka_unit_test(powers_are_as_in_pytorch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
