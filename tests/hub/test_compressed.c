/* SPDX-License-Identifier: MIT
 *
 * test_compressed.c - checkpoints whose weights are quantized already: values,
 * and which tensors there are
 *
 * Expected digests belong to what llama.cpp's converter (v0.5.0, with
 * PyTorch 2.11) makes of the same bytes.
 */
#include "lib/hf/hub/compressed.h"
#include "tests/json/json_document.h"
#include "tests/scratch.h"

/* ---- a file ---- */

static struct {
    size_t size;
    uint8_t at[16384];
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
    const char *name, *type;
    uint32_t rank;
    uint64_t dim[3];
    int count; /* of values; 0: noise */
    int value[32];
};

static const struct {
    const char *name;
    size_t size;
} types[] = {
    { "U8", 1 },   { "I8", 1 },      { "I32", 4 },
    { "I64", 8 },  { "F32", 4 },     { "F16", 2 },
    { "BF16", 2 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 },
};

static size_t size_of(const char *type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].size;
    fail_msg("%s", type);
    return 0;
}

static uint64_t count_of(const struct part *part)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < part->rank; i++)
        count *= part->dim[i];
    return count;
}

static uint64_t noise(size_t tensor, uint64_t at)
{
    return ((at + 1) * 2654435761U + tensor * 40503) >> 9 & 255;
}

/* Byte `at` and those after it of a number from 0.25 to 4.25, in 16 bits. */
static uint64_t half_of(uint64_t byte, bool brain)
{
    float value = (float)byte / 64 + 0.25F;
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if (brain)
        return bits >> 16;
    /* exact: nine bits at most, exponents from -2 to 2 */
    return ((bits >> 23) - 112) << 10 | (bits & 0x7fffff) >> 13;
}

static uint64_t element(const struct part *part, size_t tensor, uint64_t at)
{
    size_t size = size_of(part->type);
    uint64_t byte = noise(tensor, at * size), value = 0;
    float number = (float)byte / 64 + 0.25F;
    uint32_t bits;

    if (part->count > 0)
        return (uint64_t)(int64_t)part->value[at % (uint64_t)part->count];
    if (strncmp(part->type, "F8", 2) == 0)
        return byte & 0xb7; /* finite */
    memcpy(&bits, &number, sizeof(bits));
    if (strcmp(part->type, "F32") == 0)
        return bits;
    if (size == 2)
        return half_of(byte, strcmp(part->type, "BF16") == 0);
    for (size_t i = 0; i < size; i++)
        value |= noise(tensor, at * size + i) << 8 * i;
    return value;
}

static struct mf_model *open_parts(const struct part *parts)
{
    char header[4096] = "{";
    size_t used = 1, count = 0, end = 0;
    struct mf_model *model;

