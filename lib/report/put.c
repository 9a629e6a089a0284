/* SPDX-License-Identifier: MIT
 *
 * put.c - members of the document
 */
#include "lib/report/put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/model/model.h"

/* Integers up to here are doubles, in which readers of JSON have them. */
#define EXACT ((uint64_t)1 << 53)

/* Bytes of a character of UTF-8. */
#define CHARACTER_MAX 4

struct mf_env *mf_report_env(const struct mf_model *model)
{
    return model->env;
}

bool mf_report_has_weights(const struct mf_model *model)
{
    return model->info.has_tensors && !mf_model_is_imatrix(model) &&
           !mf_model_table(model, &(struct mf_table_info){ 0 });
}

void mf_report_number(struct mf_json_out *json, uint64_t number)
{
    char digits[24];
    int size;

    if (number <= EXACT) {
        mf_json_u64(json, number);
        return;
    }
    size = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    mf_json_string(json, digits, (size_t)size);
}

void mf_report_signed(struct mf_json_out *json, int64_t number)
{
    char digits[24];
    int size;

    if (number >= -(int64_t)EXACT) {
        if (number < 0)
            mf_json_i64(json, number);
        else
            mf_report_number(json, (uint64_t)number);
        return;
    }
    size = snprintf(digits, sizeof(digits), "%" PRId64, number);
    mf_json_string(json, digits, (size_t)size);
}

void mf_put_number(struct mf_json_out *json, const char *key, uint64_t number)
{
    mf_json_key(json, key);
    mf_report_number(json, number);
}

void mf_put_bool(struct mf_json_out *json, const char *key, bool value)
{
    mf_json_key(json, key);
    mf_json_bool(json, value);
}

void mf_put_string(struct mf_json_out *json, const char *key, const char *text)
{
    mf_put_text(json, key, (struct mf_str){ text, strlen(text) });
}

void mf_put_text(struct mf_json_out *json, const char *key, struct mf_str text)
{
    mf_json_key(json, key);
    mf_json_string(json, text.at, text.size);
}

/* Digits of a JSON source: more than a double keeps stay text. */
static void digits_put(struct mf_json_out *json, struct mf_str digits)
{
    if (digits.size <= 15)
        mf_json_digits(json, digits.at, digits.size);
    else
        mf_json_string(json, digits.at, digits.size);
}

void mf_report_scalar(struct mf_json_out *json, const struct mf_value *value)
{
    switch (value->type) {
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        mf_report_number(json, value->number.u64);
        break;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        mf_report_signed(json, value->number.i64);
        break;
    case MF_VALUE_F32:
        mf_json_f32(json, (float)value->number.f64);
        break;
    case MF_VALUE_F64:
        if (value->text.size > 0)
            digits_put(json, value->text);
        else
            mf_json_f64(json, value->number.f64);
        break;
    case MF_VALUE_BOOL:
        mf_json_bool(json, value->number.boolean);
        break;
    default:
        mf_json_null(json);
        break;
    }
}

struct mf_str mf_report_front(struct mf_str text, size_t room)
{
    size_t back = 0;

    if (text.size <= room)
        return text;
    while (back < room && back < CHARACTER_MAX - 1 &&
           ((unsigned char)text.at[room - back] & 0xc0) == 0x80)
        back++;
    return (struct mf_str){ text.at, room - back };
}
