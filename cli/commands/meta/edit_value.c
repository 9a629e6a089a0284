/* SPDX-License-Identifier: MIT
 *
 * edit_value.c - values that stand in arguments, as KEY:TYPE=VALUE
 */
#include "cli/commands/meta/edit_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

static bool type_named(const char *name, size_t size, enum mf_value_type *out)
{
    for (int i = MF_VALUE_U8; i <= MF_VALUE_F64; i++) {
        const char *each = mf_value_type_name((enum mf_value_type)i);

        if (i != MF_VALUE_ARRAY && strlen(each) == size &&
            memcmp(each, name, size) == 0) {
            *out = (enum mf_value_type)i;
            return true;
        }
    }
    return false;
}

/* "u32" or "u32[]". */
static bool set_type(struct mf_edit *edit, const char *name)
{
    size_t size = strlen(name);
    bool array = size > 2 && strcmp(name + size - 2, "[]") == 0;
    enum mf_value_type type;

    if (!type_named(name, size - (array ? 2 : 0), &type))
        return false;
    edit->type = array ? MF_VALUE_ARRAY : type;
    edit->of = type;
    return true;
}

bool meta_named(const struct editing *editing, const char *key,
                struct mf_meta *out, const char **type)
{
    bool tells = strcmp(editing->format, "gguf") != 0;
    size_t size = strlen(key);
    struct mf_edit told;

    *type = "";
    if (mf_meta_find(editing->model, key, size, out, NULL))
        return true;
    for (size_t i = 0; tells && mf_meta_at(editing->model, i, out); i++) {
        if (out->key.size <= size || memcmp(out->key.at, key, size) != 0 ||
            out->key.at[size] != ':')
            continue;
        *type = out->key.at + size + 1;
        if (set_type(&told, *type) || strcmp(*type, "json") == 0)
            return true;
    }
    return false;
}

/* Takes ":TYPE" off the key; *said false where it has none.  What stands behind
 * a colon is a type, unless the file has just this key. */
static bool cut_type(struct editing *editing, char *key, struct mf_edit *edit,
                     bool *said)
{
    char *colon = strrchr(key, ':');

    *said = colon && set_type(edit, colon + 1);
    if (*said)
        *colon = 0;
    if (*said || !colon ||
        mf_meta_find(editing->model, key, strlen(key), &(struct mf_meta){ 0 },
                     NULL))
        return true;
    report_usage(editing->run,
                 "'%.60s' is no type; a new key with a colon in it has its "
                 "type behind it, as in '%.60s:string'",
                 colon + 1, key);
    return false;
}

/* ---- numbers ---- */

static bool is_integer(const char *value)
{
    value += *value == '-';
    return *value && strspn(value, "0123456789") == strlen(value);
}

/* Zeros in front mean nothing: only 0x is another base. */
static bool parse_unsigned(const char *value, unsigned bits, uint64_t *out)
{
    bool hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    char *end;

    errno = 0;
    *out = strtoull(value, &end, hex ? 16 : 10);
    return *value >= '0' && *value <= '9' && !*end && errno == 0 &&
           (bits == 64 || *out >> bits == 0);
}

static bool parse_signed(const char *value, unsigned bits, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(value, &end, 10);
    return is_integer(value) && !*end && errno == 0 &&
           (bits == 64 || (*out >= -(INT64_C(1) << (bits - 1)) &&
                           *out < INT64_C(1) << (bits - 1)));
}

/* Too large a number is none; too small a one is the nearest there is. */
static bool parse_float(const char *value, enum mf_value_type type, double *out)
{
    char *end;

    errno = 0;
    *out = type == MF_VALUE_F32 ? (double)strtof(value, &end)
                                : strtod(value, &end);
    return *value && !isspace((unsigned char)*value) && !*end &&
           !(errno == ERANGE && isinf(*out));
}

