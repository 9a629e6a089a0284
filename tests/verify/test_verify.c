/* SPDX-License-Identifier: MIT
 *
 * test_verify.c - whether a model was made from another one
 *
 * Loops over all types that can be encoded, so a new codec is tested before its
 * author writes a test.
 */
#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"
#include "tests/quantize/mix.h"

#define COLUMNS ((size_t)512)

/* A matrix, several in one tensor, and a vector that stays f32. */
static const struct {
    const char *name;
    uint32_t rank;
    uint64_t dim[3];
} tensors[] = {
    { "blk.0.attn_q.weight", 2, { 4, COLUMNS } },
    { "blk.0.ffn_gate_exps.weight", 3, { 2, 2, COLUMNS } },
    { "output_norm.weight", 1, { COLUMNS } },
};

/* scratch_path gives up its texts after some calls. */
static char source_path[512], matrix_path[512], quant_path[512];

static enum mf_status make_numbers(void *user, size_t tensor, uint64_t offset,
                                   void *buffer, size_t size)
{
    uint32_t noise = (uint32_t)(tensor * 7919 + offset + 1);
    float *out = buffer;

    (void)user;
    for (size_t i = 0; i < size / sizeof(*out); i++) {
        noise = noise * 1664525 + 1013904223;
        out[i] = (float)(int32_t)noise * 0x1p-34f;
    }
    mf_order_floats(out, size / sizeof(*out));
    return MF_OK;
}

static void make_source(const char *path)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_writer *writer = start_writer(env, "gguf");

    make_key(writer, "general.architecture", "string", "llama");
    make_key(writer, "llama.block_count", "u32", "1");
    make_key(writer, "llama.expert_count", "u32", "2");
    for (size_t i = 0; i < COUNT(tensors); i++) {
        struct mf_new_tensor tensor = { .name = { tensors[i].name,
                                                  strlen(tensors[i].name) },
                                        .type = "f32",
                                        .rank = tensors[i].rank,
                                        .dim = tensors[i].dim };

        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
    assert_int_equal(mf_writer_fill(writer, make_numbers, NULL), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    mf_env_free(env);
}

static float weight_of(uint64_t column)
{
    return 1 + (float)(column * 37 % 101);
}

/* Weights that are not all alike, for both matrices. */
static void make_matrix(const char *path)
{
    FILE *file = start_matrix(path, 2);

    for (size_t i = 0; i < 2; i++) {
        uint64_t count = COLUMNS * (tensors[i].rank == 3 ? 2 : 1);

        write_text(file, tensors[i].name);
        write_number(file, 1);
        write_number(file, (uint32_t)count);
        for (uint64_t k = 0; k < count; k++) {
            float value = weight_of(k);

            in_file_order(&value, 1, sizeof(value));
            assert_int_equal(fwrite(&value, sizeof(value), 1, file), 1);
        }
    }
    fclose(file);
}

static int setup(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    strcpy(source_path, scratch_path("source.gguf"));
    strcpy(matrix_path, scratch_path("matrix.dat"));
    strcpy(quant_path, scratch_path("quant.gguf"));
    make_source(source_path);
    make_matrix(matrix_path);
    return 0;
}

/* The source in that type, which a pattern names: as TYPE, some names match
 * mixes.  False where it cannot be encoded. */
static bool make_quant(const char *type, bool weighted)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL;
    struct mf_quantize_options options = {
        .size = sizeof(options),
        .type = "q8_0",
        .tensor_types = &(struct mf_tensor_type){ "blk", type },
        .tensor_type_count = 1,
        .imatrix = weighted ? matrix_path : NULL,
    };
    struct mf_convert_options how = { .size = sizeof(how), .replace = true };
    enum mf_status status;

    assert_int_equal(mf_model_open(env, source_path, NULL, &model), MF_OK);
    status = mf_model_quantize(model, quant_path, &options, &how, NULL);
    mf_model_close(model);
    mf_env_free(env);
    return status == MF_OK;
}

/* ---- verifying ---- */

struct answer {
    enum mf_status status;
    struct mf_verify_result result;
    size_t named; /* tensors that differ */
    struct mf_verified_tensor tensor;
    struct mf_value_errors errors;
    char reason[320]; /* why the last one cannot be derived */
    char version[64]; /* that made the last one */
};

static void named(void *user, const struct mf_verified_tensor *tensor)
{
    struct answer *answer = user;

    assert_non_null(mf_verdict_name(tensor->verdict));
    if (tensor->reason)
        snprintf(answer->reason, sizeof(answer->reason), "%s", tensor->reason);
    if (tensor->version)
        snprintf(answer->version, sizeof(answer->version), "%s",
                 tensor->version);
    if (tensor->verdict != MF_VERDICT_DIFFERS)
        return;
    answer->named++;
    answer->tensor = *tensor;
    if (tensor->errors)
        answer->errors = *tensor->errors;
}

