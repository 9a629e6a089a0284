/* SPDX-License-Identifier: MIT
 *
 * value.c - a metadatum as text or JSON, shortened or whole
 *
 * Read event by event: a vocabulary of any size is shown in bounded memory,
 * and shortened, only its first elements are read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define ELEMENTS_SHOWN   8
#define CHARACTERS_SHOWN 60
#define DEPTH_MAX        72 /* the library refuses deeper nesting before */

struct teller {
    struct run *run;
    bool json, full;
    unsigned depth;
    bool object[DEPTH_MAX];    /* what is open at that depth */
    uint64_t told[DEPTH_MAX];  /* its elements or members so far */
    uint64_t count[DEPTH_MAX]; /* how many there are; 0: not known */
    unsigned skip;             /* open arrays and objects that are left out */
    bool drop;                 /* the value of a key that was left out */
    bool within;               /* a string, of which a piece was told */
    size_t shown;              /* characters of it */
    bool cut;                  /* something was left out */
};

/* ---- numbers ---- */

/* The fewest digits that give the number again. */
static void number_shortest(struct out *out, double value, bool is_float)
{
    char text[40] = "";
    int most = is_float ? 9 : 17;

    for (int digits = 6; digits <= most; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (is_float ? (double)strtof(text, NULL) == value
                     : strtod(text, NULL) == value)
            break;
    }
    out_text(out, text);
}

static void scalar_text(struct out *out, const struct mf_value *value)
{
    switch (value->type) {
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        out_format(out, "%" PRIu64, value->number.u64);
        break;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        out_format(out, "%" PRId64, value->number.i64);
        break;
    case MF_VALUE_F32:
    case MF_VALUE_F64:
        if (value->text.size > 0)
            out_bytes(out, value->text.at, value->text.size);
        else
            number_shortest(out, value->number.f64,
                            value->type == MF_VALUE_F32);
        break;
    case MF_VALUE_BOOL:
        out_text(out, value->number.boolean ? "true" : "false");
        break;
    default:
        out_text(out, "null");
        break;
    }
}