static bool parse_number(const char *value, enum mf_value_type type,
                         union mf_number *out)
{
    switch (type) {
    case MF_VALUE_U8:
        return parse_unsigned(value, 8, &out->u64);
    case MF_VALUE_U16:
        return parse_unsigned(value, 16, &out->u64);
    case MF_VALUE_U32:
        return parse_unsigned(value, 32, &out->u64);
    case MF_VALUE_U64:
        return parse_unsigned(value, 64, &out->u64);
    case MF_VALUE_I8:
        return parse_signed(value, 8, &out->i64);
    case MF_VALUE_I16:
        return parse_signed(value, 16, &out->i64);
    case MF_VALUE_I32:
        return parse_signed(value, 32, &out->i64);
    case MF_VALUE_I64:
        return parse_signed(value, 64, &out->i64);
    case MF_VALUE_BOOL:
        out->boolean = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
        return out->boolean || strcmp(value, "false") == 0 ||
               strcmp(value, "0") == 0;
    default:
        return parse_float(value, type, &out->f64);
    }
}

/* ---- what a value without a type is ---- */

static bool is_float(const char *value)
{
    char *end;

    (void)strtod(value, &end);
    return *value && !*end && strspn(value, "+-.0123456789") > 0;
}

static enum mf_value_type type_seen(const struct editing *editing,
                                    const char *value)
{
    bool json = strcmp(editing->format, "gguf") != 0;
    double number;

    if (strcmp(editing->format, "safetensors") == 0)
        return MF_VALUE_STRING; /* there all are strings */
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        return MF_VALUE_BOOL;
    if (is_integer(value) && *value == '-')
        return json || strlen(value) > 10 ? MF_VALUE_I64 : MF_VALUE_I32;
    if (is_integer(value))
        return json || strlen(value) > 9 ? MF_VALUE_U64 : MF_VALUE_U32;
    if (is_float(value))
        return json || !parse_float(value, MF_VALUE_F32, &number)
                   ? MF_VALUE_F64
                   : MF_VALUE_F32;
    return MF_VALUE_STRING;
}

/* That of what stands there, else what it looks like. */
static bool guess_type(const struct editing *editing, struct mf_edit *edit,
                       const char *value)
{
    struct mf_meta meta;
    const char *type;

    edit->type = type_seen(editing, value);
    if (!meta_named(editing, edit->key, &meta, &type) || set_type(edit, type) ||
        meta.type > MF_VALUE_F64)
        return true;
    edit->type = meta.type;
    edit->of = meta.of;
    if (meta.type != MF_VALUE_ARRAY ||
        (meta.of <= MF_VALUE_F64 && meta.of != MF_VALUE_ARRAY))
        return true;
    report_usage(editing->run,
                 "'%.60s' holds an array of type %s, which cannot be said "
                 "here: say another type",
                 edit->key, mf_value_type_name(meta.of));
    return false;
}

/* ---- values ---- */

static bool bad_value(struct editing *editing, const struct mf_edit *edit,
                      const char *value, enum mf_value_type type)
{
    report_usage(editing->run, "'%.60s' cannot be '%.60s': that is no %s",
                 edit->key, value, mf_value_type_name(type));
    return false;
}

/* value is terminated; a NUL within is no part of a number. */
static bool set_number(struct editing *editing, const struct mf_edit *edit,
                       struct mf_str value, enum mf_value_type type,
                       union mf_number *out)
{
    return (strlen(value.at) == value.size &&
            parse_number(value.at, type, out)) ||
           bad_value(editing, edit, value.at, type);
}

/* A character behind a backslash that is no separator. */
static bool is_escaped(const char *at, const char *end, char separator)
{
    return separator == ',' && *at == '\\' && end - at > 1 &&
           (at[1] == ',' || at[1] == '\\');
}

static size_t count_parts(struct mf_str list, char separator)
{
    const char *end = list.at + list.size;
    size_t count = list.size > 0 ? 1 : 0;

    for (const char *at = list.at; at < end; at++)
        if (is_escaped(at, end, separator))
            at++;
        else
            count += *at == separator;
    return count;
}

/* The part at *rest, made plain and terminated in its place; *rest is then
 * behind its separator. */