static struct answer verify_in(struct mf_env *env, const void *bytes,
                               size_t size, const char *matrix)
{
    struct answer answer = { .status = MF_OK };
    struct mf_model *model = NULL, *source = NULL;
    struct mf_verify_options options = { .size = sizeof(options),
                                         .imatrix = matrix,
                                         .tensor = named,
                                         .user = &answer };

    answer.status =
        mf_model_open_memory(env, "quant", bytes, size, NULL, &model);
    if (answer.status == MF_OK)
        answer.status = mf_model_open(env, source_path, NULL, &source);
    if (answer.status == MF_OK)
        answer.status = mf_verify(model, source, &options, &answer.result);
    mf_model_close(source);
    mf_model_close(model);
    return answer;
}

static struct answer verify(const void *bytes, size_t size, const char *matrix,
                            unsigned threads)
{
    struct mf_env *env = mf_env_new(&(struct mf_options){
        .size = sizeof(struct mf_options), .threads = threads });
    struct answer answer = verify_in(env, bytes, size, matrix);

    mf_env_free(env);
    return answer;
}

/* ---- one bit ---- */

struct place {
    uint64_t offset, size; /* of a tensor's data */
};

static struct place place_in(const char *path, size_t tensor)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL;
    struct mf_tensor found;

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_true(mf_tensor_find(model, tensors[tensor].name,
                               strlen(tensors[tensor].name), &found, NULL));
    mf_model_close(model);
    mf_env_free(env);
    return (struct place){ found.data.offset, found.data.size };
}

/* Every byte of the block, or one of `step`. */
static void flip_block(uint8_t *bytes, size_t size, struct place place,
                       uint64_t block, uint32_t step,
                       const struct mf_type_info *type, const char *matrix)
{
    for (uint32_t i = 0; i < type->size; i += step) {
        uint64_t at = place.offset + block * type->size + i;
        struct answer answer;

        bytes[at] ^= (uint8_t)(1 << i % 8);
        answer = verify(bytes, size, matrix, 1);
        bytes[at] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(answer.status, MF_OK);
        assert_false(answer.result.follows);
        assert_int_equal(answer.named, 1);
        assert_int_equal(answer.tensor.differ, 1);
        assert_int_equal(answer.tensor.block, block);
        assert_int_equal(answer.tensor.offset,
                         place.offset + block * type->size);
        assert_int_equal(answer.tensor.blocks, place.size / type->size);
    }
}

/* The first and the last block of the tensor that has several matrices. */
static bool flip_type(const struct mf_type_info *type, bool weighted)
{
    const char *matrix = weighted ? matrix_path : NULL;
    uint32_t step = test_is_quick() ? 13 : 1;
    struct place place;
    uint8_t *bytes;
    size_t size;

    if (!mf_type_in(type->name, "gguf") || !make_quant(type->name, weighted))
        return false;
    place = place_in(quant_path, 1);
    bytes = load(quant_path, &size);
    assert_true(verify(bytes, size, matrix, 1).result.follows);
    flip_block(bytes, size, place, 0, step, type, matrix);
    flip_block(bytes, size, place, place.size / type->size - 1, step, type,
               matrix);
    free(bytes);
    return true;
}

static void a_flipped_bit_is_found_in_every_type(void **state)
{
    struct mf_type_info type;
    size_t plain = 0, weighted = 0;

    (void)state;
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        plain += flip_type(&type, false);
        weighted += flip_type(&type, true);
    }
    print_message("%zu types, %zu of them with a matrix\n", plain, weighted);
    assert_true(plain >= 20 && weighted >= 10);
}

static void threads_change_nothing(void **state)
{
    uint8_t *bytes;
    size_t size;
    struct answer one;

    (void)state;
    assert_true(make_quant("q4_k", false));
    bytes = load(quant_path, &size);
    bytes[place_in(quant_path, 1).offset + 300] ^= 64;
    one = verify(bytes, size, NULL, 1);
    assert_int_equal(one.named, 1);
    for (unsigned threads = 2; threads < 8; threads++) {
        struct answer more = verify(bytes, size, NULL, threads);

        assert_int_equal(more.tensor.block, one.tensor.block);
        assert_memory_equal(&more.errors, &one.errors, sizeof(one.errors));
    }
    free(bytes);
}

/* ---- matrices ---- */