static void scalar_json(struct mf_json_out *json, const struct mf_value *value)
{
    switch (value->type) {
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        mf_json_u64(json, value->number.u64);
        break;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        mf_json_i64(json, value->number.i64);
        break;
    case MF_VALUE_F32:
    case MF_VALUE_F64:
        if (value->text.size > 0)
            mf_json_digits(json, value->text.at, value->text.size);
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

/* ---- strings ---- */

static void piece_json(struct teller *teller, const struct mf_value *value)
{
    struct mf_json_out *json = &teller->run->json;

    if (!teller->within)
        mf_json_open_string(json);
    mf_json_piece(json, value->text.at, value->text.size);
    if (!value->more)
        mf_json_close_string(json, value->event == MF_EVENT_KEY);
}

/* The start of text that has at most so many characters. */
static struct mf_str front(struct mf_str text, size_t characters)
{
    size_t at = 0;

    while (at < text.size &&
           (characters > 0 || ((unsigned char)text.at[at] & 0xc0) == 0x80)) {
        characters -= ((unsigned char)text.at[at] & 0xc0) != 0x80;
        at++;
    }
    return (struct mf_str){ text.at, at };
}

static void piece_text(struct teller *teller, const struct mf_value *value)
{
    struct out *out = &teller->run->out;
    struct mf_str shown = value->text;

    if (!teller->within) {
        out_text(out, "\"");
        teller->shown = 0;
    }
    if (!teller->full) {
        shown = front(shown, CHARACTERS_SHOWN - teller->shown);
        teller->shown += shown.size;
        if (teller->shown > CHARACTERS_SHOWN)
            teller->shown = CHARACTERS_SHOWN;
    }
    out_escaped(out, shown, "");
    if (shown.size < value->text.size && !teller->cut)
        out_text(out, "…");
    teller->cut = teller->cut || shown.size < value->text.size;
    if (!value->more) {
        out_text(out, value->event == MF_EVENT_KEY ? "\": " : "\"");
        teller->cut = false;
    }
}

/* ---- events ---- */

/* A new element or member begins; false where it is left out. */
static bool counts(struct teller *teller)
{
    uint64_t number = teller->depth > 0 ? teller->told[teller->depth]++ : 0;

    if (!teller->full && number >= ELEMENTS_SHOWN)
        return false;
    if (number > 0 && !teller->json)
        out_text(&teller->run->out, ", ");
    return true;
}

static void begin(struct teller *teller, const struct mf_value *value)
{
    bool object = value->type == MF_VALUE_OBJECT;

    if (teller->json)
        mf_json_begin(&teller->run->json, object ? '{' : '[');
    else
        out_text(&teller->run->out, object ? "{" : "[");
    if (teller->depth + 1 < DEPTH_MAX)
        teller->depth++;
    teller->object[teller->depth] = object;
    teller->told[teller->depth] = 0;
    teller->count[teller->depth] = value->count;
}

static void end(struct teller *teller)
{
    bool object = teller->object[teller->depth];
    uint64_t told = teller->told[teller->depth];
    uint64_t count = teller->count[teller->depth];

    count = count > told ? count : told;
    teller->depth--;
    if (teller->json) {
        mf_json_end(&teller->run->json, object ? '}' : ']');
        return;
    }
    if (!teller->full && count > ELEMENTS_SHOWN)
        out_format(&teller->run->out, ", ... %s in all", number_text(count).at);
    out_text(&teller->run->out, object ? "}" : "]");
}

static void item(struct teller *teller, const struct mf_value *value)
{
    if (value->event == MF_EVENT_KEY || value->type == MF_VALUE_STRING) {
        if (teller->json)
            piece_json(teller, value);
        else
            piece_text(teller, value);
        teller->within = value->more;
    } else if (teller->json) {
        scalar_json(&teller->run->json, value);
    } else {
        scalar_text(&teller->run->out, value);
    }
}

/* What is left out is read past; true where value is a part of it. */
static bool left_out(struct teller *teller, const struct mf_value *value)
{
    bool in_object = teller->object[teller->depth];

    if (teller->skip > 0) {
        teller->skip += value->event == MF_EVENT_BEGIN;
        teller->skip -= value->event == MF_EVENT_END;
        return true;
    }
    if (teller->within || value->event == MF_EVENT_END)
        return false;
    if (!teller->drop &&
        (value->event == MF_EVENT_KEY || !in_object || teller->depth == 0))
        teller->drop = !counts(teller);
    if (!teller->drop)
        return false;
    if (value->event == MF_EVENT_BEGIN)
        teller->skip = 1;
    /* A key is dropped with its value, a string with its last piece. */
    teller->drop = value->event == MF_EVENT_KEY || value->more;
    return true;
}

/* The outermost array has no more that is shown: no need to read on. */
static bool enough(const struct teller *teller)
{
    return !teller->full && teller->depth == 1 && teller->skip == 0 &&
           !teller->within &&
           (teller->told[1] > ELEMENTS_SHOWN ||
            (teller->told[1] == ELEMENTS_SHOWN && !teller->object[1] &&
             teller->count[1] > ELEMENTS_SHOWN));
}

static void tell(struct teller *teller, const struct mf_value *value)
{
    if (left_out(teller, value))
        return;
    if (value->event == MF_EVENT_BEGIN)
        begin(teller, value);
    else if (value->event == MF_EVENT_END)
        end(teller);
    else
        item(teller, value);
}

/* From the file.  Where that fails in the middle, everything that is open is
 * closed, so that JSON stays well-formed. */
static void walk(struct teller *teller, struct mf_model *model, size_t index)
{
    struct mf_values *values;
    struct mf_value value;

    if (mf_values_open(model, index, &values) != MF_OK) {
        report_failure(teller->run, "metadata");
        return;
    }
    while (!enough(teller)) {
        if (mf_values_next(values, &value) != MF_OK) {
            value.event = MF_EVENT_DONE;
            report_worse(teller->run, EXIT_INPUT);
        }
        if (value.event == MF_EVENT_DONE)
            break;
        tell(teller, &value);
    }
    while (teller->depth > 0)
        end(teller);
    mf_values_close(values);
}

/* A number or a short string was kept when the model was opened. */
static bool is_kept(const struct mf_meta *meta)
{
    return meta->type != MF_VALUE_ARRAY && meta->type != MF_VALUE_OBJECT &&
           (meta->type != MF_VALUE_STRING || meta->text.at);
}

static void tell_meta(struct teller *teller, struct mf_model *model,
                      size_t index)
{
    struct mf_value value = { .event = MF_EVENT_ITEM };
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    if (!is_kept(&meta)) {
        walk(teller, model, index);
        return;
    }
    value.type = meta.type;
    value.number = meta.number;
    value.text = meta.text;
    item(teller, &value);
}

/* ---- for the commands ---- */

void value_text(struct run *run, struct mf_model *model, size_t index,
                bool full)
{
    struct teller teller = { .run = run, .full = full };

    tell_meta(&teller, model, index);
}

void value_plain(struct run *run, struct mf_model *model, size_t index,
                 bool full)
{
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    if (meta.type != MF_VALUE_STRING) {
        value_text(run, model, index, full);
        return;
    }
    if (mf_values_open(model, index, &values) != MF_OK) {
        report_failure(run, "metadata");
        return;
    }
    while (mf_values_next(values, &value) == MF_OK &&
           value.event == MF_EVENT_ITEM)
        out_escaped(&run->out, value.text, "\n\t");
    mf_values_close(values);
}

void value_json_whole(struct run *run, struct mf_model *model, size_t index)
{
    struct teller teller = { .run = run, .json = true, .full = true };

    tell_meta(&teller, model, index);
}

void value_json(struct run *run, struct mf_model *model, size_t index,
                bool full)
{
    struct teller teller = { .run = run, .json = true, .full = full };
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    json_text(run, "type", mf_value_type_name(meta.type));
    if (meta.type == MF_VALUE_ARRAY)
        json_text(run, "of", mf_value_type_name(meta.of));
    if (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT)
        json_number(run, "count", meta.count);
    mf_json_key(&run->json, "value");
    tell_meta(&teller, model, index);
    if (!full && (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT))
        json_bool(run, "truncated", meta.count > ELEMENTS_SHOWN);
}
