/* SPDX-License-Identifier: MIT
 *
 * edit_value.c - edits from arguments: KEY=VALUE, KEY:TYPE=VALUE
 *
 * Without a type, a value gets the type of the value that it replaces; a new
 * key gets the type that the value looks like.
 */
#include "cli/commands/meta/meta.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"

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

bool edit_value_find(const struct editing *editing, const char *key,
                     struct mf_meta *out, size_t *at, const char **type)
{
    bool typed_keys = editing->values != MF_VALUES_TYPED;
    size_t size = strlen(key);
    struct mf_edit ignored;

    *type = "";
    if (mf_meta_find(editing->model, key, size, out, at))
        return true;
    for (size_t i = 0; typed_keys && mf_meta_at(editing->model, i, out); i++) {
        *at = i;
        if (out->key.size <= size || memcmp(out->key.at, key, size) != 0 ||
            out->key.at[size] != ':')
            continue;
        *type = out->key.at + size + 1;
        if (set_type(&ignored, *type) || strcmp(*type, "json") == 0)
            return true;
    }
    return false;
}

/* Cuts ":TYPE" off the key; *given says whether there was one.  What follows a
 * colon is a type, unless the file has a key of exactly this name. */
static bool cut_type(struct editing *editing, char *key, struct mf_edit *edit,
                     bool *given)
{
    char *colon = strrchr(key, ':');

    *given = colon && set_type(edit, colon + 1);
    if (*given)
        *colon = 0;
    if (*given || !colon ||
        mf_meta_find(editing->model, key, strlen(key), &(struct mf_meta){ 0 },
                     NULL))
        return true;
    report_usage(editing->run,
                 "unknown type '%.60s'; a new key that contains a colon "
                 "requires its type, as in '%.60s:string'",
                 colon + 1, key);
    return false;
}

/* ---- numbers ---- */

static bool is_integer(const char *value)
{
    value += *value == '-';
    return *value && strspn(value, "0123456789") == strlen(value);
}

/* Decimal or 0x; a leading 0 does not mean octal. */
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

/* A number too large for the type is an error; one too small is rounded. */
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

/* ---- types of values without one ---- */

static bool is_float(const char *value)
{
    char *end;

    (void)strtod(value, &end);
    return *value && !*end && strspn(value, "+-.0123456789") > 0;
}

static enum mf_value_type type_like(const struct editing *editing,
                                    const char *value)
{
    bool json = editing->values != MF_VALUES_TYPED;
    double number;

    if (editing->values == MF_VALUES_STRINGS)
        return MF_VALUE_STRING; /* it has no other type */
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

/* The type of the value that is replaced, else what the value looks like. */
static bool guess_type(const struct editing *editing, struct mf_edit *edit,
                       const char *value)
{
    struct mf_meta meta;
    const char *type;
    size_t at;

    edit->type = type_like(editing, value);
    if (!edit_value_find(editing, edit->key, &meta, &at, &type) ||
        set_type(edit, type) || meta.type > MF_VALUE_F64)
        return true;
    edit->type = meta.type;
    edit->of = meta.of;
    if (meta.type != MF_VALUE_ARRAY ||
        (meta.of <= MF_VALUE_F64 && meta.of != MF_VALUE_ARRAY))
        return true;
    report_usage(editing->run,
                 "'%.60s' is an array of %s, which cannot be given as an "
                 "argument: give it another type",
                 edit->key, mf_value_type_name(meta.of));
    return false;
}

/* ---- values ---- */

/* " (0 to 255)", for integers of less than 64 bits */
struct range_text {
    char at[64];
};

static struct range_text range_text(enum mf_value_type type)
{
    static const struct {
        enum mf_value_type type;
        unsigned bits;
        bool negative;
    } ranges[] = {
        { MF_VALUE_U8, 8, false },   { MF_VALUE_U16, 16, false },
        { MF_VALUE_U32, 32, false }, { MF_VALUE_I8, 8, true },
        { MF_VALUE_I16, 16, true },  { MF_VALUE_I32, 32, true },
    };
    struct range_text text = { "" };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        int64_t span = INT64_C(1) << ranges[i].bits;

        if (ranges[i].type == type)
            snprintf(text.at, sizeof(text.at), " (%" PRId64 " to %" PRId64 ")",
                     ranges[i].negative ? -span / 2 : 0,
                     ranges[i].negative ? span / 2 - 1 : span - 1);
    }
    return text;
}

