/* SPDX-License-Identifier: MIT
 *
 * types.c - block sizes of tensor types
 */
#include "lib/model/types.h"

#include "lib/model/format.h"

const struct mf_type_row mf_types[MF_TYPE_COUNT] = {
#define TYPE(NAME, name, block, bytes) { name, block, bytes },
#include "lib/model/types.def"
#undef TYPE
};

/* Sizes stay below 2^63, so that a size can always be an off_t. */
#define SIZE_LIMIT ((uint64_t)INT64_MAX)

bool mf_elements(const uint64_t *dim, uint32_t rank, uint64_t *out)
{
    uint64_t product = 1;
    bool fits = true;

    /* A zero makes the whole empty, wherever it is: [2^63, 2^63, 0] and
     * [0, 2^63, 2^63] get the same answer. */
    for (uint32_t i = 0; i < rank; i++)
        if (dim[i] == 0) {
            *out = 0;
            return true;
        }
    for (uint32_t i = 0; i < rank && fits; i++)
        fits = mf_mul(product, dim[i], &product) && product <= SIZE_LIMIT;
    if (fits)
        *out = product;
    return fits;
}

bool mf_type_size(enum mf_type type, uint64_t elements, uint64_t *out)
{
    uint64_t size, rest = elements % mf_types[type].block;

    if ((rest != 0 && !mf_type_flows(type)) ||
        !mf_mul(elements / mf_types[type].block + (rest != 0),
                mf_types[type].bytes, &size) ||
        !mf_add(size, elements > 0 ? mf_type_head(type) : 0, &size) ||
        size > SIZE_LIMIT)
        return false;
    *out = size;
    return true;
}

const char *mf_type_torch(enum mf_type type)
{
    return type == MF_TYPE_F32    ? "float32"
           : type == MF_TYPE_F16  ? "float16"
           : type == MF_TYPE_BF16 ? "bfloat16"
                                  : NULL;
}

bool mf_type_is_signed(enum mf_type type)
{
    return type == MF_TYPE_I8 || type == MF_TYPE_I16 || type == MF_TYPE_I32 ||
           type == MF_TYPE_I64;
}

bool mf_type_is_integer(enum mf_type type)
{
    return mf_type_is_signed(type) || type == MF_TYPE_U8 ||
           type == MF_TYPE_U16 || type == MF_TYPE_U32 || type == MF_TYPE_U64 ||
           type == MF_TYPE_BOOL;
}

static uint64_t bits_at(const uint8_t *bytes, size_t size)
{
    switch (size) {
    case 1:
        return *bytes;
    case 2:
        return mf_little_16(bytes);
    case 4:
        return mf_little_32(bytes);
    default:
        return mf_little_64(bytes);
    }
}

uint64_t mf_integer_at(enum mf_type type, const uint8_t *bytes)
{
    size_t size = mf_types[type].bytes;
    uint64_t out = bits_at(bytes, size), sign = (uint64_t)1 << (8 * size - 1);

    if (type == MF_TYPE_BOOL)
        return out != 0;
    return mf_type_is_signed(type) ? (out ^ sign) - sign : out;
}
