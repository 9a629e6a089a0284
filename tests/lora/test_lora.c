/* SPDX-License-Identifier: MIT
 *
 * test_lora.c - adapters that are added to a model
 */
#include "lib/lanes/isa.h"
#include "tests/with_scratch.h"

/* ---- files ---- */

static struct {
    size_t size;
    uint8_t at[4 * 1024 * 1024];
} file;

static void put(const void *bytes, size_t size)
{
    assert_true(size <= sizeof(file.at) - file.size);
    memcpy(file.at + file.size, bytes, size);
    file.size += size;
}

static void put_number(uint64_t value, size_t size)
{
    in_file_order(&value, 1, sizeof(value));
    put(&value, size);
}

struct part {
    const char *name;
    uint64_t rows, columns; /* of f32 */
};

/* Small numbers of both signs, the same ones for the same seed. */
static float value_at(size_t seed, uint64_t i)
{
    uint64_t random = (i + 1 + seed * 7919) * UINT64_C(0x9e3779b97f4a7c15);

    return (float)((int64_t)(random >> 44) - (1 << 19)) / (1 << 19);
}

static void save_parts(const char *name, const struct part *parts, size_t count)
{
    char header[4096] = "{";
    size_t used = 1;
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t size = parts[i].rows * parts[i].columns * 4;

        used += (size_t)sprintf(
            header + used,
            "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%" PRIu64 ",%" PRIu64
            "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
            i > 0 ? "," : "", parts[i].name, parts[i].rows, parts[i].columns,
            end, end + size);
        end += size;
    }
    header[used++] = '}';
    file.size = 0;
    put_number(used, 8);
    put(header, used);
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < parts[i].rows * parts[i].columns; j++) {
            float value = value_at(i, j);

            in_file_order(&value, 1, sizeof(value));
            put(&value, sizeof(value));
        }
    save(scratch_path(name), file.at, file.size);
}

static void save_config(const char *text)
{
    save(scratch_path("adapter_config.json"), text, strlen(text));
}

static const char usual[] = "{\"peft_type\":\"LORA\",\"lora_alpha\":3}";

#define A "base_model.model.w.lora_A.weight"
#define B "base_model.model.w.lora_B.weight"

/* ---- merging ---- */

#define ROWS    131
#define COLUMNS 300
#define RANK    70 /* more than are computed at once */

static const struct part model_parts[] = { { "w.weight", ROWS, COLUMNS },
                                           { "x.weight", 4, 4 } };
static const struct part adapter_parts[] = { { A, RANK, COLUMNS },
                                             { B, ROWS, RANK } };

static void save_both(void)
{
    save_parts("model.safetensors", model_parts, COUNT(model_parts));
    save_parts("adapter.safetensors", adapter_parts, COUNT(adapter_parts));
    save_config(usual);
}

static struct mf_convert_options with(const char *adapter)
{
    return (struct mf_convert_options){ .size =
                                            sizeof(struct mf_convert_options),
                                        .replace = true,
                                        .lora = scratch_path(adapter) };
}

/* The sum as it is documented: f32, in the order of the rank. */
static float expected(uint64_t row, uint64_t column, float scale)
{
    float sum = 0;

    for (uint64_t k = 0; k < RANK; k++)
        sum += value_at(1, row * RANK + k) * value_at(0, k * COLUMNS + column);
    return value_at(0, row * COLUMNS + column) + scale * sum;
}

static void must_be_merged(const char *name, float scale)
{
    size_t size;
    uint8_t *bytes = load(scratch_path(name), &size);
    const uint8_t *data = bytes + 8 + get_number(bytes, 8);

    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        float want = expected(i / COLUMNS, i % COLUMNS, scale);

        in_file_order(&want, 1, 4);
        assert_memory_equal(data + i * 4, &want, 4);
    }
    for (uint64_t i = 0; i < 16; i++) { /* the other tensor stays */
        float want = value_at(1, i);

        in_file_order(&want, 1, 4);
        assert_memory_equal(data + (ROWS * COLUMNS + i) * 4, &want, 4);
    }
    free(bytes);
}

static void test_merge(void **state)
{
    struct mf_convert_options how;

    (void)state;
    save_both();
    how = with("adapter.safetensors");
    must_convert(env, scratch_path("model.safetensors"),
                 scratch_path("out.safetensors"), &how);
    must_be_merged("out.safetensors", (float)(3.0 / RANK));
    how.lora_scale = -0.5;
    must_convert(env, scratch_path("model.safetensors"),
                 scratch_path("out.safetensors"), &how);
    must_be_merged("out.safetensors", (float)(-0.5 * (3.0 / RANK)));
}

