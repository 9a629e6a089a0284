/* SPDX-License-Identifier: MIT
 *
 * array.c - an array of metadata as a whole, in memory
 *
 * The events of the value are read: once, or for texts twice, since only then
 * it is known how long they are together.
 */
#include <math.h>
#include <string.h>

#include "lib/model/model.h"

/* All in one block. */
struct block {
    struct mf_array array; /* first: what the program has */
    struct mf_env *env;
    size_t size;
    char *text; /* where the next text goes */
    size_t text_left;
    _Alignas(max_align_t) char elements[];
};

static size_t element_size(enum mf_value_type of)
{
    switch (of) {
    case MF_VALUE_U8:
    case MF_VALUE_I8:
        return sizeof(uint8_t);
    case MF_VALUE_BOOL:
        return sizeof(bool);
    case MF_VALUE_U16:
    case MF_VALUE_I16:
        return sizeof(uint16_t);
    case MF_VALUE_U32:
    case MF_VALUE_I32:
    case MF_VALUE_F32:
        return sizeof(uint32_t);
    case MF_VALUE_U64:
    case MF_VALUE_I64:
    case MF_VALUE_F64:
        return sizeof(uint64_t);
    case MF_VALUE_STRING:
        return sizeof(struct mf_str);
    default:
        return 0;
    }
}

/* ---- numbers ---- */

/* Of 2^53 and above not every integer is a double. */
#define EXACT ((uint64_t)1 << 53)

/* Digits of JSON that the double next to them does not have: an integer that
 * fits neither type of 64 bits, or a number beyond all doubles. */
static bool is_rounded(const struct mf_value *value)
{
    struct mf_str digits = value->text;
    bool integer = digits.size > 0;

    for (size_t i = 0; i < digits.size; i++)
        integer = integer && !strchr(".eEnN", digits.at[i]);
    return integer || (digits.size > 0 && isinf(value->number.f64) &&
                       !memchr(digits.at, 'n', digits.size));
}

/* A JSON number as a double, which it is part of an array of. */
static bool to_double(const struct mf_value *value, double *out)
{
    if (value->type == MF_VALUE_F64 && is_rounded(value))
        return false;
    if (value->type == MF_VALUE_F64)
        *out = value->number.f64;
    else if (value->type == MF_VALUE_I64)
        *out = (double)value->number.i64;
    else
        *out = (double)value->number.u64;
    return value->type == MF_VALUE_F64 ||
           (value->type == MF_VALUE_U64 && value->number.u64 <= EXACT) ||
           (value->type == MF_VALUE_I64 &&
            value->number.i64 >= -(int64_t)EXACT &&
            value->number.i64 <= (int64_t)EXACT);
}

static void put_bits(uint64_t bits, size_t size, void *at)
{
    uint8_t byte = (uint8_t)bits;
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;

    memcpy(at,
           size == sizeof(byte)   ? (void *)&byte
           : size == sizeof(half) ? (void *)&half
           : size == sizeof(word) ? (void *)&word
                                  : (void *)&bits,
           size);
}

static bool is_integer(enum mf_value_type type)
{
    return type == MF_VALUE_U64 || type == MF_VALUE_I64;
}

/* Puts the number into its place; false where the array's type does not hold
 * it. */
static bool put_number(enum mf_value_type of, const struct mf_value *value,
                       void *at)
{
    union mf_number number = value->number;
    float single = (float)number.f64;

    if (of == MF_VALUE_F64 && !to_double(value, &number.f64))
        return false;
    if (of == MF_VALUE_I64 || of == MF_VALUE_U64) {
        if (!is_integer(value->type) ||
            (value->type != of && number.u64 > INT64_MAX))
            return false;
    } else if (of != MF_VALUE_F64 && value->type != of) {
        return false;
    }
    if (of == MF_VALUE_F32)
        memcpy(at, &single, sizeof(single));
    else if (of == MF_VALUE_BOOL)
        memcpy(at, &number.boolean, sizeof(bool));
    else
        put_bits(number.u64, element_size(of), at);
    return true;
}

/* ---- texts ---- */

/* Adds a piece of the element's text; false where there is no room, as the
 * value has changed. */
static bool put_text(struct block *block, const struct mf_value *value,
                     struct mf_str *element)
{
    size_t end = value->more ? 0 : 1;

    if (!element->at)
        element->at = block->text;
    if (value->text.size > block->text_left ||
        end > block->text_left - value->text.size)
        return false;
    memcpy(block->text, value->text.at, value->text.size);
    block->text += value->text.size;
    element->size += value->text.size;
    block->text_left -= value->text.size;
    if (end > 0)
        *block->text++ = 0;
    block->text_left -= end;
    return true;
}

