/* SPDX-License-Identifier: MIT
 *
 * values.c - GGUF's numbers, and metadata values as events
 */
#include "gguf/gguf.h"

size_t mf_gguf_number_size(uint32_t type)
{
    static const uint8_t sizes[] = {
        [MF_VALUE_U8] = 1,  [MF_VALUE_I8] = 1,   [MF_VALUE_U16] = 2,
        [MF_VALUE_I16] = 2, [MF_VALUE_U32] = 4,  [MF_VALUE_I32] = 4,
        [MF_VALUE_F32] = 4, [MF_VALUE_BOOL] = 1, [MF_VALUE_U64] = 8,
        [MF_VALUE_I64] = 8, [MF_VALUE_F64] = 8,
    };

    return type < sizeof(sizes) ? sizes[type] : 0;
}

static double f32_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static double f64_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

union mf_number mf_gguf_take_number(struct mf_reader *reader, uint32_t type,
                                    uint8_t *odd)
{
    union mf_number number = { 0 };

    *odd = 0;
    switch (type) {
    case MF_VALUE_U8:
        number.u64 = mf_take_u8(reader);
        break;
    case MF_VALUE_I8:
        number.i64 = (int8_t)mf_take_u8(reader);
        break;
    case MF_VALUE_U16:
        number.u64 = mf_take_u16(reader);
        break;
    case MF_VALUE_I16:
        number.i64 = (int16_t)mf_take_u16(reader);
        break;
    case MF_VALUE_U32:
        number.u64 = mf_take_u32(reader);
        break;
    case MF_VALUE_I32:
        number.i64 = (int32_t)mf_take_u32(reader);
        break;
    case MF_VALUE_F32:
        number.f64 = f32_of(mf_take_u32(reader));
        break;
    case MF_VALUE_BOOL:
        *odd = mf_take_u8(reader);
        number.boolean = *odd != 0;
        *odd = *odd > 1 ? *odd : 0;
        break;
    case MF_VALUE_U64:
    case MF_VALUE_I64:
        number.u64 = mf_take_u64(reader);
        break;
    default:
        number.f64 = f64_of(mf_take_u64(reader));
        break;
    }
    return number;
}

/* ---- events ---- */

/* Parsing has walked the value, so an invalid one now means that the file has
 * changed since. */
static enum mf_status changed(struct mf_values *values)
{
    return mf_fail(values->env, MF_ERR_IO, mf_reader_offset(&values->reader),
                   "the value has changed since the file was opened");
}

static enum mf_status begin_array(struct mf_values *values,
                                  struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;
    uint32_t of = mf_take_u32(reader);
    uint64_t count = mf_gguf_take_count(reader, values->version);

    if (mf_reader_check(reader, "an array") != MF_OK)
        return values->env->error.status;
    if (of > MF_VALUE_F64 || values->depth == MF_NESTING_MAX)
        return changed(values);
    values->level[values->depth++] =
        (struct mf_level){ .left = count, .of = (uint8_t)of };
    out->event = MF_EVENT_BEGIN;
    out->type = MF_VALUE_ARRAY;
    out->of = (enum mf_value_type)of;
    out->count = count;
    return MF_OK;
}

static enum mf_status next_value(struct mf_values *values,
                                 enum mf_value_type type, struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;
    uint8_t odd;

    if (type == MF_VALUE_ARRAY)
        return begin_array(values, out);
    out->event = MF_EVENT_ITEM;
    out->type = type;
    if (type == MF_VALUE_STRING) {
        /* The span of a string outside of arrays begins after its length. */
        values->text_event = MF_EVENT_ITEM;
        values->text_left = values->depth == 0
                                ? values->meta.span.size
                                : mf_gguf_take_count(reader, values->version);
        if (values->text_left > mf_reader_left(reader))
            return changed(values);
        return mf_values_text(values, out);
    }
    out->number = mf_gguf_take_number(reader, type, &odd);
    return mf_reader_check(reader, "a number");
}

enum mf_status mf_gguf_value_next(struct mf_values *values,
                                  struct mf_value *out)
{
    struct mf_level *level;

    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started) {
        values->started = true;
        return next_value(values, values->meta.type, out);
    }
    if (values->depth == 0) {
        values->done = true;
        return MF_OK; /* *out is initialized to DONE */
    }
    level = &values->level[values->depth - 1];
    if (level->left > 0) {
        level->left--;
        return next_value(values, (enum mf_value_type)level->of, out);
    }
    values->depth--;
    out->event = MF_EVENT_END;
    out->type = MF_VALUE_ARRAY;
    return MF_OK;
}
