/* SPDX-License-Identifier: MIT
 *
 * proto_image.h - a message of Protocol Buffers that a test puts together in
 * memory, above all a tokenizer.model
 */
#ifndef TESTS_PROTO_IMAGE_H
#define TESTS_PROTO_IMAGE_H

#include "tests/support.h"

static struct message {
    size_t size;
    uint8_t at[4 * 1024 * 1024];
} message;

static inline void put(const void *bytes, size_t size)
{
    assert_true(size <= sizeof(message.at) - message.size);
    memcpy(message.at + message.size, bytes, size);
    message.size += size;
}

static inline void put_varint(uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put(&(uint8_t){ (uint8_t)(value | 0x80) }, 1);
    put(&(uint8_t){ (uint8_t)value }, 1);
}

static inline void put_varint_field(unsigned number, uint64_t value)
{
    put_varint(number << 3);
    put_varint(value);
}

static inline void put_bytes_field(unsigned number, const void *bytes,
                                   size_t size)
{
    put_varint(number << 3 | 2);
    put_varint(size);
    put(bytes, size);
}

static inline void put_float_field(unsigned number, float value)
{
    put_varint(number << 3 | 5);
    in_file_order(&value, 1, sizeof(value));
    put(&value, sizeof(value));
}

/* A message within begins; it ends at its end. */
static inline size_t begin_message(unsigned number)
{
    put_varint(number << 3 | 2);
    put("\0\0\0", 3); /* three bytes of a length */
    return message.size;
}

static inline void end_message(size_t at)
{
    size_t size = message.size - at;

    message.at[at - 3] = (uint8_t)(size | 0x80);
    message.at[at - 2] = (uint8_t)(size >> 7 | 0x80);
    message.at[at - 1] = (uint8_t)(size >> 14 & 0x7f);
}

static inline void put_piece_of(const char *text, size_t size, float score,
                                unsigned type)
{
    size_t at = begin_message(1);

    put_bytes_field(1, text, size);
    put_float_field(2, score);
    if (type != 0)
        put_varint_field(3, type);
    end_message(at);
}

static inline void put_piece(const char *text, float score, unsigned type)
{
    put_piece_of(text, strlen(text), score, type);
}

/* model_type and byte_fallback. */
static inline void put_trainer(unsigned algorithm, bool bytes)
{
    size_t at = begin_message(2);

    put_varint_field(3, algorithm);
    put_varint_field(35, bytes);
    end_message(at);
}

static inline void put_normalizer(const void *charsmap, size_t size,
                                  bool add_prefix, bool remove_spaces)
{
    size_t at = begin_message(3);

    put_bytes_field(2, charsmap, size);
    put_varint_field(3, add_prefix);
    put_varint_field(4, remove_spaces);
    end_message(at);
}

/* <unk>, <s>, </s>, a, b, ab. */
static inline void put_first_pieces(void)
{
    message.size = 0;
    put_piece("<unk>", 0, 2);
    put_piece("<s>", 0, 3);
    put_piece("</s>", 0, 3);
    put_piece("a", -1, 0);
    put_piece("b", -2.5, 1);
    put_piece("ab", -3, 0);
}

static inline void put_byte_pieces(void)
{
    char name[8];

    for (unsigned byte = 0; byte < 256; byte++) {
        snprintf(name, sizeof(name), "<0x%02X>", byte);
        put_piece(name, 0, 6);
    }
}

#endif