/* The rank is the pair's, and its root counts where that is asked for. */
static void test_rank_stabilized(void **state)
{
    struct mf_convert_options how;

    (void)state;
    save_both();
    save_config("{\"lora_alpha\":3,\"use_rslora\":true}");
    how = with("adapter.safetensors");
    must_convert(env, scratch_path("model.safetensors"),
                 scratch_path("out.safetensors"), &how);
    must_be_merged("out.safetensors", (float)(3.0 / 8.366600265340756));
}

static void test_threads(void **state)
{
    (void)state;
    save_both();
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct mf_options options = { .size = sizeof(options),
                                      .threads = threads };
        struct mf_convert_options how = with("adapter.safetensors");
        struct mf_env *own;

        own = mf_env_new(&options);
        assert_non_null(own);
        must_convert(own, scratch_path("model.safetensors"),
                     scratch_path("out.safetensors"), &how);
        must_be_merged("out.safetensors", (float)(3.0 / RANK));
        mf_env_free(own);
    }
}

/* All instruction sets, all sizes of parts: the same sums. */
static void test_isas(void **state)
{
    static float a[70 * 40], b[9 * 70], sum[9 * 40], want[9 * 40];

    (void)state;
    for (size_t i = 0; i < COUNT(a); i++)
        a[i] = value_at(0, i);
    for (size_t i = 0; i < COUNT(b); i++)
        b[i] = value_at(1, i);
    for (size_t n = 0; mf_isas[n].name; n++)
        for (size_t rows = 0; rows <= 9 && mf_isa_runs(&mf_isas[n]); rows++)
            for (size_t columns = 0; columns <= 40; columns++) {
                struct mf_product_size size = { rows, columns, 70, 40 };

                for (size_t i = 0; i < COUNT(sum); i++)
                    sum[i] = want[i] = value_at(2, i);
                for (size_t i = 0; i < rows; i++)
                    for (size_t k = 0; k < 70; k++)
                        for (size_t j = 0; j < columns; j++)
                            want[i * 40 + j] += b[i * 70 + k] * a[k * 40 + j];
                mf_product_of (&mf_isas[n])(sum, a, b, size);
                assert_memory_equal(sum, want, sizeof(sum));
            }
}

/* Each allocation fails once, then there is no leak, and the work fails or is
 * done. */
static void test_memory(void **state)
{
    bool done = false;

    (void)state;
    save_both();
    save_config("{\"lora_alpha\":3,\"alpha_pattern\":{\"w\":2}}");
    for (uint64_t at = 1; !done; at++) {
        struct test_heap heap = { .fail_at = at };
        struct mf_env *own = test_env(&heap);
        struct mf_convert_options how = with("adapter.safetensors");
        enum mf_status status;

        if (!own)
            continue;
        status = convert_file(own, scratch_path("model.safetensors"),
                              scratch_path("out.safetensors"), &how, NULL);
        done = heap.calls < at;
        if (status != MF_OK && status != MF_ERR_MEMORY)
            fail_msg("%d: %s", status, mf_env_error(own)->message);
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
    }
}

static void try_adapter(const uint8_t *bytes, size_t size)
{
    struct mf_convert_options how = with("cut.safetensors");
    const struct mf_error *error = mf_env_error(env);

    save(scratch_path("cut.safetensors"), bytes, size);
    if (convert_file(env, scratch_path("model.safetensors"),
                     scratch_path("out.safetensors"), &how, NULL) != MF_OK)
        assert_true(error->message[0] != 0);
}

/* Prefixes of an adapter, and its header with flipped bytes. */
static void test_damage(void **state)
{
    static const struct part small[] = { { A, 2, COLUMNS }, { B, ROWS, 2 } };
    size_t size, header;
    uint8_t *bytes;

    (void)state;
    save_parts("model.safetensors", model_parts, COUNT(model_parts));
    save_parts("adapter.safetensors", small, COUNT(small));
    save_config(usual);
    bytes = load(scratch_path("adapter.safetensors"), &size);
    header = 8 + bytes[0];
    for (size_t cut = 0; cut < header + 8; cut++)
        try_adapter(bytes, cut);
    for (size_t i = 0; i < header; i++) {
        bytes[i] ^= 0x21;
        try_adapter(bytes, size);
        bytes[i] ^= 0x21;
    }
    free(bytes);
}

