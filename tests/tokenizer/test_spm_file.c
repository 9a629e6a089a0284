/* SPDX-License-Identifier: MIT
 *
 * test_spm_file.c - tokenizer.model: what is read of it, and what is refused
 *
 * Verdicts and values come from SentencePiece 0.2.3 for the same bytes,
 * except groups, which it skips.
 */
#include <math.h>

#include "lib/hf/tokenizer/spm_file.h"
#include "tests/tokenizer/proto_image.h"
#include "tests/with_env.h"

/* ---- reading the image ---- */

static struct mf_source source;
static struct mf_reader reader;

static enum mf_status read_image(struct mf_spm *spm, size_t window)
{
    const struct mf_span all = { 0, message.size };

    mf_clear_error(env);
    mf_source_open_memory("tokenizer.model", message.at, message.size, &source);
    assert_int_equal(mf_reader_init_span(&reader, env, &source, all, window),
                     MF_OK);
    return mf_spm_read(&reader, spm);
}

static void close_image(void)
{
    mf_reader_release(&reader);
    mf_source_close(&source);
}

/* The last piece; texts in *text. */
static struct mf_spm_piece last_piece(struct mf_str *text)
{
    struct mf_spm_piece piece, last = { 0 };
    struct mf_proto file;

    mf_spm_begin(&file, &reader);
    while (mf_spm_next(&file, &piece))
        last = piece;
    assert_int_equal(mf_env_error(env)->status, MF_OK);
    *text = (struct mf_str){ (const char *)message.at + last.text.offset,
                             (size_t)last.text.size };
    return last;
}

static void assert_last(const char *text, float score, unsigned type)
{
    struct mf_str found;
    struct mf_spm_piece piece = last_piece(&found);

    assert_int_equal(found.size, strlen(text));
    assert_memory_equal(found.at, text, found.size);
    assert_true(piece.score == score);
    assert_int_equal(piece.type, type);
}

/* ---- what is there ---- */

static void facts_and_pieces(void **state)
{
    static const uint8_t charsmap[] = { 4, 0, 0, 0, 'a', 'b', 'c', 'd', 'e' };
    struct mf_spm spm;

    (void)state;
    for (size_t window = MF_WINDOW_LEAST; window <= MF_WINDOW; window *= 4) {
        put_first_pieces();
        put_byte_pieces();
        put_trainer(2, true);
        put_normalizer(charsmap, sizeof(charsmap), false, false);
        assert_int_equal(read_image(&spm, window), MF_OK);
        assert_int_equal(spm.count, 262);
        assert_int_equal(spm.algorithm, MF_SPM_BPE);
        assert_true(spm.byte_fallback);
        assert_false(spm.add_prefix);
        assert_false(spm.remove_spaces);
        assert_int_equal(spm.charsmap.size, sizeof(charsmap));
        assert_memory_equal(message.at + spm.charsmap.offset, charsmap,
                            sizeof(charsmap));
        assert_last("<0xFF>", 0, MF_SPM_PIECE_BYTE);
        close_image();
    }
}

static void defaults(void **state)
{
    struct mf_spm spm;

    (void)state;
    put_first_pieces();
    assert_int_equal(read_image(&spm, MF_WINDOW), MF_OK);
    assert_int_equal(spm.algorithm, MF_SPM_UNIGRAM);
    assert_false(spm.byte_fallback);
    assert_true(spm.add_prefix);
    assert_true(spm.remove_spaces);
    assert_int_equal(spm.charsmap.size, 0);
    assert_last("ab", -3, MF_SPM_PIECE_NORMAL);
    close_image();
}

