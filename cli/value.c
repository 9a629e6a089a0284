/* SPDX-License-Identifier: MIT
 *
 * value.c - a metadata value as text or JSON
 *
 * A value is read event by event, so that a vocabulary of any size is printed
 * in bounded memory; when it is shortened, only its first elements are read.
 * The printer keeps what is open at each depth, and skips what is left out.
 */
#include "cli/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report.h"

#define ELEMENTS_SHOWN   8
#define CHARACTERS_SHOWN 60
#define DEPTH_MAX        136 /* the library's limit is lower */

struct printer {
    struct run *run;
    bool json, full;
    unsigned depth;
    bool object[DEPTH_MAX];      /* what is open at that depth */
    uint64_t printed[DEPTH_MAX]; /* its elements or members so far */
    uint64_t count[DEPTH_MAX];   /* how many there are; 0: unknown */
    unsigned skip;               /* depth in something that is left out */
    bool drop;                   /* leave out the value of the last key, too */
    bool within;                 /* a string whose first piece was printed */
    size_t shown;                /* characters of it */
    bool cut;                    /* something was left out */
    bool began, key;             /* anything, a key at last, was printed */
};

/* ---- numbers ---- */

/* The fewest digits that read back as the same number. */
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

static void piece_json(struct printer *printer, const struct mf_value *value)
{
    struct mf_json_out *json = &printer->run->json;

    if (!printer->within)
        mf_json_open_string(json);
    mf_json_piece(json, value->text.at, value->text.size);
    if (!value->more)
        mf_json_close_string(json, value->event == MF_EVENT_KEY);
}

/* The first so many characters of text. */
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

static void piece_text(struct printer *printer, const struct mf_value *value)
{
    struct out *out = &printer->run->out;
    struct mf_str shown = value->text;

    if (!printer->within) {
        out_text(out, "\"");
        printer->shown = 0;
    }
    if (!printer->full) {
        shown = front(shown, CHARACTERS_SHOWN - printer->shown);
        printer->shown += shown.size;
        if (printer->shown > CHARACTERS_SHOWN)
            printer->shown = CHARACTERS_SHOWN;
    }
    out_escaped(out, shown, "");
    if (shown.size < value->text.size && !printer->cut)
        out_text(out, "…");
    printer->cut = printer->cut || shown.size < value->text.size;
    if (!value->more) {
        out_text(out, value->event == MF_EVENT_KEY ? "\": " : "\"");
        printer->cut = false;
    }
}

/* ---- events ---- */

/* A new element or member begins; false if it is left out. */
static bool next_item(struct printer *printer)
{
    uint64_t number =
        printer->depth > 0 ? printer->printed[printer->depth]++ : 0;

    if (!printer->full && number >= ELEMENTS_SHOWN)
        return false;
    if (number > 0 && !printer->json)
        out_text(&printer->run->out, ", ");
    return true;
}

static void begin(struct printer *printer, const struct mf_value *value)
{
    bool object = value->type == MF_VALUE_OBJECT;

    if (printer->json)
        mf_json_begin(&printer->run->json, object ? '{' : '[');
    else
        out_text(&printer->run->out, object ? "{" : "[");
    if (printer->depth + 1 < DEPTH_MAX)
        printer->depth++;
    printer->object[printer->depth] = object;
    printer->printed[printer->depth] = 0;
    printer->count[printer->depth] = value->count;
}

static void end(struct printer *printer)
{
    bool object = printer->object[printer->depth];
    uint64_t printed = printer->printed[printer->depth];
    uint64_t count = printer->count[printer->depth];

    count = count > printed ? count : printed;
    printer->depth--;
    if (printer->json) {
        mf_json_end(&printer->run->json, object ? '}' : ']');
        return;
    }
    if (!printer->full && count > ELEMENTS_SHOWN)
        out_format(&printer->run->out, ", ... %s in all",
                   number_text(count).at);
    out_text(&printer->run->out, object ? "}" : "]");
}

static void item(struct printer *printer, const struct mf_value *value)
{
    if (value->event == MF_EVENT_KEY || value->type == MF_VALUE_STRING) {
        if (printer->json)
            piece_json(printer, value);
        else
            piece_text(printer, value);
        printer->within = value->more;
        printer->key = value->event == MF_EVENT_KEY;
    } else if (printer->json) {
        scalar_json(&printer->run->json, value);
    } else {
        scalar_text(&printer->run->out, value);
    }
}

/* Whether value is part of something that is left out. */
static bool left_out(struct printer *printer, const struct mf_value *value)
{
    bool in_object = printer->object[printer->depth];

    if (printer->skip > 0) {
        printer->skip += value->event == MF_EVENT_BEGIN;
        printer->skip -= value->event == MF_EVENT_END;
        return true;
    }
    if (printer->within || value->event == MF_EVENT_END)
        return false;
    if (!printer->drop &&
        (value->event == MF_EVENT_KEY || !in_object || printer->depth == 0))
        printer->drop = !next_item(printer);
    if (!printer->drop)
        return false;
    if (value->event == MF_EVENT_BEGIN)
        printer->skip = 1;
    /* A key is dropped with its value, a string with its last piece. */
    printer->drop = value->event == MF_EVENT_KEY || value->more;
    return true;
}

/* The outermost array has nothing more to print: reading can stop. */
static bool is_done(const struct printer *printer)
{
    return !printer->full && printer->depth == 1 && printer->skip == 0 &&
           !printer->within &&
           (printer->printed[1] > ELEMENTS_SHOWN ||
            (printer->printed[1] == ELEMENTS_SHOWN && !printer->object[1] &&
             printer->count[1] > ELEMENTS_SHOWN));
}