static void weights_matter(void **state)
{
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_true(make_quant("q4_k", true));
    bytes = load(quant_path, &size);
    assert_true(verify(bytes, size, matrix_path, 1).result.follows);
    assert_int_equal(verify(bytes, size, NULL, 1).named, 2);
    free(bytes);
    /* Made without: the matrix is tried, then left out. */
    assert_true(make_quant("q4_k", false));
    bytes = load(quant_path, &size);
    assert_true(verify(bytes, size, matrix_path, 1).result.follows);
    free(bytes);
}

/* A row that another version's encoder encodes in another way, with the first
 * weights of make_matrix; what that gives. */
static void find_older(enum mf_type type, float *row, uint8_t *blocks)
{
    struct mf_env *env = mf_env_new(NULL);
    const struct mf_codec *today = mf_codec_of(mf_isas, type);
    const struct mf_codec *older = today->older;
    size_t size = COLUMNS / mf_types[type].block * mf_types[type].bytes;
    const struct mf_grid_map *map;
    float weights[COLUMNS];
    uint8_t now[COLUMNS];

    assert_non_null(older);
    map = mf_grid_map_of(env, older->grid);
    assert_non_null(map);
    for (uint64_t i = 0; i < COLUMNS; i++)
        weights[i] = weight_of(i);
    for (uint64_t seed = 0;; seed++) {
        assert_true(seed < 10000);
        make_numbers(NULL, 7, seed * 31, row, COLUMNS * sizeof(*row));
        in_file_order(row, COLUMNS, sizeof(*row)); /* back to the machine's */
        assert_true(today->encode_on_grid(map, row, weights, now, COLUMNS));
        assert_true(older->encode_on_grid(map, row, weights, blocks, COLUMNS));
        if (memcmp(now, blocks, size) != 0)
            break;
    }
    mf_env_free(env);
}

/* The file of the second tensor's first row, and of that row as it was encoded
 * once. */
static void check_older(const char *name, const uint8_t *blocks, size_t row)
{
    struct place place;
    struct answer answer;
    uint8_t *bytes;
    size_t size;

    assert_true(make_quant(name, true));
    place = place_in(quant_path, 1);
    bytes = load(quant_path, &size);
    assert_true(verify(bytes, size, matrix_path, 1).result.follows);
    memcpy(bytes + place.offset, blocks, row);
    for (unsigned threads = 1; threads < 4; threads++) {
        answer = verify(bytes, size, matrix_path, threads);
        assert_int_equal(answer.status, MF_OK);
        assert_int_equal(answer.result.tensors[MF_VERDICT_SAME], 2);
        assert_int_equal(answer.result.tensors[MF_VERDICT_OTHER_VERSION], 1);
        assert_true(answer.result.follows);
        assert_string_equal(answer.version, "ggml before 0.25.1");
    }
    bytes[place.offset + place.size - 1] ^= 1;
    answer = verify(bytes, size, matrix_path, 1);
    assert_int_equal(answer.named, 1);
    assert_false(answer.result.follows);
    free(bytes);
}

static void an_older_encoder_is_recognized(void **state)
{
    uint8_t *source, *were, blocks[COLUMNS];
    float row[COLUMNS];
    size_t size;
    uint64_t place = place_in(source_path, 1).offset;

    (void)state;
    source = load(source_path, &size);
    were = load(source_path, &size);
    find_older(MF_TYPE_IQ1_M, row, blocks);
    memcpy(source + place, row, sizeof(row));
    in_file_order(source + place, COLUMNS, sizeof(float));
    save(source_path, source, size);
    check_older("iq1_m", blocks, 2 * mf_types[MF_TYPE_IQ1_M].bytes);
    save(source_path, were, size);
    free(source);
    free(were);
}

/* Of the two matrices one has a row that cannot be encoded: only that one
 * cannot be derived. */
static void a_row_without_an_encoding_fails_its_tensor(void **state)
{
    const uint32_t huge = 0x7e000000; /* 4e37 */
    uint64_t place = place_in(source_path, 1).offset;
    uint8_t *bytes, *source, saved[sizeof(huge)];
    struct answer answer;
    size_t size, source_size;

    (void)state;
    assert_true(make_quant("iq2_xs", true));
    bytes = load(quant_path, &size);
    answer = verify(bytes, size, NULL, 2);
    assert_int_equal(answer.status, MF_OK);
    assert_int_equal(answer.result.tensors[MF_VERDICT_NOT_DERIVABLE], 2);
    assert_non_null(strstr(answer.reason, "without an importance matrix"));

    source = load(source_path, &source_size);
    place += 3 * COLUMNS * sizeof(float) + 100;
    memcpy(saved, source + place, sizeof(huge));
    memcpy(source + place, &huge, sizeof(huge));
    in_file_order(source + place, 1, sizeof(huge));
    save(source_path, source, source_size);
    for (unsigned threads = 1; threads < 4; threads++) {
        answer = verify(bytes, size, matrix_path, threads);
        assert_int_equal(answer.status, MF_OK);
        assert_int_equal(answer.result.tensors[MF_VERDICT_SAME], 2);
        assert_int_equal(answer.result.tensors[MF_VERDICT_NOT_DERIVABLE], 1);
        assert_ptr_equal(strstr(answer.reason, "row 3 cannot be encoded"),
                         answer.reason);
    }
    memcpy(source + place, saved, sizeof(huge));
    save(source_path, source, source_size);
    free(source);
    free(bytes);
}

