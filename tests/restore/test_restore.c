/* SPDX-License-Identifier: MIT
 *
 * test_restore.c - a folder becomes GGUF, that a folder, and that the same GGUF
 */
#include <sys/stat.h>

#include "lib/base/error.h"
#include "lib/base/little.h"
#include "lib/derive/derive.h"
#include "tests/tokenizer/proto_image.h"
#include "tests/with_scratch.h"

/* ---- a folder ---- */

static void save_text(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(name), "wb");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void save_tokenizer(void)
{
    FILE *file = fopen(scratch_path("tokenizer.model"), "wb");

    put_first_pieces();
    for (int i = 6; i < 112; i++) {
        char text[8];

        snprintf(text, sizeof(text), "c%d", i);
        put_piece(text, (float)-i, 0);
    }
    put_trainer(1, false);
    put_normalizer("", 0, true, false);
    assert_non_null(file);
    assert_int_equal(fwrite(message.at, 1, message.size, file), message.size);
    assert_int_equal(fclose(file), 0);
}

/* Lines "NAME ROWS [COLUMNS]", of bf16. */
static void save_tensors(const char *lines)
{
    static struct image image;
    static char header[8192];
    size_t at = 0, offset = 0;
    const char *line = lines;

    while (*line) {
        char name[96];
        unsigned rows = 1, columns = 1;
        int count = sscanf(line, "%95s %u %u", name, &rows, &columns);
        char shape[32];

        assert_true(count >= 2);
        snprintf(shape, sizeof(shape), count == 2 ? "[%u]" : "[%u,%u]", rows,
                 columns);
        at += (size_t)snprintf(
            header + at, sizeof(header) - at,
            "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":%s,\"data_offsets\":"
            "[%zu,%zu]}",
            at > 0 ? "," : "{", name, shape, offset,
            offset + (size_t)2 * rows * columns);
        offset += (size_t)2 * rows * columns;
        line = strchr(line, '\n') + 1;
    }
    at += (size_t)snprintf(header + at, sizeof(header) - at, "}");
    image.size = 0;
    image_text(&image, header, at);
    for (size_t i = 0; i < offset / 2; i++)
        image_int(&image, 0x3f00 + i * 37 % 256 - i % 3 * 0x80, 2);
    image_save(&image, scratch_path("model.safetensors"));
}

/* ---- there and back ---- */

static enum mf_status convert(const char *from, const char *to, bool gguf)
{
    const struct mf_convert_options how = {
        .size = sizeof(how),
        .names = gguf ? MF_NAMING_GGUF : MF_NAMING_KEEP,
        .type = gguf ? "bf16" : NULL,
        .replace = gguf,
    };

    mf_clear_error(env);
    return convert_file(env, from, to, &how, NULL);
}

static void assert_same_files(const char *a, const char *b)
{
    size_t size[2];
    uint8_t *bytes[2] = { load(a, &size[0]), load(b, &size[1]) };

    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static const char *pooling; /* of the next folder; NULL: none */

/* As sentence-transformers saves it. */
static void save_pooling(void)
{
    char text[64];

    assert_int_equal(mkdir(scratch_path("1_Pooling"), 0777), 0);
    snprintf(text, sizeof(text), "{\"pooling_mode_%s\":true}", pooling);
    save_text("1_Pooling/config.json", text);
    save_text("modules.json",
              "[{\"idx\":0,\"path\":\"\",\"type\":\"x.Transformer\"},"
              "{\"idx\":1,\"path\":\"1_Pooling\",\"type\":\"x.Pooling\"}]");
}

/* Only files are expected there when the folder is emptied. */
static void remove_pooling(const char *folder)
{
    char path[600];

    snprintf(path, sizeof(path), "%s/1_Pooling/config.json", folder);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/1_Pooling", folder);
    assert_int_equal(rmdir(path), 0);
}

static void remove_folder(const char *name)
{
    static const char *const files[] = {
        "README.md",         "config.json",       "generation_config.json",
        "tokenizer.model",   "tokenizer.json",    "tokenizer_config.json",
        "model.safetensors", "added_tokens.json", "special_tokens_map.json",
        "modules.json"
    };
    char path[600];

    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", scratch_path(name), files[i]);
        unlink(path);
    }
    if (pooling)
        remove_pooling(scratch_path(name));
    assert_int_equal(rmdir(scratch_path(name)), 0);
}