static bool bad_value(struct editing *editing, const struct mf_edit *edit,
                      const char *value, enum mf_value_type type)
{
    report_usage(editing->run, "'%.60s': invalid %s '%.60s'%s", edit->key,
                 mf_value_type_name(type), value, range_text(type).at);
    return false;
}

/* value is terminated; with a NUL inside it is not a number. */
static bool set_number(struct editing *editing, const struct mf_edit *edit,
                       struct mf_str value, enum mf_value_type type,
                       union mf_number *out)
{
    return (strlen(value.at) == value.size &&
            parse_number(value.at, type, out)) ||
           bad_value(editing, edit, value.at, type);
}

/* A backslash and the character that it escapes. */
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

/* The part at *rest, unescaped and terminated in place; moves *rest past its
 * separator. */
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

/* The elements of an array: the first size bytes of held->text, split. */
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
    edit->elements = held->text.text; /* not NULL if there are no elements */
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

/* A terminated copy that can be cut. */
static bool copy_text(struct editing *editing, struct textfile *out,
                      struct mf_str value)
{
    out->text = mf_env_resize(editing->run->env, NULL, 0, value.size + 1);
    if (!out->text) {
        report_failure(editing->run, editing->path);
        return false;
    }
    memcpy(out->text, value.at, value.size);
    out->text[value.size] = 0;
    out->size = value.size;
    return true;
}

/* Without its last newline.  A pipe can be read only once. */
static bool read_file(struct editing *editing, struct held *held,
                      const char *path)
{
    static const struct textkind kind = { .what = "the value",
                                          .size_max = TEXTFILE_MAX };
    struct textfile *file = &held->file;

    if (!held->read && !textfile_read(editing->run, path, &kind, file))
        return false;
    if (held->read)
        return true;
    held->read = true;
    held->value_size = file->size;
    if (file->size > 0 && file->text[file->size - 1] == '\n')
        file->text[--held->value_size] = 0;
    return true;
}

/* "@FILE" is the content of the file, "@@x" is "@x". */
static bool set_value(struct editing *editing, struct mf_edit *edit,
                      struct held *held, const char *argument)
{
    bool file = argument[0] == '@' && argument[1] != '@';
    struct mf_str value = str_of(argument + (argument[0] == '@'));

    if (file && !read_file(editing, held, value.at))
        return false;
    if (file)
        value = (struct mf_str){ held->file.text, held->value_size };
    if (edit->type == MF_VALUE_STRING) {
        edit->text = value;
        return true;
    }
    if (edit->type != MF_VALUE_ARRAY)
        return set_number(editing, edit, value, edit->type, &edit->number);
    return copy_text(editing, &held->text, value) &&
           set_elements(editing, edit, held, value.size, file ? '\n' : ',');
}

void edit_value_release(struct run *run, struct held *held, bool file)
{
    textfile_release(run, &held->key);
    textfile_release(run, &held->text);
    if (held->elements)
        mf_env_resize(run->env, held->elements, held->elements_size, 0);
    held->elements = NULL;
    if (file)
        textfile_release(run, &held->file);
}

/* ---- arguments ---- */

bool edit_value_parse(struct editing *editing, const char *argument,
                      struct mf_edit *edit, struct held *held)
{
    const char *equals = strchr(argument, '=');
    bool given;

    if (!equals) {
        report_usage(editing->run, "'%.60s': expected KEY=VALUE%s", argument,
                     access(argument, F_OK) == 0 ? ", and only files are given"
                                                 : ", or a file that exists");
        return false;
    }
    if (!copy_text(editing, &held->key,
                   (struct mf_str){ argument, (size_t)(equals - argument) }))
        return false;
    *edit = (struct mf_edit){ .key = held->key.text };
    if (!cut_type(editing, held->key.text, edit, &given))
        return false;
    if (!*edit->key) {
        report_usage(editing->run, "missing key before '=%.60s'", equals + 1);
        return false;
    }
    return (given || guess_type(editing, edit, equals + 1)) &&
           set_value(editing, edit, held, equals + 1);
}