/* ---- reading ---- */

static enum mf_status not_that(struct mf_env *env, const struct mf_meta *meta)
{
    if (meta->type != MF_VALUE_ARRAY)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the value of '%s' is not an array: its type is %s",
                       mf_quote(meta->key).text,
                       mf_value_type_name(meta->type));
    return mf_fail(env, MF_ERR_UNSUPPORTED, meta->span.offset,
                   "the elements of '%s' are %s, which have no place in an "
                   "array of one type",
                   mf_quote(meta->key).text, mf_value_type_name(meta->of));
}

static enum mf_status not_exact(struct mf_env *env, const struct mf_meta *meta)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, meta->span.offset,
                   "the elements of '%s' have no common type that holds all of "
                   "them exactly",
                   mf_quote(meta->key).text);
}

/* The next element, or a piece of it; false at the end, or after an error. */
static bool next_item(struct mf_values *values, struct mf_value *out)
{
    do {
        if (mf_values_next(values, out) != MF_OK)
            return false;
    } while (out->event == MF_EVENT_BEGIN);
    return out->event == MF_EVENT_ITEM;
}

static enum mf_status count_text(struct mf_model *model, size_t index,
                                 uint64_t *out)
{
    struct mf_values *values;
    struct mf_value value;

    *out = 0;
    if (mf_values_open(model, index, &values) != MF_OK)
        return model->env->error.status;
    while (next_item(values, &value))
        *out += value.text.size + !value.more;
    mf_values_close(values);
    return model->env->error.status;
}

static struct block *block_new(struct mf_env *env, const struct mf_meta *meta,
                               uint64_t text)
{
    uint64_t elements, size;
    struct block *block;

    if (!mf_mul(meta->count, element_size(meta->of), &elements) ||
        !mf_add(elements, text, &size) ||
        !mf_add(size, sizeof(*block), &size) || size > SIZE_MAX) {
        mf_fail(env, MF_ERR_LIMIT, meta->span.offset,
                "'%s' has more bytes than fit the address space",
                mf_quote(meta->key).text);
        return NULL;
    }
    block = mf_alloc(env, (size_t)size);
    if (!block)
        return NULL;
    *block = (struct block){ .array = { .of = meta->of,
                                        .count = (size_t)meta->count,
                                        .elements = block->elements },
                             .env = env,
                             .size = (size_t)size,
                             .text = block->elements + elements,
                             .text_left = (size_t)text };
    if (meta->of == MF_VALUE_STRING)
        memset(block->elements, 0, (size_t)elements);
    return block;
}

/* Puts all elements into the block: false where they do not fit, which may also
 * be that the file has changed. */
static bool fill(struct block *block, struct mf_values *values)
{
    enum mf_value_type of = block->array.of;
    size_t size = element_size(of), count = 0;
    struct mf_value value;

    while (next_item(values, &value)) {
        char *element = block->elements + count * size;

        if (count == block->array.count ||
            !(of == MF_VALUE_STRING
                  ? value.type == of && put_text(block, &value, (void *)element)
                  : put_number(of, &value, element)))
            return false;
        count += !value.more;
    }
    return count == block->array.count;
}

/* The array's elements; an array without any has no type to ask for. */
static bool fits(const struct mf_meta *meta)
{
    return meta->type == MF_VALUE_ARRAY &&
           (meta->count == 0 || element_size(meta->of) > 0);
}

enum mf_status mf_values_read(struct mf_model *model, size_t index,
                              const struct mf_array **out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    struct mf_env *env = model->env;
    struct mf_values *values;
    struct block *block;
    struct mf_meta meta;
    uint64_t text = 0;

    if (mf_values_open(model, index, &values) != MF_OK)
        return env->error.status;
    meta = values->meta;
    if (!fits(&meta))
        not_that(env, &meta);
    else if (meta.of == MF_VALUE_STRING)
        count_text(model, index, &text);
    block = env->error.status == MF_OK ? block_new(env, &meta, text) : NULL;
    if (block && !fill(block, values) && env->error.status == MF_OK)
        not_exact(env, &meta);
    mf_values_close(values);
    if (env->error.status != MF_OK) {
        mf_release(env, block, block ? block->size : 0);
        return env->error.status;
    }
    mf_env_hold(env);
    *out = &block->array;
    return MF_OK;
}

void mf_array_free(const struct mf_array *array)
{
    struct block *block = (void *)(uintptr_t)array;
    struct mf_env *env = block ? block->env : NULL;

    if (!block)
        return;
    mf_release(env, block, block->size);
    mf_env_leave(env);
}