static void go_there_and_back(const char *config, const char *tensors)
{
    char folder[600], tensor_file[640];

    empty_scratch();
    save_text("config.json", config);
    save_text("README.md", "---\nname: A \\\"model\\\"\nlicense: mit\n"
                           "tags:\n- one\n- two\nbase_model: a/b-7B\n---\n");
    save_tokenizer();
    save_tensors(tensors);
    if (pooling)
        save_pooling();
    if (convert(scratch_path("model.safetensors"), scratch_path("a.gguf"),
                true) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    if (pooling)
        remove_pooling(scratch_folder);
    snprintf(folder, sizeof(folder), "%s/", scratch_path("back"));
    if (convert(scratch_path("a.gguf"), folder, false) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    snprintf(tensor_file, sizeof(tensor_file), "%smodel.safetensors", folder);
    if (convert(tensor_file, scratch_path("b.gguf"), true) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_same_files(scratch_path("a.gguf"), scratch_path("b.gguf"));
    remove_folder("back");
}

#define SIZES                                                                  \
    "\"vocab_size\":112,\"hidden_size\":32,\"intermediate_size\":32,"          \
    "\"num_hidden_layers\":1,\"num_attention_heads\":4,"                       \
    "\"num_key_value_heads\":2,\"max_position_embeddings\":64,"                \
    "\"rms_norm_eps\":1e-05,\"torch_dtype\":\"bfloat16\""

#define ATTENTION                                                              \
    "model.layers.0.input_layernorm.weight 32\n"                               \
    "model.layers.0.post_attention_layernorm.weight 32\n"                      \
    "model.layers.0.self_attn.q_proj.weight 32 32\n"                           \
    "model.layers.0.self_attn.k_proj.weight 16 32\n"                           \
    "model.layers.0.self_attn.v_proj.weight 16 32\n"                           \
    "model.layers.0.self_attn.o_proj.weight 32 32\n"                           \
    "model.embed_tokens.weight 112 32\n"                                       \
    "model.norm.weight 32\n"

#define LAYER                                                                  \
    ATTENTION "model.layers.0.mlp.gate_proj.weight 32 32\n"                    \
              "model.layers.0.mlp.up_proj.weight 32 32\n"                      \
              "model.layers.0.mlp.down_proj.weight 32 32\n"

static const char llama[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\"," SIZES
    "}";

static void heads_are_put_back(void **state)
{
    (void)state;
    go_there_and_back(llama, LAYER "lm_head.weight 112 32\n");
    go_there_and_back(llama, LAYER);
}

static void rope_is_found_again(void **state)
{
    (void)state;
    go_there_and_back("{\"architectures\":[\"LlamaForCausalLM\"],"
                      "\"model_type\":\"llama\",\"rope_theta\":500000.0,"
                      "\"rope_scaling\":{\"rope_type\":\"llama3\","
                      "\"factor\":32.0,\"low_freq_factor\":1.0,"
                      "\"high_freq_factor\":4.0,"
                      "\"original_max_position_embeddings\":8192}," SIZES "}",
                      LAYER);
    go_there_and_back("{\"architectures\":[\"LlamaForCausalLM\"],"
                      "\"model_type\":\"llama\","
                      "\"rope_scaling\":{\"rope_type\":\"linear\","
                      "\"factor\":2.5}," SIZES "}",
                      LAYER);
}

static void experts_are_taken_apart(void **state)
{
    (void)state;
    go_there_and_back(
        "{\"architectures\":[\"MixtralForCausalLM\"],"
        "\"model_type\":\"mixtral\",\"num_local_experts\":2,"
        "\"num_experts_per_tok\":1,\"head_dim\":8," SIZES "}",
        ATTENTION "model.layers.0.block_sparse_moe.gate.weight 2 32\n"
                  "model.layers.0.block_sparse_moe.experts.0.w1.weight 32 32\n"
                  "model.layers.0.block_sparse_moe.experts.0.w2.weight 32 32\n"
                  "model.layers.0.block_sparse_moe.experts.0.w3.weight 32 32\n"
                  "model.layers.0.block_sparse_moe.experts.1.w1.weight 32 32\n"
                  "model.layers.0.block_sparse_moe.experts.1.w2.weight 32 32\n"
                  "model.layers.0.block_sparse_moe.experts.1.w3.weight 32 32\n"
                  "lm_head.weight 112 32\n");
}

static void norms_lose_what_was_added(void **state)
{
    (void)state;
    go_there_and_back("{\"architectures\":[\"GemmaForCausalLM\"],"
                      "\"model_type\":\"gemma\",\"head_dim\":8," SIZES "}",
                      LAYER);
}

static void parts_are_joined(void **state)
{
    (void)state;
    go_there_and_back("{\"architectures\":[\"InternLM2ForCausalLM\"],"
                      "\"model_type\":\"internlm2\",\"rope_theta\":10000.0,"
                      "\"rope_scaling\":null,\"eos_token_id\":2," SIZES "}",
                      "model.layers.0.attention.wo.weight 32 32\n"
                      "model.layers.0.attention.wqkv.weight 64 32\n"
                      "model.layers.0.attention_norm.weight 32\n"
                      "model.layers.0.feed_forward.w1.weight 32 32\n"
                      "model.layers.0.feed_forward.w2.weight 32 32\n"
                      "model.layers.0.feed_forward.w3.weight 32 32\n"
                      "model.layers.0.ffn_norm.weight 32\n"
                      "model.norm.weight 32\n"
                      "model.tok_embeddings.weight 112 32\n"
                      "output.weight 112 32\n");
}

static void pooling_comes_back(void **state)
{
    static const char *const modes[] = { "mean_tokens", "cls_token",
                                         "lasttoken" };

    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++) {
        pooling = modes[i];
        go_there_and_back("{\"architectures\":[\"Qwen2ForCausalLM\"],"
                          "\"model_type\":\"qwen2\"," SIZES "}",
                          LAYER);
    }
    pooling = NULL;
}

/* ---- quantized tensors ---- */

static void to_folder(const char *from, const char *name, const char *type)
{
    const struct mf_convert_options how = { .size = sizeof(how), .type = type };
    char folder[600];

    snprintf(folder, sizeof(folder), "%s/", scratch_path(name));
    mf_clear_error(env);
    if (convert_file(env, scratch_path(from), folder, &how, NULL) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
}

/* While rows move, they are decoded: as if they had been before. */
static void blocks_become_floats_on_the_way(void **state)
{
    struct mf_convert_options how = { .size = sizeof(how),
                                      .names = MF_NAMING_GGUF,
                                      .type = "q8_0",
                                      .replace = true };
    char a[600], b[600];

    (void)state;
    go_there_and_back(llama, LAYER);
    assert_int_equal(convert_file(env, scratch_path("model.safetensors"),
                                  scratch_path("q.gguf"), &how, NULL),
                     MF_OK);
    how.names = MF_NAMING_KEEP;
    how.type = "f32";
    how.dequantize = true;
    assert_int_equal(convert_file(env, scratch_path("q.gguf"),
                                  scratch_path("d.gguf"), &how, NULL),
                     MF_OK);
    to_folder("q.gguf", "back", "f32");
    to_folder("d.gguf", "other", NULL);
    snprintf(a, sizeof(a), "%s/model.safetensors", scratch_path("back"));
    snprintf(b, sizeof(b), "%s/model.safetensors", scratch_path("other"));
    assert_same_files(a, b);
    remove_folder("back");
    remove_folder("other");
}

static void what_was_exponentiated_is_found(void **state)
{
    struct mf_derivation derive;
    struct mf_arena arena;
    struct mf_source source;
    const struct mf_derived *node;
    float values[512], back[512];

    (void)state;
    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&derive, env, &arena), MF_OK);
    for (int i = 0; i < 512; i++)
        values[i] = ((float)i - 200) / 64;
    node = mf_derive_floats(&derive, values, 512);
    node = mf_derive_map(&derive, node, MF_MAP_NEG_EXP, 0);
    node = mf_derive_map(&derive, node, MF_MAP_LOG_NEG, 0);
    mf_derived_open(node, "x", &source);
    assert_int_equal(mf_source_read(env, &source, 0, back, sizeof(back)),
                     MF_OK);
    mf_order_floats(back, 512); /* as a file has them */
    for (int i = 0; i < 512; i++)
        assert_true(back[i] == values[i]);
    mf_arena_release(&arena);
}

/* ---- what does not come back ---- */

static void refused(const struct mf_convert_options *how, const char *words)
{
    char folder[600];
    struct stat status;

    snprintf(folder, sizeof(folder), "%s/", scratch_path("back"));
    mf_clear_error(env);
    assert_int_not_equal(
        convert_file(env, scratch_path("a.gguf"), folder, how, NULL), MF_OK);
    if (!strstr(mf_env_error(env)->message, words))
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_not_equal(stat(folder, &status), 0);
}

static void what_does_not_come_back_is_named(void **state)
{
    const struct mf_edit edit = { .key = "llama.x",
                                  .type = MF_VALUE_U32,
                                  .number.u64 = 1 };
    struct mf_convert_options how = { .size = sizeof(how) };
    struct mf_convert_result result;
    char folder[600];

    (void)state;
    go_there_and_back(llama, LAYER);
    how.edits = &edit;
    how.edit_count = 1;
    how.replace = true;
    assert_int_equal(convert_file(env, scratch_path("b.gguf"),
                                  scratch_path("a.gguf"), &how, NULL),
                     MF_OK);
    how.edit_count = 0;
    refused(&how, "key 'llama.x' would not come back from the folder");
    how.names = MF_NAMING_GGUF;
    refused(&how, "a folder has Hugging Face's names");
    how.names = MF_NAMING_HF;
    how.resume = true;
    refused(&how, "a GGUF file becomes a folder unchanged");
    how.resume = false;
    how.type = "q8_0";
    refused(&how, "unknown type 'q8_0'");
    how.type = NULL;
    how.lossy = true;
    mf_clear_error(env);
    snprintf(folder, sizeof(folder), "%s/", scratch_path("back"));
    assert_int_equal(
        convert_file(env, scratch_path("a.gguf"), folder, &how, &result),
        MF_OK);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(
        convert_file(env, scratch_path("a.gguf"), folder, &how, &result),
        MF_ERR_OUTPUT);
    assert_non_null(strstr(mf_env_error(env)->message, "is not empty"));
    remove_folder("back");
}

/* The folder's files are JSON and YAML. */
static void text_that_is_not_utf8_is_named(void **state)
{
    const struct mf_edit edit = { .key = "general.name",
                                  .type = MF_VALUE_STRING,
                                  .text = { "\xff", 1 } };
    struct mf_convert_options how = {
        .size = sizeof(how), .edits = &edit, .edit_count = 1, .replace = true
    };

    (void)state;
    go_there_and_back(llama, LAYER);
    assert_int_equal(convert_file(env, scratch_path("b.gguf"),
                                  scratch_path("a.gguf"), &how, NULL),
                     MF_OK);
    how.edit_count = 0;
    how.names = MF_NAMING_HF;
    refused(&how, "key 'general.name' would not come back from the folder: "
                  "its text is not UTF-8");
}

/* a.gguf becomes b.gguf with these keys, which is refused. */
static void with_keys(const struct mf_edit *edits, size_t count)
{
    struct mf_convert_options how = { .size = sizeof(how),
                                      .edits = edits,
                                      .edit_count = count,
                                      .replace = true };

    assert_int_equal(convert_file(env, scratch_path("b.gguf"),
                                  scratch_path("a.gguf"), &how, NULL),
                     MF_OK);
    how.edit_count = 0;
    refused(&how, "keys have more than 65536 values");
}

/* Keys become nodes, which are far larger than what the file has of them. */
static void keys_of_too_many_values_are_refused(void **state)
{
    static char names[9][16], text[60000], dots[3][60000];
    static union mf_number numbers[8192];
    static struct mf_str texts[80];
    struct mf_edit lists[9], deep[3];
    struct mf_edit words = { .key = "llama.words",
                             .type = MF_VALUE_ARRAY,
                             .of = MF_VALUE_STRING,
                             .count = COUNT(texts),
                             .elements = texts };

    (void)state;
    go_there_and_back(llama, LAYER);
    for (size_t i = 0; i < COUNT(lists); i++) {
        snprintf(names[i], sizeof(names[i]), "llama.list%zu", i);
        lists[i] = (struct mf_edit){ .key = names[i],
                                     .type = MF_VALUE_ARRAY,
                                     .of = MF_VALUE_U8,
                                     .count = COUNT(numbers),
                                     .elements = numbers };
    }
    with_keys(lists, COUNT(lists));
    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < COUNT(texts); i++)
        texts[i] = (struct mf_str){ text, sizeof(text) };
    with_keys(&words, 1);
    for (size_t i = 0; i < COUNT(deep); i++) {
        for (size_t at = 0; at + 2 < sizeof(dots[i]); at += 2)
            memcpy(dots[i] + at, at > 0 ? "a." : i > 1 ? "b." : "c.", 2);
        dots[i][sizeof(dots[i]) - 3] = (char)('0' + i);
        deep[i] = (struct mf_edit){ .key = dots[i], .type = MF_VALUE_U8 };
    }
    with_keys(deep, COUNT(deep));
}

/* A file of an older converter, which had fewer keys. */
static void what_the_way_back_adds_is_counted(void **state)
{
    const struct mf_edit edit = { .key = "llama.vocab_size", .unset = true };
    struct mf_convert_options how = {
        .size = sizeof(how), .edits = &edit, .edit_count = 1, .replace = true
    };
    struct mf_convert_result result;
    char folder[600];

    (void)state;
    go_there_and_back(llama, LAYER);
    assert_int_equal(convert_file(env, scratch_path("b.gguf"),
                                  scratch_path("a.gguf"), &how, &result),
                     MF_OK);
    assert_int_equal(result.gained, 0);
    how.edit_count = 0;
    how.names = MF_NAMING_HF;
    snprintf(folder, sizeof(folder), "%s/", scratch_path("back"));
    assert_int_equal(
        convert_file(env, scratch_path("a.gguf"), folder, &how, &result),
        MF_OK);
    assert_int_equal(result.left_out, 0);
    assert_int_equal(result.gained, 1);
    assert_false(result.reordered);
    remove_folder("back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_put_back),
        cmocka_unit_test(rope_is_found_again),
        cmocka_unit_test(experts_are_taken_apart),
        cmocka_unit_test(norms_lose_what_was_added),
        cmocka_unit_test(parts_are_joined),
        cmocka_unit_test(pooling_comes_back),
        cmocka_unit_test(blocks_become_floats_on_the_way),
        cmocka_unit_test(what_was_exponentiated_is_found),
        cmocka_unit_test(what_does_not_come_back_is_named),
        cmocka_unit_test(text_that_is_not_utf8_is_named),
        cmocka_unit_test(keys_of_too_many_values_are_refused),
        cmocka_unit_test(what_the_way_back_adds_is_counted),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