/* ---- odd conditions ---- */

/* Once with each allocation refused, once with all from there on. */
static void refuse(const uint8_t *bytes, size_t size, bool after)
{
    struct answer answer;
    uint64_t calls;

    for (uint64_t at = 1;; at++) {
        struct test_heap heap = { .fail_at = at, .fail_after = after };
        struct mf_env *env = test_env(&heap);

        calls = 0;
        if (env) {
            answer = verify_in(env, bytes, size, matrix_path);
            check_refused(&heap, answer.status);
            calls = heap.calls;
            mf_env_free(env);
        }
        assert_int_equal(heap.live, 0);
        if (env && calls < at)
            return;
    }
}

static void refused_memory_does_no_harm(void **state)
{
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_true(make_quant("q4_k", true));
    bytes = load(quant_path, &size);
    bytes[place_in(quant_path, 1).offset + 300] ^= 64;
    refuse(bytes, size, false);
    refuse(bytes, size, true);
    free(bytes);
}

/* Every byte of a quantized file, its header above all, may be anything. */
static void any_byte_may_be_wrong(void **state)
{
    uint8_t *bytes;
    size_t size, header;

    (void)state;
    assert_true(make_quant("q8_0", false));
    header = (size_t)place_in(quant_path, 0).offset + 64;
    bytes = load(quant_path, &size);
    for (size_t i = 0; i < header; i++) {
        const uint8_t was = bytes[i];

        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] = was ^ (uint8_t)(1 << bit);
            verify(bytes, size, NULL, 1);
        }
        bytes[i] = was;
    }
    for (size_t cut = 0; cut < size; cut += cut < header ? 1 : 97)
        assert_true(verify(bytes, cut, NULL, 1).status != MF_OK);
    free(bytes);
}

static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL, *source = NULL;
    struct mf_verify_result result = { .follows = false };
    enum mf_status status =
        mf_model_open_memory(env, name, bytes, size, NULL, &model);

    if (status == MF_OK)
        status = mf_model_open_memory(env, name, bytes, size, NULL, &source);
    if (status == MF_OK)
        status = mf_verify(model, source, NULL, &result);
    if (status == MF_OK && !result.follows)
        fail_msg("%s does not follow from itself", name);
    mf_model_close(source);
    mf_model_close(model);
    mf_env_free(env);
}

static void a_model_follows_from_itself(void **state)
{
    (void)state;
    assert_true(each_fixture("", check_fixture) > 200);
}

/* ---- the instruction set ---- */

const struct mf_isa *__real_mf_isa_choose(struct mf_env *env);
const struct mf_isa *__wrap_mf_isa_choose(struct mf_env *env);

static size_t choices;

const struct mf_isa *__wrap_mf_isa_choose(struct mf_env *env)
{
    choices++;
    return __real_mf_isa_choose(env);
}

/* Asking the processor what it can do takes long in a virtual machine: it is
 * not done for each tensor. */
static void the_instruction_set_is_chosen_once(void **state)
{
    const char *path = scratch_path("many.gguf");
    struct mf_quantize_options q8_0 = { .size = sizeof(q8_0), .type = "Q8_0" };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *source, *quant;

    (void)state;
    assert_int_equal(mf_model_open(env, fixture_path("good-many-tensors.gguf"),
                                   NULL, &source),
                     MF_OK);
    assert_int_equal(mf_model_quantize(source, path, &q8_0, NULL, NULL), MF_OK);
    assert_int_equal(mf_model_open(env, path, NULL, &quant), MF_OK);
    choices = 0;
    assert_int_equal(mf_verify(quant, source, NULL, NULL), MF_OK);
    assert_in_range(choices, 1, 19);
    assert_true(mf_model_info(quant)->tensor_count > 100);
    mf_model_close(quant);
    mf_model_close(source);
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flipped_bit_is_found_in_every_type),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(weights_matter),
        cmocka_unit_test(an_older_encoder_is_recognized),
        cmocka_unit_test(a_row_without_an_encoding_fails_its_tensor),
        cmocka_unit_test(refused_memory_does_no_harm),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(a_model_follows_from_itself),
        cmocka_unit_test(the_instruction_set_is_chosen_once),
    };

    return cmocka_run_group_tests(tests, setup, remove_scratch);
}