    for (; parts[count].name; count++) {
        size_t begin = end;

        end += (size_t)count_of(&parts[count]) * size_of(parts[count].type);
        used += (size_t)sprintf(
            header + used, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[",
            count > 0 ? "," : "", parts[count].name, parts[count].type);
        for (uint32_t d = 0; d < parts[count].rank; d++)
            used += (size_t)sprintf(header + used, "%s%zu", d > 0 ? "," : "",
                                    (size_t)parts[count].dim[d]);
        used += (size_t)sprintf(header + used, "],\"data_offsets\":[%zu,%zu]}",
                                begin, end);
    }
    header[used++] = '}';
    file.size = 0;
    put_number(used, 8);
    put(header, used);
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = 0; at < count_of(&parts[i]); at++)
            put_number(element(&parts[i], i, at), size_of(parts[i].type));
    save(scratch_path("model.safetensors"), file.at, file.size);
    if (mf_model_open(env, scratch_path("model.safetensors"), NULL, &model) !=
        MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

/* ---- a folder ---- */

static struct mf_recipe recipe;
static struct mf_compressed compressed;
static struct mf_derivation derivation;

static enum mf_status begin(const char *config, struct mf_model *model)
{
    struct mf_node *root;

    document_open(config, strlen(config), 4096);
    assert_int_equal(mf_tree_read(&json, &arena, 1 << 16, &root), MF_OK);
    recipe = (struct mf_recipe){
        .env = env, .arena = &arena, .model = model, .config = root
    };
    assert_int_equal(mf_derivation_init(&derivation, env, &arena), MF_OK);
    derivation.name = (struct mf_str){ "a.weight", 8 };
    return mf_compressed_open(&compressed, &recipe, true);
}

/* FNV-1a of the node's bytes. */
static uint64_t digest_of(const struct mf_derived *node)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    struct mf_source bytes;

    mf_derived_open(node, "node", &bytes);
    for (uint64_t at = 0; at < bytes.size; at++) {
        uint8_t byte;

        assert_int_equal(mf_source_read(env, &bytes, at, &byte, 1), MF_OK);
        digest = (digest ^ byte) * UINT64_C(0x100000001b3);
    }
    return digest;
}

#define CONFIG(text)   "{\"quantization_config\":{" text "}}"
#define METHOD(method) "\"quant_method\":\"" method "\""
#define TENSORS(format, weights)                                               \
    CONFIG(METHOD("compressed-tensors") ",\"format\":\"" format                \
                                        "\",\"config_groups\":{\"g\":{"        \
                                        "\"weights\":{" weights "}}}")

static const struct {
    const char *config;
    struct part parts[5]; /* the weights first */
    enum mf_compressed_use use;
    uint64_t dim[3];
    uint64_t digest;
} cases[] = {
    { CONFIG(METHOD("fp8") ",\"weight_block_size\":[16,8]"),
      { { "a.weight", "F8_E4M3", 2, { 40, 28 }, 0, { 0 } },
        { "a.weight_scale_inv", "F32", 2, { 3, 4 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 40, 28 },
      UINT64_C(0x6f8954a7cf5adefe) },
    { CONFIG(METHOD("fp8")),
      { { "a.weight", "F8_E5M2", 2, { 5, 28 }, 0, { 0 } },
        { "a.weight_scale_inv", "BF16", 0, { 0 }, 0, { 0 } },
        { "a.activation_scale", "F32", 1, { 1 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 5, 28 },
      UINT64_C(0x9b89a4484bac2aad) },
    { CONFIG(METHOD("fp8") ",\"weight_block_size\":[8,8]"),
      { { "a", "F8_E4M3", 3, { 2, 16, 20 }, 0, { 0 } },
        { "a_scale_inv", "F32", 3, { 2, 2, 3 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 2, 16, 20 },
      UINT64_C(0x81d33c7703a08d5e) },
    { CONFIG(METHOD("bitnet")),
      { { "a.weight", "U8", 2, { 6, 10 }, 0, { 0 } },
        { "a.weight_scale", "BF16", 1, { 1 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 24, 10 },
      UINT64_C(0x6be62ed8fa4086bd) },
    { CONFIG(METHOD("gptq") ",\"bits\":4"),
      { { "a.qweight", "I32", 2, { 4, 16 }, 0, { 0 } },
        { "a.qzeros", "I32", 2, { 2, 2 }, 0, { 0 } },
        { "a.scales", "F16", 2, { 2, 16 }, 0, { 0 } },
        { "a.g_idx", "I32", 1, { 32 }, 32, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                             0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1,
                                             1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } } },
      MF_COMPRESSED_LATER,
      { 16, 32 },
      UINT64_C(0x7458fa00d3c12818) },
    { CONFIG(METHOD("gptq") ",\"bits\":8"),
      { { "a.qweight", "I32", 2, { 8, 12 }, 0, { 0 } },
        { "a.qzeros", "I32", 2, { 4, 3 }, 0, { 0 } },
        { "a.scales", "F16", 2, { 4, 12 }, 0, { 0 } },
        { "a.g_idx", "I32", 1, { 32 }, 5, { 3, 0, 2, 1, 1 } } },
      MF_COMPRESSED_LATER,
      { 12, 32 },
      UINT64_C(0x28ab0031646d669f) },
    { CONFIG(METHOD("gptq") ",\"bits\":2,\"checkpoint_format\":\"gptq_v2\""),
      { { "a.qweight", "I32", 2, { 2, 16 }, 0, { 0 } },
        { "a.qzeros", "I32", 2, { 2, 1 }, 0, { 0 } },
        { "a.scales", "F16", 2, { 2, 16 }, 0, { 0 } },
        { "a.g_idx", "I32", 1, { 32 }, 2, { 1, 0 } } },
      MF_COMPRESSED_LATER,
      { 16, 32 },
      UINT64_C(0x34b87f591d2e0bda) },
    { TENSORS("int-quantized", "\"strategy\":\"channel\",\"type\":\"int\","
                               "\"num_bits\":8"),
      { { "a.weight", "I8", 2, { 7, 12 }, 0, { 0 } },
        { "a.weight_scale", "BF16", 2, { 7, 1 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 7, 12 },
      UINT64_C(0xc526a68a9178e7f4) },
    { TENSORS("pack-quantized", "\"strategy\":\"group\",\"num_bits\":4,"
                                "\"group_size\":8"),
      { { "a.weight_packed", "I32", 2, { 10, 3 }, 0, { 0 } },
        { "a.weight_scale", "BF16", 2, { 10, 3 }, 0, { 0 } },
        { "a.weight_shape", "I64", 1, { 2 }, 2, { 10, 24 } },
        { "a.weight_zero_point", "I32", 2, { 2, 3 }, 0, { 0 } } },
      MF_COMPRESSED_LATER,
      { 10, 24 },
      UINT64_C(0x472207672704c19d) },
    { TENSORS("pack-quantized", "\"strategy\":\"group\",\"num_bits\":3,"
                                "\"group_size\":4"),
      { { "a.weight_packed", "I32", 2, { 5, 3 }, 0, { 0 } },
        { "a.weight_scale", "F32", 2, { 5, 6 }, 0, { 0 } },
        { "a.weight_shape", "I64", 1, { 2 }, 2, { 5, 24 } } },
      MF_COMPRESSED_LATER,
      { 5, 24 },
      UINT64_C(0x857536bad28f67ab) },
    { CONFIG(METHOD("modelopt")),
      { { "a.weight", "F8_E4M3", 2, { 6, 9 }, 0, { 0 } },
        { "a.weight_scale", "F32", 1, { 6 }, 0, { 0 } },
        { "a.input_scale", "F32", 0, { 0 }, 0, { 0 } } },
      MF_COMPRESSED_HERE,
      { 6, 9 },
      UINT64_C(0x575ccd07262177b5) },
    { CONFIG(METHOD("modelopt") ",\"quant_algo\":\"NVFP4\""),
      { { "a.weight", "U8", 2, { 3, 64 }, 0, { 0 } },
        { "a.weight_scale", "F8_E4M3", 2, { 3, 8 }, 0, { 0 } },
        { "a.weight_scale_2", "F32", 0, { 0 }, 0, { 0 } } },
      MF_COMPRESSED_FIRST,
      { 3, 128 },
      UINT64_C(0x8046d05e494ae98f) },
    { TENSORS("nvfp4-pack-quantized", "\"num_bits\":4"),
      { { "a.weight_packed", "U8", 2, { 3, 64 }, 0, { 0 } },
        { "a.weight_scale", "F8_E4M3", 2, { 3, 8 }, 0, { 0 } },
        { "a.weight_global_scale", "F32", 1, { 1 }, 0, { 0 } },
        { "a.input_global_scale", "F32", 1, { 1 }, 0, { 0 } } },
      MF_COMPRESSED_FIRST,
      { 3, 128 },
      UINT64_C(0x8046d05e494ae98f) },
    { CONFIG(METHOD("mxfp4")),
      { { "a_blocks", "U8", 4 - 1, { 2 * 3, 2, 16 }, 0, { 0 } },
        { "a_scales", "U8", 2, { 2 * 3, 2 }, 0, { 0 } } },
      MF_COMPRESSED_FIRST,
      { 6, 64 },
      UINT64_C(0xcb6d081ed5617973) },
};

static void weights_are_as_in_the_converter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mf_model *model = open_parts(cases[i].parts);
        const struct mf_derived *node;
        enum mf_compressed_use use;

        assert_int_equal(begin(cases[i].config, model), MF_OK);
        for (size_t t = 0; cases[i].parts[t].name; t++) {
            assert_int_equal(mf_compressed_use(&compressed, t, &use), MF_OK);
            assert_int_equal(use, t == 0 ? cases[i].use : MF_COMPRESSED_GONE);
        }
        node = mf_compressed_node(&compressed, &derivation, 0);
        if (!node)
            fail_msg("%zu: %s", i, mf_env_error(env)->message);
        for (uint32_t d = 0; d < node->rank; d++)
            assert_int_equal(node->dim[d], cases[i].dim[d]);
        if (digest_of(node) != cases[i].digest)
            fail_msg("case %zu has other values", i);
        mf_model_close(model);
    }
}

/* ---- numbers beside blocks ---- */

static void blocks_have_numbers_next_to_them(void **state)
{
    static const struct part parts[] = {
        { "a.weight_packed", "U8", 2, { 3, 64 }, 0, { 0 } },
        { "a.weight_scale", "F8_E4M3", 2, { 3, 8 }, 0, { 0 } },
        { "a.weight_global_scale", "F32", 1, { 1 }, 1, { 0x40800000 } },
        { NULL, NULL, 0, { 0 }, 0, { 0 } }
    };
    struct mf_model *model = open_parts(parts);
    struct mf_compressed_scales scales;

    (void)state;
    assert_int_equal(
        begin(TENSORS("nvfp4-pack-quantized", "\"num_bits\":4"), model), MF_OK);
    assert_true(
        mf_compressed_scales(&compressed, &derivation, 0, false, &scales));
    assert_int_equal(scales.count, 1);
    assert_true(scales.value[0] == 0.25F); /* one over 4 */
    assert_true(
        mf_compressed_scales(&compressed, &derivation, 0, true, &scales));
    assert_true(scales.count == 1 && scales.value[0] == 1);
    mf_model_close(model);
}

/* ---- what is refused ---- */

static const struct {
    const char *config, *says;
} refused[] = {
    { CONFIG(METHOD("awq")), "awq" },
    { CONFIG(METHOD("bitsandbytes")), "bitsandbytes" },
    { CONFIG(METHOD("gptq") ",\"bits\":3"), "bits" },
    { CONFIG(METHOD("gptq")), "bits" },
    { CONFIG(METHOD("gptq") ",\"bits\":\"4\""), "bits" },
    { CONFIG(METHOD("fp8") ",\"weight_block_size\":[128,0]"),
      "weight_block_size" },
    { CONFIG(METHOD("fp8") ",\"weight_block_size\":7"), "weight_block_size" },
    { CONFIG(METHOD("compressed-tensors")), "config_groups" },
    { TENSORS("marlin-24", "\"num_bits\":4"), "marlin-24" },
    { TENSORS("float-quantized", "\"strategy\":\"tensor\""), "strategy" },
    { TENSORS("float-quantized", "\"strategy\":\"block\",\"group_size\":8"),
      "group_size" },
    { TENSORS("pack-quantized", "\"strategy\":\"group\",\"num_bits\":16,"
                                "\"group_size\":8"),
      "num_bits" },
    { TENSORS("pack-quantized", "\"strategy\":\"group\",\"num_bits\":4,"
                                "\"group_size\":0"),
      "group_size" },
};

static void other_methods_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct mf_model *model = open_parts(cases[0].parts);

        assert_int_equal(begin(refused[i].config, model), MF_ERR_UNSUPPORTED);
        if (!strstr(mf_env_error(env)->message, refused[i].says))
            fail_msg("%s", mf_env_error(env)->message);
        mf_clear_error(env);
        mf_model_close(model);
    }
}

/* Shapes that do not match, and tensors that are missing: each row
 * changes one tensor of the case. */
static const struct {
    size_t which, tensor;
    struct part part; /* without a name: the tensor is missing */
} broken[] = {
    { 0, 1, { "a.weight_scale_inv", "F32", 2, { 2, 4 }, 0, { 0 } } },
    { 0, 1, { "a.weight_scale_inv", "F32", 1, { 3 }, 0, { 0 } } },
    { 3, 1, { "a.weight_scale", "BF16", 2, { 5, 10 }, 0, { 0 } } },
    { 4, 3, { "a.g_idx", "I32", 1, { 32 }, 1, { 2 } } },
    { 4, 3, { "a.g_idx", "I32", 1, { 32 }, 1, { -1 } } },
    { 4, 3, { "a.g_idx", "I32", 1, { 31 }, 1, { 0 } } },
    { 4, 3, { NULL, NULL, 0, { 0 }, 0, { 0 } } },
    { 4, 1, { "a.qzeros", "I32", 2, { 2, 3 }, 0, { 0 } } },
    { 4, 1, { "a.qzeros", "I64", 2, { 2, 2 }, 0, { 0 } } },
    { 8, 2, { "a.weight_shape", "I64", 1, { 2 }, 2, { 10, 23 } } },
    { 8, 2, { "a.weight_shape", "I64", 1, { 2 }, 2, { 10, 32 } } },
    { 8, 2, { "a.weight_shape", "I64", 1, { 2 }, 2, { -1, -8 } } },
    { 8, 3, { "a.weight_zero_point", "I32", 2, { 1, 3 }, 0, { 0 } } },
    { 11, 1, { "a.weight_scale", "F8_E4M3", 2, { 3, 9 }, 0, { 0 } } },
    { 13, 1, { "a_scales", "U8", 2, { 6, 3 }, 0, { 0 } } },
};

static void parts_that_do_not_fit_are_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        struct part parts[5];
        struct mf_model *model;

        memcpy(parts, cases[broken[i].which].parts, sizeof(parts));
        parts[broken[i].tensor] = broken[i].part;
        model = open_parts(parts);
        assert_int_equal(begin(cases[broken[i].which].config, model), MF_OK);
        if (mf_compressed_node(&compressed, &derivation, 0))
            fail_msg("row %zu is decoded", i);
        assert_int_equal(mf_env_error(env)->status, MF_ERR_CORRUPT);
        mf_clear_error(env);
        mf_model_close(model);
    }
}

/* A scale without its weights. */
static void scales_have_weights(void **state)
{
    struct part parts[2] = { cases[0].parts[1] };
    struct mf_model *model = open_parts(parts);
    enum mf_compressed_use use;

    (void)state;
    assert_int_equal(begin(cases[0].config, model), MF_OK);
    assert_int_equal(mf_compressed_use(&compressed, 0, &use), MF_ERR_CORRUPT);
    mf_clear_error(env);
    mf_model_close(model);
}

/* ---- files of floats ---- */

static const struct {
    const char *config;
    struct part parts[5];
    const char *name;
    size_t count;
    float value[8]; /* the first ones */
} floats[] = {
    /* 0x38 is 1, 0x40 is 2, 0xb8 is -1 and 0x30 is 0.5; as f32, 0x3f000000 is
     * 0.5 and 0x40800000 is 4. */
    { CONFIG(METHOD("fp8") ",\"weight_block_size\":[1,2]"),
      { { "a.weight", "F8_E4M3", 2, { 2, 2 }, 4, { 0x38, 0x40, 0xb8, 0x30 } },
        { "a.weight_scale_inv",
          "F32",
          2,
          { 2, 1 },
          2,
          { 0x3f000000, 0x40800000 } } },
      "a.weight",
      4,
      { 0.5F, 1, -4, 2 } },
    { CONFIG(METHOD("fp8")),
      { { "a.weight", "F8_E4M3", 2, { 1, 2 }, 2, { 0x38, 0x40 } },
        { "a.weight_scale_inv", "F32", 0, { 0 }, 1, { 0x3f000000 } } },
      "a.weight",
      2,
      { 0.5F, 1 } },
    /* Numbers of 4 bits, of which 1 is 0.5 and 2 is 1; scales of 1 and 2 (0x38,
     * 0x40) for 16 of them, and 0.5 for all. */
    { CONFIG(METHOD("modelopt") ",\"quant_algo\":\"NVFP4\""),
      { { "a.weight", "U8", 2, { 1, 32 }, 1, { 0x21 } },
        { "a.weight_scale", "F8_E4M3", 2, { 1, 4 }, 2, { 0x38, 0x40 } },
        { "a.weight_scale_2", "F32", 0, { 0 }, 1, { 0x3f000000 } } },
      "a.weight",
      64,
      { 0.25F, 0.5F, 0.25F, 0.5F, 0.25F, 0.5F, 0.25F, 0.5F } },
    /* Scales of 2^(129 - 127). */
    { CONFIG(METHOD("mxfp4")),
      { { "a_blocks", "U8", 3, { 2, 1, 16 }, 1, { 0x21 } },
        { "a_scales", "U8", 2, { 2, 1 }, 1, { 129 } } },
      "a",
      64,
      { 2, 4, 2, 4, 2, 4, 2, 4 } },
};

/* The first values of the only tensor in the file. */
static void check_floats(const char *path, size_t number)
{
    struct mf_tensor tensor;
    struct mf_model *model;
    float value[8];

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_int_equal(mf_model_info(model)->tensor_count, 1);
    mf_tensor_at(model, 0, &tensor);
    assert_string_equal(tensor.name.at, floats[number].name);
    assert_string_equal(tensor.type, "f32");
    assert_int_equal(tensor.data.size, floats[number].count * sizeof(float));
    memset(value, 0, sizeof(value));
    assert_int_equal(mf_source_read(env, &model->file[0].source,
                                    tensor.data.offset, value,
                                    tensor.data.size < sizeof(value)
                                        ? (size_t)tensor.data.size
                                        : sizeof(value)),
                     MF_OK);
    in_file_order(value, COUNT(value), sizeof(*value));
    assert_memory_equal(value, floats[number].value, sizeof(value));
    mf_model_close(model);
}

static void floats_have_their_scales(void **state)
{
    static const char *const outs[] = { "o.safetensors", "o.gguf", "o.apr" };

    (void)state;
    for (size_t i = 0; i < COUNT(floats); i++) {
        struct mf_model *model = open_parts(floats[i].parts);

        save(scratch_path("config.json"), floats[i].config,
             strlen(floats[i].config));
        for (size_t k = 0; k < 2 * COUNT(outs); k++) {
            const struct mf_convert_options how = {
                .size = sizeof(how),
                .type = "f32",
                .dequantize = k % 2 == 1,
                .replace = true,
            };
            const char *path = scratch_path(outs[k / 2]);

            if (mf_model_convert(model, path, &how, NULL) != MF_OK)
                fail_msg("%s", mf_env_error(env)->message);
            check_floats(path, i);
        }
        mf_model_close(model);
    }
    remove(scratch_path("config.json"));
}

/* Scales that no config.json explains. */
static void scales_need_a_method(void **state)
{
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .type = "f32",
                                            .replace = true };
    struct mf_model *model = open_parts(floats[0].parts);

    (void)state;
    assert_int_equal(
        mf_model_convert(model, scratch_path("o.gguf"), &how, NULL),
        MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(env)->message, "'a.weight_scale_inv'"));
    mf_clear_error(env);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(weights_are_as_in_the_converter),
        WITH_DOCUMENT(blocks_have_numbers_next_to_them),
        WITH_DOCUMENT(other_methods_are_refused_by_name),
        WITH_DOCUMENT(parts_that_do_not_fit_are_errors),
        WITH_DOCUMENT(scales_have_weights),
        WITH_DOCUMENT(floats_have_their_scales),
        WITH_DOCUMENT(scales_need_a_method),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