/* ---- refusals ---- */

static void refuse(const struct part *parts, size_t count, const char *config,
                   enum mf_status status, const char *words)
{
    struct mf_convert_options how;

    save_parts("model.safetensors", model_parts, COUNT(model_parts));
    save_parts("adapter.safetensors", parts, count);
    save_config(config);
    how = with("adapter.safetensors");
    must_refuse(env, scratch_path("model.safetensors"),
                scratch_path("none.safetensors"), &how, status, words);
    assert_int_not_equal(access(scratch_path("none.safetensors"), F_OK), 0);
}

static void refuse_parts(struct part first, struct part second,
                         enum mf_status status, const char *words)
{
    refuse((struct part[]){ first, second }, 2, usual, status, words);
}

static void test_shapes(void **state)
{
    (void)state;
    refuse_parts((struct part){ A, 2, COLUMNS }, (struct part){ B, ROWS, 3 },
                 MF_ERR_CORRUPT, "does not fit B");
    refuse_parts((struct part){ A, 2, 4 }, (struct part){ B, ROWS, 2 },
                 MF_ERR_CORRUPT, "the adapter changes one of 131 x 4");
    refuse_parts((struct part){ A, 2, COLUMNS }, (struct part){ B, 130, 2 },
                 MF_ERR_CORRUPT, "the adapter changes one of 130 x 300");
    refuse_parts((struct part){ A, 0, COLUMNS }, (struct part){ B, ROWS, 0 },
                 MF_ERR_CORRUPT, "");
}

static void test_halves(void **state)
{
    static const struct part half = { A, 2, COLUMNS };

    (void)state;
    refuse(&half, 1, usual, MF_ERR_CORRUPT, "not exactly one other half");
    refuse_parts(half, (struct part){ "w.lora_B.weight.x", 2, 2 },
                 MF_ERR_UNSUPPORTED, "neither half of a pair");
    refuse((struct part[]){ { A, RANK, COLUMNS },
                            { B, ROWS, RANK },
                            { "base_model.model.lm_head.weight", 2, 2 } },
           3, usual, MF_ERR_UNSUPPORTED, "'lm_head.weight', which the model");
    refuse_parts((struct part){ "y.lora_A.weight", 2, 4 },
                 (struct part){ "y.lora_B.weight", 4, 2 }, MF_ERR_UNSUPPORTED,
                 "'y.weight', which the model does not have");
}

