/* SPDX-License-Identifier: MIT
 *
 * imatrix.c - the row of an old importance matrix: detection, type, values
 */
#include "imatrix/imatrix.h"

/* ---- detection ---- */

/* More than ten times what the largest models have. */
#define ENTRIES_MAX 0xffffff

/* There is no magic.  What begins with a small number, the length of a name and
 * a name without control characters is most likely such a file: of all foreign
 * formats that we know none does. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    uint32_t count, size;

    (void)out;
    if (head->size < 4 + IMATRIX_ENTRY_MIN)
        return false;
    count = mf_little_32(head->at);
    size = mf_little_32(head->at + 4);
    if (count == 0 || count > ENTRIES_MAX || size == 0 || size > MF_NAME_MAX)
        return false;
    for (size_t at = 8; at < head->size && at - 8 < size; at++)
        if (head->at[at] < ' ' || head->at[at] == 0x7f)
            return false;
    return true;
}

static uint32_t type_id(enum mf_type type)
{
    return type == MF_TYPE_F32 ? 0 : MF_NO_TYPE_ID;
}

/* ---- values ---- */

/* The calls of the next entry. */
static enum mf_status next_calls(struct mf_reader *reader, struct mf_value *out)
{
    mf_skip(reader, mf_take_u32(reader));
    out->number.i64 = (int32_t)mf_take_u32(reader);
    mf_skip(reader, (uint64_t)mf_take_u32(reader) * sizeof(float));
    return mf_reader_check(reader, "an entry");
}

static enum mf_status next_item(struct mf_values *values,
                                enum mf_value_type type, struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;

    out->event = MF_EVENT_ITEM;
    out->type = type;
    if (type == MF_VALUE_STRING) {
        values->text_event = MF_EVENT_ITEM;
        values->text_left = mf_take_u32(reader);
        if (values->text_left > mf_reader_left(reader))
            return mf_fail(values->env, MF_ERR_IO, mf_reader_offset(reader),
                           "the value has changed since the file was opened");
        return mf_values_text(values, out);
    }
    if (values->depth > 0)
        return next_calls(reader, out);
    out->number.i64 = (int32_t)mf_take_u32(reader);
    return mf_reader_check(reader, "a number");
}

enum mf_status mf_imatrix_value_next(struct mf_values *values,
                                     struct mf_value *out)
{
    struct mf_level *array = &values->level[0];

    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started) {
        values->started = true;
        if (values->meta.type != MF_VALUE_ARRAY)
            return next_item(values, values->meta.type, out);
        values->depth = 1;
        array->left = values->meta.count;
        out->event = MF_EVENT_BEGIN;
        out->type = MF_VALUE_ARRAY;
        out->of = values->meta.of;
        out->count = array->left;
    } else if (values->depth == 0) {
        values->done = true;
    } else if (array->left > 0) {
        array->left--;
        return next_item(values, values->meta.of, out);
    } else {
        values->depth = 0;
        out->event = MF_EVENT_END;
        out->type = MF_VALUE_ARRAY;
    }
    return MF_OK;
}

static const struct mf_fact_row facts[] = {
    { 0, NULL },
};

const struct mf_format mf_format_imatrix = {
    .name = "imatrix",
    .variant = "",
    .suffix = ".dat",
    .description = "importance matrices of llama-imatrix before 2025",
    .layout = MF_LAYOUT_INLINE,
    .values = MF_VALUES_TYPED,
    .fastest_first = true,
    .accessory = true,
    .readers = MF_READER_LLAMA,
    .probe = probe,
    .parse = mf_imatrix_parse,
    .value_next = mf_imatrix_value_next,
    .type_id = type_id,
    .facts = facts,
};
