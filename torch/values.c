/* SPDX-License-Identifier: MIT
 *
 * values.c - a metadata value that is read when it is wanted
 *
 * Its span begins at the opcode of a long text, or of the first number of a
 * list.  Anything that is kept in the index is returned from there.
 */
#include "torch/torch.h"

static enum mf_status changed(struct mf_values *values)
{
    return mf_fail(values->env, MF_ERR_IO, mf_reader_offset(&values->reader),
                   "the value has changed since the file was opened");
}

/* A number's opcode, or one that is between two of them. */
static enum mf_status take_number(struct mf_values *values,
                                  struct mf_value *out)
{
    struct pickle_step step = { 0 };
    struct pickle_lines *lines =
        mf_alloc(values->env, sizeof(struct pickle_lines));
    enum mf_status status = values->env->error.status;

    if (lines)
        do
            status = mf_pickle_step(&values->reader, lines, &step);
        while (status == MF_OK && (step.opcode == PICKLE_OP_APPENDS ||
                                   step.opcode == PICKLE_OP_MARK));
    if (status == MF_OK && !mf_pickle_number(&step, out))
        status = changed(values);
    mf_release(values->env, lines, sizeof(*lines));
    out->event = MF_EVENT_ITEM;
    return status;
}

static enum mf_status begin(struct mf_values *values, struct mf_value *out)
{
    const struct mf_meta *meta = &values->meta;

    values->started = true;
    if (meta->type == MF_VALUE_ARRAY) {
        values->level[values->depth++] =
            (struct mf_level){ .left = meta->count };
        out->event = MF_EVENT_BEGIN;
        out->type = MF_VALUE_ARRAY;
        out->of = meta->of;
        out->count = meta->count;
        return MF_OK;
    }
    out->event = MF_EVENT_ITEM;
    out->type = meta->type;
    out->number = meta->number;
    out->text = meta->text;
    if (meta->type != MF_VALUE_STRING || meta->text.at)
        return MF_OK;
    if (meta->count > mf_reader_left(&values->reader))
        return changed(values);
    mf_skip(&values->reader, mf_reader_left(&values->reader) - meta->count);
    values->text_event = MF_EVENT_ITEM;
    values->text_left = meta->count;
    return mf_values_text(values, out);
}

enum mf_status mf_torch_value_next(struct mf_values *values,
                                   struct mf_value *out)
{
    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started)
        return begin(values, out);
    if (values->depth == 0) {
        values->done = true;
        return MF_OK;
    }
    if (values->level[0].left > 0) {
        values->level[0].left--;
        return take_number(values, out);
    }
    values->depth--;
    out->event = MF_EVENT_END;
    out->type = MF_VALUE_ARRAY;
    return MF_OK;
}