static void test_configs(void **state)
{
    static const struct {
        const char *config;
        enum mf_status status;
        const char *words;
    } bad[] = {
        { "{\"lora_alpha\":NaN}", MF_ERR_CORRUPT, "not finite" },
        { "{\"lora_alpha\":1e999}", MF_ERR_CORRUPT, "not finite" },
        { "{\"lora_alpha\":\"8\"}", MF_ERR_CORRUPT, "a string" },
        { "{\"lora_alpha\":null}", MF_ERR_CORRUPT, "null" },
        { "{}", MF_ERR_CORRUPT, "missing" },
        { "[]", MF_ERR_UNSUPPORTED, "not an adapter" },
        { "{\"lora_alpha\":1,\"use_dora\":true}", MF_ERR_UNSUPPORTED,
          "use_dora" },
        { "{\"lora_alpha\":1,\"peft_type\":\"IA3\"}", MF_ERR_UNSUPPORTED,
          "peft_type" },
        { "{\"lora_alpha\":1,\"alpha_pattern\":{\"(a)\":4}}",
          MF_ERR_UNSUPPORTED, "'(a)', a regular expression" },
        { "{\"lora_alpha\":1,\"alpha_pattern\":{\"w\":\"4\"}}",
          MF_ERR_UNSUPPORTED, "'w', which is not a number" },
        { "{\"lora_alpha\":1,\"alpha_pattern\":[]}", MF_ERR_CORRUPT,
          "'alpha_pattern' is a list" },
        { "{\"lora_alpha\":1,\"alpha_pattern\":{\"w\":Infinity}}",
          MF_ERR_UNSUPPORTED, "not finite" },
        { "{\"lora_alpha\":1,\"init_lora_weights\":\"pissa_niter_4\"}",
          MF_ERR_UNSUPPORTED, "'init_lora_weights' is \"pissa_niter_4\"" },
        { "{\"lora_alpha\":1,\"layer_replication\":[[0,1]]}",
          MF_ERR_UNSUPPORTED, "more layers" },
        { "{\"lora_alpha\":3,\"r\":1000000000}", MF_ERR_CORRUPT,
          "says rank 1000000000, but for tensor 'w.weight'" },
        { "{\"lora_alpha\":3,\"r\":70,\"rank_pattern\":{\"w\":8}}",
          MF_ERR_CORRUPT, "says rank 8" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        refuse(adapter_parts, COUNT(adapter_parts), bad[i].config,
               bad[i].status, bad[i].words);
}

/* The first key that matches the end of the module's name counts. */
static void test_patterns(void **state)
{
    static const struct {
        const char *pattern;
        double alpha;
    } good[] = {
        { "{}", 3 },          { "null", 3 },
        { "{\"w\":4}", 4 },   { "{\"v\":9,\"w\":4.5,\"^w\":7}", 4.5 },
        { "{\"^w\":7}", 7 },  { "{\"a|w\":7}", 7 },
        { "{\"a|b\":7}", 3 }, { "{\".\":7}", 7 },
        { "{\"..\":7}", 3 },  { "{\"ww\":7}", 3 },
        { "{\"\":7}", 3 },    { "{\"x.w\":7,\"w\":0}", 0 },
    };
    char config[256];
    struct mf_convert_options how;

    (void)state;
    save_both();
    for (size_t i = 0; i < COUNT(good); i++) {
        how = with("adapter.safetensors");
        snprintf(config, sizeof(config),
                 "{\"lora_alpha\":3,\"r\":4,\"rank_pattern\":{\"w\":70},"
                 "\"alpha_pattern\":%s}",
                 good[i].pattern);
        save_config(config);
        must_convert(env, scratch_path("model.safetensors"),
                     scratch_path("out.safetensors"), &how);
        must_be_merged("out.safetensors", (float)(good[i].alpha / RANK));
    }
}

/* What was trained as a whole takes the place of the model's. */
static void test_whole(void **state)
{
    static const struct part parts[] = { { "base_model.model.x.weight", 4,
                                           4 } };
    struct mf_convert_options how;
    uint8_t *bytes;
    size_t size;

    (void)state;
    save_both();
    save_parts("adapter.safetensors", parts, 1);
    how = with("adapter.safetensors");
    must_convert(env, scratch_path("model.safetensors"),
                 scratch_path("out.safetensors"), &how);
    bytes = load(scratch_path("out.safetensors"), &size);
    for (uint64_t i = 0; i < 16; i++) {
        float want = value_at(0, i);

        in_file_order(&want, 1, 4);
        assert_memory_equal(bytes + size - (16 - i) * 4, &want, 4);
    }
    free(bytes);
    refuse(&(struct part){ "base_model.model.x.weight", 5, 4 }, 1, usual,
           MF_ERR_CORRUPT, "with 5 rows and 20 elements, the model one with 4");
    refuse((struct part[]){ { A, RANK, COLUMNS },
                            { B, ROWS, RANK },
                            { "w.weight", ROWS, COLUMNS } },
           3, usual, MF_ERR_CORRUPT, "a pair that changes it as well");
}

/* Matrices that are kept transposed, whether or not that is said. */
static void test_transposed(void **state)
{
    static const struct part parts[] = { { "x.lora_A.weight", 2, ROWS },
                                         { "x.lora_B.weight", COLUMNS, 2 } };
    static const struct part model[] = { { "x.weight", ROWS, COLUMNS } };
    static const char *const said[] = { "true", "false" };
    char config[64];
    uint8_t *first = NULL;
    struct mf_convert_options how;

    (void)state;
    save_parts("model.safetensors", model, 1);
    save_parts("adapter.safetensors", parts, COUNT(parts));
    for (size_t i = 0; i < COUNT(said); i++) {
        size_t size;
        uint8_t *bytes;

        how = with("adapter.safetensors");
        snprintf(config, sizeof(config),
                 "{\"lora_alpha\":2,\"fan_in_fan_out\":%s}", said[i]);
        save_config(config);
        must_convert(env, scratch_path("model.safetensors"),
                     scratch_path("out.safetensors"), &how);
        bytes = load(scratch_path("out.safetensors"), &size);
        if (first)
            assert_memory_equal(first, bytes, size);
        free(first);
        first = bytes;
    }
    free(first);
}

/* The adapter is not overwritten, however it is named. */
static void test_output(void **state)
{
    struct mf_convert_options how;

    (void)state;
    save_both();
    how = with("adapter.safetensors");
    must_refuse(env, scratch_path("model.safetensors"),
                scratch_path("adapter.safetensors"), &how, MF_ERR_OUTPUT,
                "a file of the adapter");
}

/* ---- an adapter as GGUF ---- */

static const char llama[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\","
    "\"hidden_size\":8,\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"num_key_value_heads\":1,\"intermediate_size\":16,\"vocab_size\":16}";

#define Q    "base_model.model.model.layers.0.self_attn.q_proj.lora_"
#define HEAD "base_model.model.lm_head."

static struct mf_convert_options to_gguf(void)
{
    save(scratch_path("config.json"), llama, strlen(llama));
    return (struct mf_convert_options){ .size =
                                            sizeof(struct mf_convert_options),
                                        .replace = true,
                                        .names = MF_NAMING_GGUF,
                                        .base = scratch_folder };
}

static void must_have(const struct mf_model *model, const char *name,
                      uint64_t rows, uint64_t columns, struct mf_tensor *out)
{
    assert_true(mf_tensor_find(model, name, strlen(name), out, NULL));
    assert_int_equal(out->rank, 2);
    assert_int_equal(out->dim[0], columns);
    assert_int_equal(out->dim[1], rows);
}

/* Rows of B go from halves of a head to pairs, A stays. */
static void test_adapter(void **state)
{
    static const struct part parts[] = { { Q "A.weight", 2, 8 },
                                         { Q "B.weight", 8, 2 } };
    static const uint64_t order[8] = { 0, 2, 1, 3, 4, 6, 5, 7 };
    struct mf_convert_options how = to_gguf();
    struct mf_model *model;
    struct mf_tensor a, b;
    uint8_t *bytes;
    size_t size;

    (void)state;
    save_parts("adapter.safetensors", parts, COUNT(parts));
    save_config(usual);
    must_convert(env, scratch_path("adapter.safetensors"),
                 scratch_path("out.gguf"), &how);
    assert_int_equal(mf_model_open(env, scratch_path("out.gguf"), NULL, &model),
                     MF_OK);
    must_have(model, "blk.0.attn_q.weight.lora_a", 2, 8, &a);
    must_have(model, "blk.0.attn_q.weight.lora_b", 8, 2, &b);
    bytes = load(scratch_path("out.gguf"), &size);
    for (uint64_t i = 0; i < 16; i++) {
        float of_a = value_at(0, i);
        float of_b = value_at(1, order[i / 2] * 2 + i % 2);

        in_file_order(&of_a, 1, 4);
        in_file_order(&of_b, 1, 4);
        assert_memory_equal(bytes + a.data.offset + i * 4, &of_a, 4);
        assert_memory_equal(bytes + b.data.offset + i * 4, &of_b, 4);
    }
    free(bytes);
    mf_model_close(model);
}

static void test_adapter_refused(void **state)
{
    static const struct {
        struct part part[2];
        const char *words;
    } bad[] = {
        { { { Q "A.weight", 2, 8 }, { HEAD "weight", 16, 8 } },
          "new tokens were trained" },
        { { { Q "A.weight", 2, 8 },
            { "base_model.model.x.lora_A.weight", 2, 8 } },
          "not exactly one other half" },
        { { { Q "A.weight", 2, 8 }, { Q "B.weight", 8, 3 } },
          "does not fit B" },
        { { { "y.lora_A.weight", 2, 8 }, { "y.lora_B.weight", 8, 2 } },
          "has no name in GGUF" },
    };
    struct mf_convert_options how = to_gguf();

    (void)state;
    save_config(usual);
    for (size_t i = 0; i < COUNT(bad); i++) {
        save_parts("adapter.safetensors", bad[i].part, 2);
        if (convert_file(env, scratch_path("adapter.safetensors"),
                         scratch_path("none.gguf"), &how, NULL) == MF_OK ||
            !strstr(mf_env_error(env)->message, bad[i].words))
            fail_msg("%zu: %s", i, mf_env_error(env)->message);
    }
    how.base = NULL;
    must_refuse(env, scratch_path("adapter.safetensors"),
                scratch_path("none.gguf"), &how, MF_ERR_ARGUMENT,
                "does not name the model");
}

/* ---- an adapter of a folder that becomes GGUF ---- */

#define DOWN "model.layers.0.mlp.down_proj"
#define WIDE 12

static void copy_folder(void)
{
    static const char *const names[] = { "config.json", "tokenizer.json",
                                         "tokenizer_config.json" };

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[64];
        uint8_t *bytes;
        size_t size;

        snprintf(path, sizeof(path), "good-hf-llama/%s", names[i]);
        bytes = load(fixture_path(path), &size);
        save(scratch_path(names[i]), bytes, size);
        free(bytes);
    }
}

static void must_be_merged_as(const char *name, float scale)
{
    struct mf_model *model = open_model(scratch_path("out.gguf"));
    struct mf_tensor tensor;
    uint8_t *bytes;
    size_t size;

    must_have(model, name, 8, WIDE, &tensor);
    mf_model_close(model);
    bytes = load(scratch_path("out.gguf"), &size);
    for (uint64_t i = 0; i < 8 * WIDE; i++) {
        float want = 0;

        for (uint64_t k = 0; k < 2; k++)
            want += value_at(1, i / WIDE * 2 + k) *
                    value_at(0, k * WIDE + i % WIDE);
        want = value_at(0, i) + scale * want;
        in_file_order(&want, 1, 4);
        assert_memory_equal(bytes + tensor.data.offset + i * 4, &want, 4);
    }
    free(bytes);
}

/* Its names are those that the folder has, or those in GGUF. */
static void test_names(void **state)
{
    static const char *const adapters[] = { "adapter.safetensors",
                                            "adapter.gguf" };
    static const struct part model[] = { { DOWN ".weight", 8, WIDE } };
    static const struct part adapter[] = {
        { "base_model.model." DOWN ".lora_A.weight", 2, WIDE },
        { "base_model.model." DOWN ".lora_B.weight", 8, 2 },
    };
    struct mf_convert_options how = to_gguf();

    (void)state;
    copy_folder();
    save_parts("model.safetensors", model, COUNT(model));
    save_parts("adapter.safetensors", adapter, COUNT(adapter));
    save_config(usual);
    must_convert(env, scratch_path("adapter.safetensors"),
                 scratch_path("adapter.gguf"), &how);
    how.base = NULL;
    how.type = "f32";
    for (size_t i = 0; i < COUNT(adapters); i++) {
        how.lora = scratch_path(adapters[i]);
        must_convert(env, scratch_path("model.safetensors"),
                     scratch_path("out.gguf"), &how);
        must_be_merged_as("blk.0.ffn_down.weight", 3.0f / 2);
    }
}

/* ---- what an adapter says ---- */

static struct mf_adapter_info info_of(const char *kind, const char *base)
{
    struct mf_adapter_info info;
    struct mf_model *model;
    char config[1024];

    snprintf(config, sizeof(config),
             "{\"peft_type\":\"%s\",\"lora_alpha\":3,"
             "\"base_model_name_or_path\":\"%s\"}",
             kind, base);
    save_parts("adapter.safetensors", adapter_parts, COUNT(adapter_parts));
    save_config(config);
    model = open_model(scratch_path("adapter.safetensors"));
    assert_int_equal(mf_model_adapter_info(model, &info), MF_OK);
    mf_model_close(model);
    return info;
}

/* Texts that do not fit, or would end early, are left out. */
static void test_info(void **state)
{
    struct mf_adapter_info info = info_of("LORA", "a\\u0001b");
    char text[sizeof(info.base_model) + 1];

    (void)state;
    assert_string_equal(info.kind, "lora");
    assert_string_equal(info.base_model, "a\001b");
    info = info_of("LO\\u0000RA", "a\\u0000b");
    assert_string_equal(info.kind, "");
    assert_string_equal(info.base_model, "");
    memset(text, 'x', sizeof(text));
    text[sizeof(info.base_model) - 1] = '\0';
    info = info_of("LORA", text);
    assert_string_equal(info.base_model, text);
    text[sizeof(info.base_model) - 1] = 'x';
    text[sizeof(info.base_model)] = '\0';
    info = info_of("LORA", text);
    assert_string_equal(info.base_model, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_rank_stabilized),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_isas),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_configs),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_adapter),
        cmocka_unit_test(test_adapter_refused),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_info),
    };

    return RUN_WITH_SCRATCH(tests);
}