static struct mf_str next_part(char **rest, const char *end, char separator)
{
    char *from = *rest, *to = from;
    struct mf_str part = { from, 0 };

    while (from < end && *from != separator) {
        from += is_escaped(from, end, separator);
        *to++ = *from++;
    }
    *rest = from + 1;
    *to = 0;
    part.size = (size_t)(to - part.at);
    return part;
}

/* The elements stand in the first size bytes of the text that is held. */
static bool set_elements(struct editing *editing, struct mf_edit *edit,
                         struct held *held, size_t size, char separator)
{
    struct mf_str list = { held->text.text, size };
    size_t count = count_parts(list, separator);
    size_t each = edit->of == MF_VALUE_STRING ? sizeof(struct mf_str)
                                              : sizeof(union mf_number);
    const char *end = list.at + list.size;
    char *rest = held->text.text;

    edit->count = count;
    edit->elements = held->text.text; /* not NULL where there are none */
    if (count == 0)
        return true;
    held->elements_size = count * each;
    held->elements =
        mf_env_resize(editing->run->env, NULL, 0, held->elements_size);
    if (!held->elements) {
        report_failure(editing->run, editing->path);
        return false;
    }
    edit->elements = held->elements;
    for (size_t i = 0; i < count; i++) {
        struct mf_str part = next_part(&rest, end, separator);

        if (edit->of == MF_VALUE_STRING)
            ((struct mf_str *)held->elements)[i] = part;
        else if (!set_number(editing, edit, part, edit->of,
                             &((union mf_number *)held->elements)[i]))
            return false;
    }
    return true;
}

/* A copy that can be cut. */
static bool hold_text(struct editing *editing, struct held *held,
                      struct mf_str value)
{
    held->text.text = mf_env_resize(editing->run->env, NULL, 0, value.size + 1);
    if (!held->text.text) {
        report_failure(editing->run, editing->path);
        return false;
    }
    memcpy(held->text.text, value.at, value.size);
    held->text.text[value.size] = 0;
    held->text.size = value.size;
    return true;
}

/* Without its last line end, which the room of the terminator takes. */
static struct mf_str cut_line_end(struct textfile *file)
{
    struct mf_str text = { file->text, file->size };

    if (text.size > 0 && file->text[text.size - 1] == '\n')
        file->text[--text.size] = 0;
    return text;
}

/* "@file" is what the file holds, "@@x" is "@x". */
static bool set_value(struct editing *editing, struct mf_edit *edit,
                      struct held *held, const char *argument)
{
    bool file = argument[0] == '@' && argument[1] != '@';
    struct mf_str value = str_of(argument + (argument[0] == '@'));

    if (file &&
        !textfile_read(editing->run, value.at, "the value", &held->text))
        return false;
    if (file)
        value = cut_line_end(&held->text);
    if (edit->type == MF_VALUE_STRING) {
        edit->text = value;
        return true;
    }
    if (edit->type != MF_VALUE_ARRAY)
        return set_number(editing, edit, value, edit->type, &edit->number);
    if (!file && !hold_text(editing, held, value))
        return false;
    return set_elements(editing, edit, held, value.size, file ? '\n' : ',');
}

void meta_value_release(struct editing *editing, struct held *held)
{
    textfile_release(editing->run, &held->text);
    if (held->elements)
        mf_env_resize(editing->run->env, held->elements, held->elements_size,
                      0);
}

/* ---- arguments ---- */

bool meta_value_take(struct editing *editing, char *argument,
                     struct mf_edit *edit, struct held *held)
{
    char *equals = strchr(argument, '=');
    bool said;

    *edit = (struct mf_edit){ .key = argument };
    if (!equals) {
        report_usage(editing->run, "'%.60s' is no KEY=VALUE", argument);
        return false;
    }
    *equals = 0;
    if (!cut_type(editing, argument, edit, &said))
        return false;
    if (!*argument) {
        report_usage(editing->run, "there is no key before '=%.60s'",
                     equals + 1);
        return false;
    }
    return (said || guess_type(editing, edit, equals + 1)) &&
           set_value(editing, edit, held, equals + 1);
}
