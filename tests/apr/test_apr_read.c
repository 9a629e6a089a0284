/* SPDX-License-Identifier: MIT
 *
 * test_apr_read.c - APR's types and sizes, packed index and sections
 */
#include "tests/apr/apr_image.h"

/* ---- types and sizes ---- */

struct sizing {
    struct entry entry;
    const char *type, *rules;
};

/* One tensor to a file. */
static void check_sizing(unsigned flags, const char *metadata,
                         const struct sizing *row)
{
    struct mf_model *model;
    struct mf_tensor tensor;
    size_t room = row->entry.size < 4096 ? (size_t)row->entry.size : 0;
    char what[64];

    snprintf(what, sizeof(what), "dtype %u, %" PRIu64 " bytes",
             row->entry.dtype, row->entry.size);
    begin(flags, 1, metadata);
    put_entry(&row->entry);
    end(room);
    model = open_image(what);
    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_string_equal(tensor.type, row->type);
    check_rules(model, what, row->rules);
    mf_model_close(model);
}

#define TOO_MANY (UINT64_C(1) << 62)

static void the_size_settles_the_type(void **state)
{
    static const struct sizing rows[] = {
        /* Rows padded to 256 elements, or none are. */
        { { "t", 12, 2, { 3, 100 }, 0, 3 * 144 }, "q4_k", "APR-ROWS " },
        { { "t", 12, 2, { 3, 100 }, 0, 2 * 144 }, "q4_k", "APR-ROWS " },
        { { "t", 12, 2, { 100, 256 }, 0, 100 * 144 },
          "q4_k",
          "TENSOR-BOUNDS " },
        { { "t", 12, 2, { 3, 100 }, 0, 4 * 144 }, "q4_k", "TENSOR-SIZE " },
        { { "t", 12, 1, { 300 }, 0, 2 * 144 }, "q4_k", "" },
        { { "t", 12, 3, { 2, 3, 100 }, 0, 3 * 144 }, "q4_k", "" },
        { { "t", 12, 3, { 2, 3, 100 }, 0, 6 * 144 }, "q4_k", "TENSOR-SIZE " },
        { { "t", 12, 3, { 2, 3, 100 }, 0, 2 * 144 }, "q4_k", "TENSOR-SIZE " },
        { { "t", 14, 2, { 2, 256 }, 0, 2 * 210 }, "q6_k", "" },
        /* Both meanings fit: aprender's. */
        { { "t", 2, 1, { 9 }, 0, 18 }, "bf16", "" },
        { { "t", 6, 1, { 22 }, 0, 22 }, "i8", "" },
        { { "t", 7, 1, { 24 }, 0, 24 }, "u8", "" },
        { { "t", 9, 1, { 32 }, 0, 36 }, "apr_q8", "" },
        { { "t", 8, 1, { 0 }, 0, 0 }, "apr_q4", "" },
        /* Neither does. */
        { { "t", 2, 1, { 64 }, 0, 100 }, "bf16", "TENSOR-SIZE " },
        { { "t", 9, 1, { 64 }, 0, 64 }, "apr_q8", "TENSOR-SIZE " },
        /* aprender's own, whose last block may be partial. */
        { { "t", 128, 1, { 33 }, 0, 36 }, "apr_q4", "" },
        { { "t", 128, 1, { 33 }, 0, 18 }, "apr_q4", "TENSOR-SIZE " },
        { { "t", 129, 1, { 33 }, 0, 37 }, "apr_q8", "" },
        { { "t", 129, 1, { 0 }, 0, 0 }, "apr_q8", "" },
        { { "t", 129, 1, { 0 }, 0, 4 }, "apr_q8", "TENSOR-SIZE " },
        /* ggml's numbers of its own. */
        { { "t", 10, 1, { 256 }, 0, 84 }, "q2_k", "" },
        { { "t", 11, 1, { 256 }, 0, 110 }, "q3_k", "" },
        { { "t", 13, 1, { 256 }, 0, 176 }, "q5_k", "" },
        { { "t", 16, 1, { 256 }, 0, 66 }, "iq2_xxs", "" },
        { { "t", 17, 1, { 256 }, 0, 74 }, "iq2_xs", "" },
        { { "t", 18, 1, { 256 }, 0, 98 }, "type_18", "APR-DTYPE " },
        { { "t", 255, 1, { 4 }, 0, 16 }, "type_255", "APR-DTYPE " },
        /* Shapes and sizes past all bounds. */
        { { "t", 3, 1, { TOO_MANY }, 0, 8 }, "f64", "TENSOR-OVERFLOW " },
        { { "t", 0, 2, { TOO_MANY, 4 }, 0, 0 }, "f32", "TENSOR-OVERFLOW " },
        { { "t", 12, 2, { TOO_MANY, 1 }, 0, 144 }, "q4_k", "TENSOR-SIZE " },
        { { "t", 129, 1, { INT64_MAX }, 0, 3 }, "apr_q8", "TENSOR-SIZE " },
        { { "t", 0, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 0, 4 },
          "f32",
          "APR-RANK " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_sizing(ROW_MAJOR, "{}", &rows[i]);
}

/* Where realizar wrote, ggml's meaning counts, and the first dimension is the
 * one that lies together. */
static void realizars_types_are_ggmls(void **state)
{
    static const char metadata[] = "{\"model_type\":\"transformer_lm_q4k\"}";
    static const struct sizing rows[] = {
        { { "t", 9, 1, { 32 }, 0, 36 }, "q8_1", "" },
        { { "t", 9, 1, { 64 }, 0, 68 }, "apr_q8", "" },
        { { "t", 8, 1, { 32 }, 0, 34 }, "q8_0", "" },
        { { "t", 12, 2, { 256, 3 }, 0, 3 * 144 }, "q4_k", "" },
        { { "t", 12, 2, { 100, 3 }, 0, 3 * 144 }, "q4_k", "APR-ROWS " },
        { { "t", 12, 2, { 3, 100 }, 0, 3 * 144 }, "q4_k", "TENSOR-SIZE " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_sizing(0, metadata, &rows[i]);
    /* The layout flag, which realizar's converter does not set. */
    check_sizing(
        ROW_MAJOR, metadata,
        &(struct sizing){ { "t", 9, 1, { 32 }, 0, 36 }, "apr_q8", "" });
}

/* ---- the packed index ---- */

static void names_and_their_order(void **state)
{
    static char longest[257 + 1];
    static const struct {
        const char *first, *second, *rules;
    } rows[] = {
        { "a", "b", "" },
        { "a", "ab", "" },
        { "ab", "a", "APR-INDEX-ORDER " },
        { "b", "a\xc3\xa4", "APR-INDEX-ORDER " },
        { "z", "\xc3\xa4", "" }, /* bytes have no sign */
        { "a", "a", "TENSOR-DUPLICATE " },
        { "a\tb", "b", "APR-NAME " },
        { "a", "b\xe2\x80\xae", "APR-NAME " }, /* writes backwards */
        { "", "a", "APR-NAME " },
        { "a", longest, "APR-NAME " },
        { "a", longest + 1, "" },
    };

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(ROW_MAJOR, 2, "{}");
        put_entry(&(struct entry){ rows[i].first, 7, 1, { 1 }, 0, 1 });
        put_entry(&(struct entry){ rows[i].second, 7, 1, { 1 }, 64, 1 });
        end(65);
        expect_rules(rows[i].second, rows[i].rules);
    }
}

/* More entries than the window holds; each byte is read once. */
static void an_index_longer_than_the_window(void **state)
{
    enum { TENSORS = 5000 };
    struct mf_io_stats io;
    struct mf_tensor tensor;
    struct mf_model *model;
    char name[32];

    (void)state;
    begin(ROW_MAJOR, TENSORS, "{}");
    for (unsigned i = 0; i < TENSORS; i++) {
        snprintf(name, sizeof(name), "tensor.%04u", i);
        put_entry(&(struct entry){ name, 7, 1, { 16 }, i * 64, 16 });
    }
    end(64);
    model = open_image("5000 tensors");
    mf_env_io(env, &io);
    assert_int_equal(io.bytes_read, image.size - 64 - 62);
    assert_int_equal(mf_model_info(model)->tensor_count, TENSORS);
    for (unsigned i = 0; i < TENSORS; i++) {
        snprintf(name, sizeof(name), "tensor.%04u", i);
        assert_true(mf_tensor_at(model, i, &tensor));
        assert_string_equal(tensor.name.at, name);
        assert_int_equal(tensor.dim[0], 16);
    }
    mf_model_close(model);
}

static void an_index_that_is_cut_short(void **state)
{
    const struct entry entry = { "a.weight", 0, 2, { 1, 1 }, 0, 4 };

    (void)state;
    begin(ROW_MAJOR, 2, "{}");
    put_entry(&entry);
    put_number(60000, 2); /* a name longer than the file */
    end(4);
    expect_refusal("a name past the index", MF_ERR_CORRUPT);
    begin(ROW_MAJOR, 1, "{}");
    put_entry(&entry);
    image.at[128 + 2 + 8 + 1] = 40; /* dimensions, behind name and dtype */
    end(4);
    expect_refusal("dimensions past the index", MF_ERR_CORRUPT);
}

/* ---- sections ---- */

struct change {
    const char *what;
    size_t at;
    uint64_t value, size;
    enum mf_status status;
    const char *rules;
};

static void check_change(unsigned flags, const struct change *row)
{
    begin(flags, 1, "{\"n\":1}");
    put_entry(&(struct entry){ "a", 0, 1, { 1 }, 0, 4 });
    end(4);
    set((size_t)row->at, row->value, (size_t)row->size);
    seal();
    if (row->status == MF_OK)
        expect_rules(row->what, row->rules);
    else
        expect_refusal(row->what, row->status);
}

static void sections_have_an_order(void **state)
{
    /* metadata 64 to 71, index 128 to 157, data from 192, the file's end 256 */
    static const struct change rows[] = {
        { "as it was", AT_DATA, 192, 8, MF_OK, "" },
        { "data behind 4 bytes more", AT_DATA, 196, 8, MF_OK,
          "APR-ALIGNMENT APR-TRAILING " },
        { "data at the end", AT_DATA, 256, 8, MF_OK, "TENSOR-BOUNDS " },
        { "data past the end", AT_DATA, 320, 8, MF_OK,
          "APR-SECTIONS TENSOR-BOUNDS " },
        { "data within the index", AT_DATA, 128, 8, MF_OK,
          "APR-SECTIONS APR-TRAILING " },
        { "data cuts the index", AT_DATA, 140, 8, MF_ERR_CORRUPT, NULL },
        { "data at 2^64 - 1", AT_DATA, UINT64_MAX, 8, MF_OK,
          "APR-ALIGNMENT APR-SECTIONS TENSOR-BOUNDS " },
        { "index at the end", AT_INDEX, 256, 8, MF_ERR_CORRUPT, NULL },
        { "index past the end", AT_INDEX, 257, 8, MF_ERR_CORRUPT, NULL },
        { "metadata past the end", AT_METADATA, 250, 8, MF_ERR_CORRUPT, NULL },
        { "metadata at 2^64 - 1", AT_METADATA, UINT64_MAX, 8, MF_ERR_CORRUPT,
          NULL },
        { "no metadata", AT_METADATA_SIZE, 0, 4, MF_ERR_CORRUPT, NULL },
        { "a NUL of padding", AT_METADATA_SIZE, 8, 4, MF_ERR_CORRUPT, NULL },
        { "half the metadata", AT_METADATA_SIZE, 5, 4, MF_ERR_CORRUPT, NULL },
        { "no tensors", AT_COUNT, 0, 4, MF_OK, "APR-TRAILING " },
        /* Padding reads as a scalar without a name. */
        { "two tensors", AT_COUNT, 2, 4, MF_OK, "APR-NAME APR-INDEX-ORDER " },
        { "three tensors", AT_COUNT, 3, 4, MF_ERR_CORRUPT, NULL },
        { "the flag 'signed'", AT_FLAGS, ROW_MAJOR | 8, 2, MF_OK,
          "APR-FLAGS " },
        { "version 2.1", 5, 1, 1, MF_OK, "APR-VERSION " },
        { "the last reserved byte", 63, 1, 1, MF_OK, "APR-RESERVED " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_change(ROW_MAJOR, &rows[i]);
}

/* An index, and the metadata "{}" at `metadata`, wherever that is. */
static void metadata_at(size_t metadata)
{
    begin(ROW_MAJOR, 1, "{ }");
    put_entry(&(struct entry){ "a", 0, 1, { 1 }, 0, 4 });
    end(4);
    memcpy(image.at + metadata, "{}", 2);
    set(AT_METADATA, metadata, 8);
    set(AT_METADATA_SIZE, 2, 4);
    seal();
}

static void metadata_come_first(void **state)
{
    (void)state;
    metadata_at(126);
    expect_rules("right before the index", "APR-ALIGNMENT ");
    metadata_at(192);
    expect_rules("after the index", "APR-SECTIONS ");
    metadata_at(62);
    expect_rules("within the header",
                 "APR-RESERVED APR-ALIGNMENT APR-SECTIONS ");
}

static void what_may_follow_the_data(void **state)
{
    static const struct {
        size_t size; /* after a tensor of 4 bytes */
        const char *rules;
    } rows[] = {
        { 0, "" },
        { 4, "" },
        { 60, "" },
        { 64, "" },
        { 1, "APR-TRAILING " },
        { 59, "APR-TRAILING " },
        { 61, "APR-TRAILING " },
        { 65, "APR-TRAILING " },
        { 128, "APR-TRAILING " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(ROW_MAJOR, 1, "{}");
        put_entry(&(struct entry){ "a", 0, 1, { 1 }, 0, 4 });
        end(256);
        image.size -= 256 - 4 - rows[i].size;
        expect_rules("bytes after the data", rows[i].rules);
    }
}

/* Offsets in the header of a compressed file refer to the file it becomes,
 * which may lie past its own end. */
static void compression_is_checked_first(void **state)
{
    static const struct change rows[] = {
        { "plain", AT_DATA, 192, 8, MF_OK, "APR-FLAGS " },
        { "plain, and broken", AT_INDEX, 4096, 8, MF_ERR_CORRUPT, NULL },
        { "no '{'", 64, '<', 1, MF_ERR_UNSUPPORTED, NULL },
        { "metadata past the end", AT_METADATA, 4096, 8, MF_ERR_UNSUPPORTED,
          NULL },
        { "metadata at 2^64 - 1", AT_METADATA, UINT64_MAX, 8,
          MF_ERR_UNSUPPORTED, NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_change(ROW_MAJOR | LZ4, &rows[i]);
        check_change(ROW_MAJOR | ZSTD, &rows[i]);
        check_change(ROW_MAJOR | LZ4 | ZSTD, &rows[i]);
    }
    begin(ROW_MAJOR | ZSTD, 1 << 20, "(\xb5\x2f\xfd and so on");
    set(AT_INDEX, 1 << 20, 8);
    set(AT_DATA, 1 << 24, 8);
    seal();
    expect_refusal("all past the end", MF_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(the_size_settles_the_type),
        WITH_ENV(realizars_types_are_ggmls),
        WITH_ENV(names_and_their_order),
        WITH_ENV(an_index_longer_than_the_window),
        WITH_ENV(an_index_that_is_cut_short),
        WITH_ENV(sections_have_an_order),
        WITH_ENV(metadata_come_first),
        WITH_ENV(what_may_follow_the_data),
        WITH_ENV(compression_is_checked_first),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
