/* SPDX-License-Identifier: MIT
 *
 * diff_meta.c - compares a metadata value of one model with one of another
 *
 * Both values are read event by event, side by side: a vocabulary of any size
 * is compared in bounded memory.
 */
#include <string.h>

#include "lib/base/str.h"
#include "lib/compare/diff.h"

struct side {
    struct mf_values *values;
    struct mf_value value;
    struct mf_str rest; /* of the text in value that is not compared yet */
};

struct both {
    struct side a, b;
    bool loose; /* numbers of another width are equal where their values are */
    unsigned depth;
    uint64_t elements; /* of the outermost array that were equal */
};

/* ---- numbers ---- */

static bool is_float(enum mf_value_type type)
{
    return type == MF_VALUE_F32 || type == MF_VALUE_F64;
}

static bool is_number(enum mf_value_type type)
{
    return is_float(type) || mf_value_is_signed(type) || type == MF_VALUE_U8 ||
           type == MF_VALUE_U16 || type == MF_VALUE_U32 || type == MF_VALUE_U64;
}

static double as_double(const struct mf_value *value)
{
    if (is_float(value->type))
        return value->number.f64;
    return mf_value_is_signed(value->type) ? (double)value->number.i64
                                           : (double)value->number.u64;
}

/* Numbers of different types: one format may have 64-bit integers alone, or no
 * 32-bit floats. */
static bool same_number(const struct mf_value *a, const struct mf_value *b)
{
    if (is_float(a->type) && is_float(b->type))
        return (float)a->number.f64 == (float)b->number.f64;
    if (is_float(a->type) || is_float(b->type))
        return as_double(a) == as_double(b);
    /* A negative number never equals an unsigned one, whatever its bits. */
    return a->number.u64 == b->number.u64 &&
           (mf_value_is_signed(a->type) == mf_value_is_signed(b->type) ||
            a->number.i64 >= 0);
}

static bool same_scalar(const struct mf_value *a, const struct mf_value *b,
                        bool loose)
{
    if (a->type != b->type)
        return loose && is_number(a->type) && is_number(b->type) &&
               same_number(a, b);
    if (a->type == MF_VALUE_BOOL)
        return a->number.boolean == b->number.boolean;
    /* Floats are compared by their bits: NaN equals itself. */
    return !is_number(a->type) || a->number.u64 == b->number.u64;
}

/* ---- text ---- */

static enum mf_status next(struct side *side)
{
    enum mf_status status = mf_values_next(side->values, &side->value);

    side->rest = side->value.text;
    return status;
}

/* Reads the next piece of a string where the last one is used up. */
static enum mf_status refill(struct side *side)
{
    while (side->rest.size == 0 && side->value.more)
        if (next(side) != MF_OK)
            return side->values->env->error.status;
    return MF_OK;
}

/* The pieces of two texts need not end at the same places. */
static enum mf_status compare_text(struct side *a, struct side *b, bool *equal)
{
    for (;;) {
        size_t size;

        if (refill(a) != MF_OK || refill(b) != MF_OK)
            return a->values->env->error.status;
        size = a->rest.size < b->rest.size ? a->rest.size : b->rest.size;
        if (size == 0)
            break;
        *equal = memcmp(a->rest.at, b->rest.at, size) == 0;
        if (!*equal)
            return MF_OK;
        a->rest = (struct mf_str){ a->rest.at + size, a->rest.size - size };
        b->rest = (struct mf_str){ b->rest.at + size, b->rest.size - size };
    }
    *equal = a->rest.size == b->rest.size;
    return MF_OK;
}

/* ---- events ---- */

static bool is_text(const struct mf_value *value)
{
    return value->event == MF_EVENT_KEY ||
           (value->event == MF_EVENT_ITEM && value->type == MF_VALUE_STRING);
}

static enum mf_status compare_event(struct both *both, bool *equal)
{
    const struct mf_value *a = &both->a.value, *b = &both->b.value;

    *equal = a->event == b->event && is_text(a) == is_text(b);
    if (!*equal)
        return MF_OK;
    if (is_text(a))
        return compare_text(&both->a, &both->b, equal);
    if (a->event == MF_EVENT_ITEM)
        *equal = same_scalar(a, b, both->loose);
    else
        *equal = a->type == b->type &&
                 (a->event != MF_EVENT_BEGIN || both->loose || a->of == b->of);
    return MF_OK;
}

/* Counts an equal event, which may end an element of the outermost array. */
static void count(struct both *both, enum mf_event event)
{
    both->depth += event == MF_EVENT_BEGIN;
    both->depth -= event == MF_EVENT_END;
    both->elements +=
        both->depth == 1 && (event == MF_EVENT_ITEM || event == MF_EVENT_END);
}

static enum mf_status walk(struct both *both, bool *equal)
{
    do {
        enum mf_event event;

        if (next(&both->a) != MF_OK || next(&both->b) != MF_OK)
            return both->a.values->env->error.status;
        event = both->a.value.event;
        if (compare_event(both, equal) != MF_OK)
            return both->a.values->env->error.status;
        if (*equal)
            count(both, event);
    } while (*equal && both->a.value.event != MF_EVENT_DONE);
    return MF_OK;
}

/* ---- values ---- */

/* Numbers and short strings were kept when the model was opened. */
static bool kept(const struct mf_meta *meta, struct mf_value *out)
{
    *out = (struct mf_value){ .event = MF_EVENT_ITEM,
                              .type = meta->type,
                              .number = meta->number,
                              .text = meta->text };
    return meta->type != MF_VALUE_ARRAY && meta->type != MF_VALUE_OBJECT &&
           (meta->type != MF_VALUE_STRING || meta->text.at);
}

static bool same_kept(const struct mf_value *a, const struct mf_value *b,
                      bool loose)
{
    if (is_text(a) && is_text(b))
        return mf_str_same(a->text, b->text);
    return same_scalar(a, b, loose);
}

enum mf_status mf_meta_equal(struct mf_model *of_a, size_t a,
                             struct mf_model *of_b, size_t b, bool *equal,
                             uint64_t *first)
{
    const struct mf_meta *left = &of_a->index.meta[a];
    const struct mf_meta *right = &of_b->index.meta[b];
    struct both both = { .loose = strcmp(of_a->format->name,
                                         of_b->format->name) != 0 };
    enum mf_status status;

    *first = 0;
    if (kept(left, &both.a.value) && kept(right, &both.b.value)) {
        *equal = same_kept(&both.a.value, &both.b.value, both.loose);
        return MF_OK;
    }
    status = mf_values_open(of_a, a, &both.a.values);
    if (status == MF_OK)
        status = mf_values_open(of_b, b, &both.b.values);
    if (status == MF_OK)
        status = walk(&both, equal);
    if (left->type == MF_VALUE_ARRAY && right->type == MF_VALUE_ARRAY)
        *first = both.elements;
    mf_values_close(both.b.values);
    mf_values_close(both.a.values);
    return status;
}
