/* SPDX-License-Identifier: MIT
 *
 * turn.c - numbers of one type as numbers of another
 */
#include <string.h>

#include "lib/read/read.h"

size_t mf_read_size(enum mf_read_as as)
{
    return as == MF_READ_F32 ? sizeof(float) : sizeof(double);
}

/* ---- bools and integers ---- */

static bool bools_to_floats(const uint8_t *bytes, enum mf_type from, void *out,
                            size_t count, size_t *bad)
{
    float *numbers = out;

    (void)from, (void)bad;
    for (size_t i = 0; i < count; i++)
        numbers[i] = bytes[i] != 0 ? 1.0f : 0.0f;
    return true;
}

static int64_t signed_of(uint64_t bits)
{
    int64_t number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static bool integers_to_doubles(const uint8_t *bytes, enum mf_type from,
                                void *out, size_t count, size_t *bad)
{
    size_t width = mf_types[from].bytes;
    bool is_signed = mf_type_is_signed(from);
    double *numbers = out;

    (void)bad;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = mf_integer_at(from, bytes + i * width);

        numbers[i] = is_signed ? (double)signed_of(bits) : (double)bits;
    }
    return true;
}

static bool integers_copied(const uint8_t *bytes, enum mf_type from, void *out,
                            size_t count, size_t *bad)
{
    size_t width = mf_types[from].bytes;
    bool is_signed = mf_type_is_signed(from);
    int64_t *numbers = out;

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = mf_integer_at(from, bytes + i * width);

        if (!is_signed && bits > INT64_MAX) {
            *bad = i;
            return false;
        }
        numbers[i] = signed_of(bits);
    }
    return true;
}

mf_turn *mf_turn_of(enum mf_type from, enum mf_read_as as)
{
    if (from == MF_TYPE_BOOL && as == MF_READ_F32)
        return bools_to_floats;
    if (!mf_type_is_integer(from) || as == MF_READ_F32)
        return NULL;
    return as == MF_READ_F64 ? integers_to_doubles : integers_copied;
}

void mf_turn_floats(double *out, size_t count)
{
    const char *floats = (const char *)(out + count) - count * sizeof(float);

    /* Each float is read before its double takes its place. */
    for (size_t i = 0; i < count; i++) {
        float number;

        memcpy(&number, floats + i * sizeof(number), sizeof(number));
        out[i] = (double)number;
    }
}
