/* SPDX-License-Identifier: MIT
 *
 * test_tensor_types.c - each tensor of the table, in each type that GGUF has
 */
#include "tests/image.h"

#include "lib/base/str.h"
#include "lib/model/types.h"

/* ---- a model in memory ---- */

static void put_string(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

/* Rows of 256 fit the blocks of all types; there is no data. */
static void put_tensor(const char *name, uint32_t type)
{
    put_number(strlen(name), 8);
    for (; *name; name++)
        put(*name == '*' ? "7" : name, 1);
    put_number(1, 4);
    put_number(256, 8);
    put_number(type, 4);
    put_number(0, 8);
}

static void begin_model(const char *architecture, uint64_t tensors)
{
    image.size = 0;
    put("GGUF\3\0\0\0", 8);
    put_number(tensors, 8);
    put_number(1, 8);
    put_string("general.architecture");
    put_number(8, 4);
    put_string(architecture);
}

static struct mf_model *open_model(struct mf_env *env)
{
    struct mf_model *model;
    struct mf_open_options options = { .size = sizeof(options),
                                       .findings_max = 1000000 };

    assert_int_equal(mf_model_open_memory(env, "memory", image.at, image.size,
                                          &options, &model),
                     MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    return model;
}

/* Whether the type of the tensor was found to be wrong. */
static bool is_wrong(const struct mf_model *model, const char *name)
{
    struct mf_finding finding;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (strcmp(finding.rule, "MODEL-TYPE") == 0 &&
            mf_str_is(finding.tensor, name))
            return true;
    return false;
}

/* ---- the table ---- */

static const struct use {
    const char *name, *kind;
} uses[] = {
#define USE(name, NAME) { name, #NAME },
#include "lib/check/tensor_uses.def"
};

#define USE_COUNT (sizeof(uses) / sizeof(*uses))

/* By hand: not made from the table. */
static bool works(const char *kind, const char *type)
{
    if (strcmp(kind, "MATRIX") == 0 || strcmp(kind, "ROWS") == 0)
        return strncmp(type, "iq", 2) == 0 ||
               (*type != 'i' && strcmp(type, "f64") != 0 &&
                strcmp(type, "q8_1") != 0 && strcmp(type, "q8_k") != 0);
    if (strcmp(kind, "EXPERTS") == 0)
        return strcmp(type, "i32") == 0;
    if (strcmp(kind, "TOKENS") == 0)
        return strcmp(type, "i64") == 0;
    return strcmp(type, "f32") == 0 ||
           (strcmp(type, "f16") == 0 &&
            (strcmp(kind, "CONV") == 0 || strcmp(kind, "TAPS") == 0)) ||
           (strcmp(type, "bf16") == 0 && strcmp(kind, "TAPS") == 0);
}

/* Removed types and types of forks have their own rules. */
static bool is_known(const char *type)
{
    for (size_t i = 0; i < MF_TYPE_COUNT; i++)
        if (strcmp(mf_types[i].name, type) == 0)
            return true;
    return false;
}

static void check_model(const struct mf_model *model)
{
    struct mf_tensor tensor;

    for (size_t i = 0; i < USE_COUNT; i++) {
        assert_true(mf_tensor_at(model, i, &tensor));
        if (is_known(tensor.type) &&
            is_wrong(model, tensor.name.at) == works(uses[i].kind, tensor.type))
            fail_msg("%s as %s", uses[i].name, tensor.type);
    }
}

static void each_use_takes_its_types(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 48; type++) {
        struct mf_env *env = mf_env_new(NULL);
        struct mf_model *model;

        begin_model("llama", USE_COUNT);
        for (size_t i = 0; i < USE_COUNT; i++)
            put_tensor(uses[i].name, type);
        put_number(0, 32);
        model = open_model(env);
        check_model(model);
        mf_model_close(model);
        mf_env_free(env);
    }
}

/* ---- names around those of the table ---- */

enum { F32 = 0, F16 = 1, Q8_0 = 8, I32 = 26 };

static const struct {
    const char *architecture, *name;
    uint32_t type;
    bool wrong;
} cases[] = {
    { "llama", "blk.0.attn_q.bias", F32, false },
    { "llama", "blk.0.attn_q.bias", F16, true },
    { "llama", "blk.12.attn_q.lora_a", Q8_0, false },
    { "llama", "blk.0.attn_q.lora_b", I32, true },
    { "llama", "blk.0.attn_q.scale", F16, true },
    { "llama", "blk.0.attn_q.input_scale", F16, false },
    { "llama", "blk.0.ffn_up.scale", F16, true },
    { "qwen2", "blk.0.ffn_up.scale", F16, false },
    { "llama", "blk.0.attn_norm.weight", F16, true },
    { "llama", "blk.0.attn_norm.weights", F16, false },
    { "llama", "blk.0.attn_norm", F16, true },
    { "llama", "blk.x.attn_norm.weight", F16, false },
    { "llama", "attn_norm.weight", F16, false },
    { "llama", ".bias", F16, false },
    { "llama", "bias", F16, false },
    { "llama", "blk.0.attn_rot_embd", F16, false }, /* not computed with */
    { "ernie4_5", "blk.0.attn_output.bias", F16, false }, /* nor is this */
    { "ernie4_5", "blk.0.attn_q.bias", F16, true },
    { "nothing-known", "blk.0.attn_norm.weight", F16, false },
};

static void names_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct mf_env *env = mf_env_new(NULL);
        struct mf_model *model;

        begin_model(cases[i].architecture, 1);
        put_tensor(cases[i].name, cases[i].type);
        put_number(0, 32);
        model = open_model(env);
        if (is_wrong(model, cases[i].name) != cases[i].wrong)
            fail_msg("%s %s", cases[i].architecture, cases[i].name);
        mf_model_close(model);
        mf_env_free(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_use_takes_its_types),
        cmocka_unit_test(names_are_taken_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