/* Whatever way a field is written. */
static void odd_pieces(void **state)
{
    static const struct row {
        const char *bytes;
        size_t size;
        const char *text;
        float score;
        unsigned type;
    } rows[] = {
#define ROW(bytes, ...) { bytes, sizeof(bytes) - 1, __VA_ARGS__ }
        ROW("\x0a\x03\x0a\x01q", "q", 0, 1),
        ROW("\x0a\x05\x0a\x01q\x18\x07", "q", 0, 1), /* type 7 */
        ROW("\x0a\x05\x0a\x01q\x18\x00", "q", 0, 1), /* type 0 */
        ROW("\x0a\x05\x0a\x01q\x18\x04", "q", 0, 4),
        ROW("\x0a\x05\x0a\x01q\x18\x05", "q", 0, 5),
        /* 2^32 + 3, of which 32 bits count */
        ROW("\x0a\x09\x0a\x01q\x18\x83\x80\x80\x80\x10", "q", 0, 3),
        /* a number for the text; then another text */
        ROW("\x0a\x05\x08\x05\x0a\x01q", "q", 0, 1),
        ROW("\x0a\x06\x0a\x01q\x0a\x01r", "r", 0, 1),
        /* the score as eight bytes, which no score has; as bytes */
        ROW("\x0a\x0c\x0a\x01q\x11\0\0\0\0\0\0\xf0\x3f", "q", 0, 1),
        ROW("\x0a\x07\x0a\x01q\x12\x02xx", "q", 0, 1),
        /* the first score, the second counts */
        ROW("\x0a\x0d\x0a\x01q\x15\0\0\x80\x3f\x15\0\0\0\x40", "q", 2, 1),
        /* unknown fields, in the piece and after it */
        ROW("\x0a\x08\x0a\x01q\xc2\x0c\x02zz\xea\x04\x01z", "q", 0, 1),
        /* a tag and a length of more bytes than they need */
        ROW("\x8a\x80\x80\x80\x00\x83\x00\x0a\x01q", "q", 0, 1),
        /* an unknown number of ten bytes, whose last has too many bits */
        ROW("\x0a\x03\x0a\x01q\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            "q", 0, 1),
#undef ROW
    };
    struct mf_spm spm;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_first_pieces();
        put(rows[i].bytes, rows[i].size);
        if (read_image(&spm, MF_WINDOW) != MF_OK)
            fail_msg("row %zu: %s", i, mf_env_error(env)->message);
        assert_int_equal(spm.count, 7);
        assert_last(rows[i].text, rows[i].score, rows[i].type);
        close_image();
    }
}

static void messages_are_merged(void **state)
{
    struct mf_spm spm;
    size_t at;

    (void)state;
    put_first_pieces();
    put_trainer(2, false);
    at = begin_message(2);
    put_varint_field(35, 1);
    end_message(at);
    put_byte_pieces();
    assert_int_equal(read_image(&spm, MF_WINDOW), MF_OK);
    assert_int_equal(spm.algorithm, MF_SPM_BPE);
    assert_true(spm.byte_fallback);
    close_image();
}

/* A text that is longer than the window. */
static void long_piece(void **state)
{
    static char text[3 * MF_WINDOW_LEAST + 1];
    struct mf_spm spm;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    put_first_pieces();
    put_piece(text, -7, 0);
    text[0] = 'y';
    put_piece(text, -8, 0);
    assert_int_equal(read_image(&spm, MF_WINDOW_LEAST), MF_OK);
    assert_last(text, -8, MF_SPM_PIECE_NORMAL);
    close_image();
    put_piece(text, -9, 0);
    assert_int_equal(read_image(&spm, MF_WINDOW_LEAST), MF_ERR_CORRUPT);
    close_image();
}

/* ---- what is refused ---- */

static void assert_refused(const char *what)
{
    struct mf_spm spm;
    const struct mf_error *error;

    assert_int_not_equal(read_image(&spm, MF_WINDOW), MF_OK);
    error = mf_env_error(env);
    if (!strstr(error->message, what))
        fail_msg("'%s' is not in '%s'", what, error->message);
    assert_true(error->offset == MF_NO_OFFSET || error->offset <= message.size);
    close_image();
}

static void bad_pieces(void **state)
{
    (void)state;
    put_first_pieces();
    put_piece("a", -9, 0);
    assert_refused("piece 6 has the text of an earlier one");
    put_first_pieces();
    put_piece("<s>", -9, 1);
    assert_refused("piece 6 has the text of an earlier one");
    put_first_pieces();
    put_piece("", -9, 0);
    assert_refused("piece 6 is empty");
    put_first_pieces();
    put_piece("\xff\xfe", -9, 0);
    assert_refused("piece 6 is not UTF-8");
    put_first_pieces();
    put_piece("q", (float)INFINITY, 0);
    assert_refused("NaN or infinite");
    put_first_pieces();
    put_piece("q", (float)NAN, 0);
    assert_refused("NaN or infinite");
    put_first_pieces();
    put_piece("<u>", 0, 2);
    assert_refused("2 pieces of type 'unknown'");
    message.size = 0;
    put_piece("a", 0, 0);
    assert_refused("0 pieces of type 'unknown'");
    message.size = 0;
    assert_refused("0 pieces of type 'unknown'");
}

static void bad_bytes(void **state)
{
    (void)state;
    put_first_pieces();
    put_piece("<0x41>", 0, 6);
    assert_refused("'byte_fallback' is false");
    put_trainer(2, true);
    assert_refused("no piece is byte 0x00");
    put_first_pieces();
    put_piece("<0x0a>", 0, 6);
    put_trainer(2, true);
    assert_refused("is not the name of a byte");
    put_first_pieces();
    put_piece("byte", 0, 6);
    put_trainer(2, true);
    assert_refused("is not the name of a byte");
}

