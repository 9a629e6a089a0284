/* SPDX-License-Identifier: MIT
 *
 * test_gguf_tensors.c - tensors of the GGUF fixtures: types, shapes, places
 *
 * fixtures/make_gguf_good.c says what each file is made of.
 */
#include "fixtures/make_gguf_types.h"
#include "tests/with_env.h"

/* ---- types ---- */

/* The data is the file's last bytes: a block of each type, padded to 32. */
static uint64_t start_of_types(uint64_t file_size)
{
    for (size_t i = 0; i < GGUF_TYPES; i++)
        file_size -= (gguf_types[i].bytes + 31) / 32 * 32;
    return file_size;
}

static void every_type_has_its_size(void **state)
{
    struct mf_model *model = open_fixture("good-types.gguf");
    const struct mf_model_info *info = mf_model_info(model);
    uint64_t at = start_of_types(info->file_size);
    struct mf_tensor tensor;

    (void)state;
    assert_int_equal(info->tensor_count, GGUF_TYPES);
    assert_int_equal(info->data_offset, at);
    for (size_t i = 0; i < GGUF_TYPES; i++) {
        assert_true(mf_tensor_at(model, i, &tensor));
        assert_memory_equal(tensor.name.at, "type.", 5);
        assert_string_equal(tensor.name.at + 5, gguf_types[i].name);
        assert_string_equal(tensor.type, gguf_types[i].name);
        assert_int_equal(tensor.type_id, gguf_types[i].id);
        assert_int_equal(tensor.rank, 1);
        assert_int_equal(tensor.dim[0], gguf_types[i].block);
        assert_int_equal(tensor.parameters, gguf_types[i].block);
        assert_int_equal(tensor.data.offset, at);
        assert_int_equal(tensor.data.size, gguf_types[i].bytes);
        assert_int_equal(tensor.flags, 0);
        at += (gguf_types[i].bytes + 31) / 32 * 32;
    }
    mf_model_close(model);
}

/* a.weight and b.weight take 64 bytes of the data, d.weight the last 32. */
static void check_strange(const char *name, const char *type, uint32_t id,
                          uint64_t room)
{
    struct mf_model *model = open_fixture(name);
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_tensor tensor = tensor_of(model, "c.weight");

    assert_string_equal(tensor.type, type);
    assert_int_equal(tensor.type_id, id);
    assert_int_equal(tensor.data.offset, info->data_offset + 64);
    assert_int_equal(tensor.data.size, room);
    assert_int_equal(tensor.flags, MF_TENSOR_SIZE_INFERRED);
    tensor = tensor_of(model, "d.weight");
    assert_int_equal(tensor.data.offset, info->data_offset + 64 + room);
    assert_int_equal(tensor.data.offset, info->file_size - 32);
    assert_int_equal(tensor.flags, 0);
    mf_model_close(model);
}

/* The size of what is not known is inferred: up to the next tensor. */
static void unknown_types_take_the_room_they_have(void **state)
{
    (void)state;
    check_strange("unsupported-type-1234.gguf", "type_1234", 1234, 128);
    check_strange("bad-type-iq4_ks.gguf", "iq4_ks", 144, 288);
}

/* ---- shapes and places ---- */

static void every_rank(void **state)
{
    static const uint64_t dims[] = { 3, 2, 5, 4 };
    static const uint64_t sizes[] = { 12, 24, 120, 480 };
    static const uint64_t padded[] = { 32, 32, 128, 480 };
    struct mf_model *model = open_fixture("good-ranks.gguf");
    uint64_t at = mf_model_info(model)->data_offset + 64;
    struct mf_tensor tensor;

    (void)state;
    for (uint32_t rank = 1; rank <= 4; rank++) {
        assert_true(mf_tensor_at(model, 1 + rank, &tensor));
        assert_int_equal(tensor.name.at[5], '0' + rank);
        assert_int_equal(tensor.rank, rank);
        assert_memory_equal(tensor.dim, dims, rank * sizeof(*dims));
        assert_int_equal(tensor.data.offset, at);
        assert_int_equal(tensor.data.size, sizes[rank - 1]);
        assert_int_equal(tensor.parameters, sizes[rank - 1] / 4);
        at += padded[rank - 1];
    }
    assert_int_equal(at, mf_model_info(model)->file_size);
    mf_model_close(model);
    model = open_fixture("good-rank-0.gguf");
    tensor = tensor_of(model, "rank.0");
    assert_int_equal(tensor.rank, 0);
    assert_int_equal(tensor.parameters, 1);
    assert_int_equal(tensor.data.size, 4);
    mf_model_close(model);
}

static void names_of_tensors_and_keys(void **state)
{
    struct mf_model *model = open_fixture("good-names.gguf");
    struct mf_tensor tensor;
    struct mf_meta meta;

    (void)state;
    tensor =
        tensor_of(model, "gewicht.\u00e4\u00f6\u00fc.\u6743\u91cd.\U0001f9e0");
    assert_int_equal(tensor.data.size, 8);
    assert_true(mf_meta_find(model, "gpt-oss.name", 12, &meta, NULL));
    assert_string_equal(meta.text.at, "hyphens are fine");
    mf_model_close(model);
    model = open_fixture("bad-name-64.gguf");
    tensor = tensor_of(model, "a.name.of.exactly.sixty.four.bytes."
                              "which.is.as.long.as.they.come");
    assert_int_equal(tensor.name.size, 64);
    assert_int_equal(tensor.flags, 0);
    mf_model_close(model);
}

static void many_tensors(void **state)
{
    struct mf_model *model = open_fixture("good-many-tensors.gguf");
    uint64_t data = mf_model_info(model)->data_offset;
    struct mf_tensor tensor;
    char name[80];

    (void)state;
    assert_int_equal(mf_model_info(model)->tensor_count, 300);
    assert_int_equal(mf_model_info(model)->parameters, 300 * 8);
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name),
                 "decoder.layers.%u.feed_forward.experts.gate.weight", i);
        assert_true(mf_tensor_at(model, i, &tensor));
        assert_string_equal(tensor.name.at, name);
        assert_int_equal(tensor.data.offset, data + i * 32);
        assert_int_equal(tensor_of(model, name).data.offset, data + i * 32);
    }
    mf_model_close(model);
}

static void alignment_moves_the_data(void **state)
{
    struct mf_model *model = open_fixture("good-alignment-64.gguf");

    (void)state;
    assert_int_equal(mf_model_info(model)->alignment, 64);
    assert_int_equal(mf_model_info(model)->data_offset % 64, 0);
    assert_int_equal(tensor_of(model, "b.weight").data.offset,
                     mf_model_info(model)->data_offset + 64);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_type_has_its_size),
        WITH_ENV(unknown_types_take_the_room_they_have),
        WITH_ENV(every_rank),
        WITH_ENV(names_of_tensors_and_keys),
        WITH_ENV(many_tensors),
        WITH_ENV(alignment_moves_the_data),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