static void print_event(struct printer *printer, const struct mf_value *value)
{
    if (left_out(printer, value))
        return;
    printer->began = true;
    printer->key = false;
    if (value->event == MF_EVENT_BEGIN)
        begin(printer, value);
    else if (value->event == MF_EVENT_END)
        end(printer);
    else
        item(printer, value);
}

/* What a value that cannot be read any further lacks to be one. */
static void complete_json(struct printer *printer)
{
    struct mf_json_out *json = &printer->run->json;

    if (printer->within)
        mf_json_close_string(json, printer->key);
    if (printer->key || !printer->began)
        mf_json_null(json);
}

static enum mf_status print_events(struct printer *printer,
                                   struct mf_values *values)
{
    struct mf_value value;
    enum mf_status status = MF_OK;

    while (!is_done(printer)) {
        status = mf_values_next(values, &value);
        if (status != MF_OK || value.event == MF_EVENT_DONE)
            break;
        print_event(printer, &value);
    }
    return status;
}

/* Reads the value from the file.  If that fails in the middle, what is open is
 * closed so that JSON stays well-formed; the error comes after the value. */
static void walk(struct printer *printer, struct mf_model *model, size_t index)
{
    struct mf_values *values = NULL;
    enum mf_status status = mf_values_open(model, index, &values);

    if (status == MF_OK)
        status = print_events(printer, values);
    if (status != MF_OK && printer->json)
        complete_json(printer);
    while (printer->depth > 0)
        end(printer);
    if (status != MF_OK)
        report_failure(printer->run, "metadata");
    mf_values_close(values);
}

/* Numbers and short strings are in memory since the model was opened. */
static bool in_memory(const struct mf_meta *meta)
{
    return meta->type != MF_VALUE_ARRAY && meta->type != MF_VALUE_OBJECT &&
           (meta->type != MF_VALUE_STRING || meta->text.at);
}

static void print_meta(struct printer *printer, struct mf_model *model,
                       size_t index)
{
    struct mf_value value = { .event = MF_EVENT_ITEM };
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    if (!in_memory(&meta)) {
        walk(printer, model, index);
        return;
    }
    value.type = meta.type;
    value.number = meta.number;
    value.text = meta.text;
    item(printer, &value);
}

static void print_edit(struct printer *printer, const struct mf_edit *edit)
{
    struct mf_value value = { .event = MF_EVENT_ITEM,
                              .type = edit->type,
                              .number = edit->number,
                              .text = edit->text };

    if (edit->type != MF_VALUE_ARRAY) {
        item(printer, &value);
        return;
    }
    value.event = MF_EVENT_BEGIN;
    value.count = edit->count;
    print_event(printer, &value);
    value.event = MF_EVENT_ITEM;
    value.type = edit->of;
    for (uint64_t i = 0; i < edit->count && !is_done(printer); i++) {
        if (edit->of == MF_VALUE_STRING)
            value.text = ((const struct mf_str *)edit->elements)[i];
        else
            value.number = ((const union mf_number *)edit->elements)[i];
        print_event(printer, &value);
    }
    end(printer);
}

/* ---- for the commands ---- */

void value_text(struct run *run, struct mf_model *model, size_t index,
                bool full)
{
    struct printer printer = { .run = run, .full = full };

    print_meta(&printer, model, index);
}

void value_plain(struct run *run, struct mf_model *model, size_t index,
                 bool full)
{
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;
    enum mf_status status;

    mf_meta_at(model, index, &meta);
    if (meta.type != MF_VALUE_STRING) {
        value_text(run, model, index, full);
        return;
    }
    if (mf_values_open(model, index, &values) != MF_OK) {
        report_failure(run, "metadata");
        return;
    }
    while ((status = mf_values_next(values, &value)) == MF_OK &&
           value.event == MF_EVENT_ITEM)
        out_escaped(&run->out, value.text, "\n\t");
    if (status != MF_OK)
        report_failure(run, "metadata");
    mf_values_close(values);
}

void value_edit_text(struct run *run, const struct mf_edit *edit)
{
    struct printer printer = { .run = run };

    print_edit(&printer, edit);
}

void value_edit_json(struct run *run, const struct mf_edit *edit)
{
    struct printer printer = { .run = run, .json = true };

    json_text(run, "type", mf_value_type_name(edit->type));
    if (edit->type == MF_VALUE_ARRAY) {
        json_text(run, "of", mf_value_type_name(edit->of));
        json_number(run, "count", edit->count);
    }
    mf_json_key(&run->json, "value");
    print_edit(&printer, edit);
    if (edit->type == MF_VALUE_ARRAY)
        json_bool(run, "truncated", edit->count > ELEMENTS_SHOWN);
}

void value_json_whole(struct run *run, struct mf_model *model, size_t index)
{
    struct printer printer = { .run = run, .json = true, .full = true };

    print_meta(&printer, model, index);
}

void value_json(struct run *run, struct mf_model *model, size_t index,
                bool full)
{
    struct printer printer = { .run = run, .json = true, .full = full };
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    json_text(run, "type", mf_value_type_name(meta.type));
    if (meta.type == MF_VALUE_ARRAY)
        json_text(run, "of", mf_value_type_name(meta.of));
    if (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT)
        json_number(run, "count", meta.count);
    mf_json_key(&run->json, "value");
    print_meta(&printer, model, index);
    if (!full && (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT))
        json_bool(run, "truncated", meta.count > ELEMENTS_SHOWN);
}

void value_entry_json(struct run *run, struct mf_model *model, size_t index,
                      bool full)
{
    struct mf_meta meta;

    mf_meta_at(model, index, &meta);
    mf_json_begin(&run->json, '{');
    json_str(run, "key", meta.key);
    value_json(run, model, index, full);
    mf_json_end(&run->json, '}');
}