static void bad_charsmap(void **state)
{
    (void)state;
    put_first_pieces();
    put_normalizer("abcd", 4, true, true);
    assert_refused("'precompiled_charsmap' is cut off");
    put_first_pieces();
    put_normalizer("\2\0\0\0ab", 6, true, true);
    assert_refused("'precompiled_charsmap' is cut off");
}

static void bad_wire(void **state)
{
    static const struct row {
        const char *bytes, *message;
        size_t size;
    } rows[] = {
#define ROW(bytes, message) { bytes, message, sizeof(bytes) - 1 }
        ROW("\x0a\x80\x80\x80\x80\x04q", "claims 1073741824 bytes; 1 are left"),
        ROW("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01q", "claims"),
        ROW("\x0a\x03\x0a\x04q", "claims 4 bytes; 1 are left"),
        ROW("\x0a", "ends inside a field"),
        ROW("\x0a\x80", "ends inside a field"),
        ROW("\x09\0\0\0", "ends inside a field"),
        ROW("\x0d\0\0", "ends inside a field"),
        ROW("\x4c", "unknown kind of field"), /* the end of a group */
        ROW("\x4b\x08\x03\x4c", "unknown kind of field"),
        ROW("\x4e\x01", "unknown kind of field"),
        ROW("\x4f\x01", "unknown kind of field"),
        ROW("\x00\x01", "number of a field"),
        ROW("\x88\x80\x80\x80\x80\x01\x01", "number of a field"),
        ROW("\x48\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "64 bits"),
#undef ROW
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_first_pieces();
        put(rows[i].bytes, rows[i].size);
        assert_refused(rows[i].message);
    }
}

/* ---- every prefix, every byte ---- */

static void every_prefix_and_flip(void **state)
{
    size_t size, refused = 0;
    struct mf_spm spm;
    uint8_t byte;

    (void)state;
    put_first_pieces();
    put_trainer(1, false);
    put_normalizer("\1\0\0\0abc", 7, true, true);
    size = message.size;
    for (message.size = 0; message.size < size; message.size++) {
        refused += read_image(&spm, MF_WINDOW) != MF_OK;
        close_image();
    }
    assert_true(refused > size / 2);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            byte = message.at[i];
            message.at[i] ^= (uint8_t)(1 << bit);
            if (read_image(&spm, MF_WINDOW_LEAST) == MF_OK)
                assert_true(spm.count <= size);
            close_image();
            message.at[i] = byte;
        }
}

/* Seven bytes each, six million of them: refused before any memory is
 * taken for them. */
static void too_many(void **state)
{
    struct mf_heap_stats before, after;
    uint8_t *pieces = malloc(7 * (size_t)6000000);
    struct mf_spm spm;

    (void)state;
    assert_non_null(pieces);
    for (uint32_t i = 0; i < 6000000; i++) {
        memcpy(pieces + 7 * (size_t)i, "\x0a\x05\x0a\x03", 4);
        set_number(pieces + 7 * (size_t)i + 4, i, 3);
    }
    mf_source_open_memory("tokenizer.model", pieces, 7 * (size_t)6000000,
                          &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    mf_env_heap(env, &before);
    assert_int_equal(mf_spm_read(&reader, &spm), MF_ERR_LIMIT);
    mf_env_heap(env, &after);
    assert_int_equal(after.peak, before.peak);
    close_image();
    free(pieces);
}

/* Pieces without a text: the first of them is refused where their number is
 * not. */
static void as_many_as_are_supported(void **state)
{
    const size_t size = 2 * (size_t)(MF_SPM_MAX + 1);
    uint8_t *bytes = malloc(size);
    struct mf_spm spm;

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = i % 2 == 0 ? 0x0a : 0;
    for (size_t less = 0; less < 2; less++) {
        const struct mf_span some = { 0, size - 2 * less };

        mf_clear_error(env);
        mf_source_open_memory("tokenizer.model", bytes, size, &source);
        assert_int_equal(
            mf_reader_init_span(&reader, env, &source, some, MF_WINDOW), MF_OK);
        assert_int_equal(mf_spm_read(&reader, &spm),
                         less ? MF_ERR_CORRUPT : MF_ERR_LIMIT);
        close_image();
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(facts_and_pieces), WITH_ENV(defaults),
        WITH_ENV(odd_pieces),       WITH_ENV(messages_are_merged),
        WITH_ENV(long_piece),       WITH_ENV(bad_pieces),
        WITH_ENV(bad_bytes),        WITH_ENV(bad_charsmap),
        WITH_ENV(bad_wire),         WITH_ENV(every_prefix_and_flip),
        WITH_ENV(too_many),         WITH_ENV(as_many_as_are_supported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
