/* SPDX-License-Identifier: MIT
 *
 * meta_set.c - modelfile meta set and unset: changing metadata in a file
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const struct option meta_set_options[] = {
    { "--reserve", OPTION_SIZE, "SIZE", 0, offsetof(struct options, reserve),
      "writes the file anew, with room in its header for later edits" },
    { "--dry-run", OPTION_FLAG, NULL, 0, offsetof(struct options, dry_run),
      "says what would be done" },
    OPTIONS_LONG,
    { 0 },
};

/* What an edit takes from the heap until it is done. */
struct held {
    char *text; /* of a file, or a list being cut */
    size_t text_size;
    void *elements;
    size_t elements_size;
};

struct editing {
    struct run *run;
    const char *path, *format;
    struct mf_model *model; /* as it was; NULL once it is closed */
    struct mf_edit *edit;
    struct held *held;
    size_t count;
};

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

/* Cuts ":type" or ":type[]" off the key; false where it has none. */
static bool cut_type(char *key, struct mf_edit *edit)
{
    char *colon = strrchr(key, ':');
    size_t size = colon ? strlen(colon + 1) : 0;
    bool array = size > 2 && strcmp(colon + size - 1, "[]") == 0;
    enum mf_value_type type;

    if (!colon || !type_named(colon + 1, size - (array ? 2 : 0), &type))
        return false;
    edit->type = array ? MF_VALUE_ARRAY : type;
    edit->of = type;
    *colon = 0;
    return true;
}

static bool is_integer(const char *value)
{
    value += *value == '-';
    return *value && strspn(value, "0123456789") == strlen(value);
}

static bool is_float(const char *value)
{
    char *end;

    (void)strtod(value, &end);
    return *value && !*end && strspn(value, "+-.0123456789") > 0;
}

/* What a value without a type is: what stands there, or what it looks like. */
static void guess_type(const struct editing *editing, struct mf_edit *edit,
                       const char *value)
{
    bool json = strcmp(editing->format, "gguf") != 0;
    struct mf_meta meta;

    edit->type = MF_VALUE_STRING;
    if (mf_meta_find(editing->model, edit->key, strlen(edit->key), &meta,
                     NULL) &&
        meta.type <= MF_VALUE_F64) {
        edit->type = meta.type;
        edit->of = meta.of;
        return;
    }
    if (strcmp(editing->format, "safetensors") == 0)
        return; /* there all are strings */
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        edit->type = MF_VALUE_BOOL;
    else if (is_integer(value) && *value == '-')
        edit->type = json || strlen(value) > 10 ? MF_VALUE_I64 : MF_VALUE_I32;
    else if (is_integer(value))
        edit->type = json || strlen(value) > 9 ? MF_VALUE_U64 : MF_VALUE_U32;
    else if (is_float(value))
        edit->type = json ? MF_VALUE_F64 : MF_VALUE_F32;
}

/* ---- values ---- */

static bool bad_value(struct editing *editing, const struct mf_edit *edit,
                      const char *value, enum mf_value_type type)
{
    report_usage(editing->run, "'%.60s' cannot be '%.60s': that is no %s",
                 edit->key, value, mf_value_type_name(type));
    return false;
}

static bool parse_unsigned(const char *value, unsigned bits, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, 0);
    return *value >= '0' && *value <= '9' && !*end && errno == 0 &&
           (bits == 64 || *out >> bits == 0);
}

static bool parse_signed(const char *value, unsigned bits, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(value, &end, 0);
    return is_integer(value) && !*end && errno == 0 &&
           (bits == 64 || (*out >= -(INT64_C(1) << (bits - 1)) &&
                           *out < INT64_C(1) << (bits - 1)));
}

static bool parse_number(const char *value, enum mf_value_type type,
                         union mf_number *out)
{
    char *end;

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
        out->f64 = type == MF_VALUE_F32 ? (double)strtof(value, &end)
                                        : strtod(value, &end);
        return *value && !*end;
    }
}

/* The file behind "@", terminated, its last line end cut off. */
static bool read_file(struct editing *editing, const char *path,
                      struct held *held)
{
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 0;
    bool failed = !file;

    while (!failed && size == room) {
        size_t more = room > 0 ? room * 2 : 4096;
        char *moved =
            mf_resize(editing->run->env, held->text, held->text_size, more);

        failed = !moved;
        if (failed)
            break;
        held->text = moved;
        held->text_size = room = more;
        size += fread(held->text + size, 1, room - size, file);
    }
    if (file && ferror(file))
        failed = true;
    if (failed)
        report_input(editing->run, path, "%s", strerror(errno));
    else
        held->text[size - (size > 0 && held->text[size - 1] == '\n')] = 0;
    if (file)
        fclose(file);
    return !failed;
}

/* Cuts the list at its separators, "\," being none; returns how many parts. */
static size_t cut_list(char *text, char separator)
{
    size_t count = *text ? 1 : 0;
    char *to = text;

    for (char *from = text; *from; from++) {
        if (separator == ',' && *from == '\\' &&
            (from[1] == ',' || from[1] == '\\')) {
            *to++ = *++from;
        } else if (*from == separator) {
            *to++ = 0;
            count++;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return count;
}

static bool set_elements(struct editing *editing, struct mf_edit *edit,
                         struct held *held, char separator)
{
    size_t count = cut_list(held->text, separator);
    size_t each = edit->of == MF_VALUE_STRING ? sizeof(struct mf_str)
                                              : sizeof(union mf_number);
    const char *part = held->text;

    edit->count = count;
    edit->elements = held->text; /* not NULL where there are none */
    if (count == 0)
        return true;
    held->elements_size = count * each;
    held->elements = mf_resize(editing->run->env, NULL, 0, held->elements_size);
    if (!held->elements) {
        report_failure(editing->run, editing->path);
        return false;
    }
    edit->elements = held->elements;
    for (size_t i = 0; i < count; i++, part += strlen(part) + 1) {
        if (edit->of == MF_VALUE_STRING)
            ((struct mf_str *)held->elements)[i] = str_of(part);
        else if (!parse_number(part, edit->of,
                               &((union mf_number *)held->elements)[i]))
            return bad_value(editing, edit, part, edit->of);
    }
    return true;
}

static bool hold_text(struct editing *editing, struct held *held,
                      const char *value)
{
    held->text_size = strlen(value) + 1;
    held->text = mf_resize(editing->run->env, NULL, 0, held->text_size);
    if (held->text)
        memcpy(held->text, value, held->text_size);
    else
        report_failure(editing->run, editing->path);
    return held->text != NULL;
}

/* "@file" is what the file holds, "@@x" is "@x". */
static bool set_value(struct editing *editing, struct mf_edit *edit,
                      struct held *held, const char *value)
{
    bool file = value[0] == '@' && value[1] != '@';

    value += value[0] == '@';
    if (file && !read_file(editing, value, held))
        return false;
    if (file)
        value = held->text;
    if (edit->type == MF_VALUE_STRING) {
        edit->text = str_of(value);
        return true;
    }
    if (edit->type != MF_VALUE_ARRAY)
        return parse_number(value, edit->type, &edit->number) ||
               bad_value(editing, edit, value, edit->type);
    if (!file && !hold_text(editing, held, value))
        return false;
    return set_elements(editing, edit, held, file ? '\n' : ',');
}

/* ---- the edits ---- */

static bool take_edit(struct editing *editing, char *argument, size_t at)
{
    struct mf_edit *edit = &editing->edit[at];
    bool unset = strcmp(editing->run->command->sub, "unset") == 0;
    char *equals = strchr(argument, '=');
    bool typed;

    *edit = (struct mf_edit){ .key = argument, .unset = unset };
    if (unset) {
        if (mf_meta_find(editing->model, argument, strlen(argument),
                         &(struct mf_meta){ 0 }, NULL))
            return true;
        report_no(editing->run, "%.200s: there is no key '%.200s'",
                  editing->path, argument);
        return false;
    }
    if (!equals || equals == argument) {
        report_usage(editing->run, "'%.60s' is no KEY=VALUE", argument);
        return false;
    }
    *equals = 0;
    typed = cut_type(argument, edit);
    if (!typed)
        guess_type(editing, edit, equals + 1);
    return set_value(editing, edit, &editing->held[at], equals + 1);
}

static void show(struct run *run, const struct mf_edit_result *result)
{
    if (run->options.json) {
        json_bool(run, "in_place", result->in_place);
        json_bool(run, "journalled", result->journalled);
        json_number(run, "changed_bytes", result->changed);
        json_bool(run, "written", !run->options.dry_run);
        return;
    }
    out_escaped(&run->out, str_of(run->operand[0]), "");
    if (result->in_place && result->changed == 0)
        out_line(&run->out, ": nothing to change");
    else if (result->in_place)
        out_format(&run->out, ": %" PRIu64 " bytes changed in place%s\n",
                   result->changed,
                   run->options.dry_run ? " (not written)" : "");
    else
        out_format(&run->out, ": written anew, %s%s\n",
                   size_text(result->changed).at,
                   run->options.dry_run ? " (not written)" : "");
}

static void apply(struct editing *editing)
{
    struct run *run = editing->run;
    struct mf_edit_options options = { .reserve = run->options.reserve,
                                       .dry_run = run->options.dry_run };
    struct mf_edit_result result;

    if (mf_edit_file(run->env, editing->path, editing->edit, editing->count,
                     &options, &result) == MF_OK)
        show(run, &result);
    else
        report_failure(run, editing->path);
}

/* The types of what stands there are looked up before anything is done. */
static bool take_edits(struct editing *editing)
{
    struct mf_open_options options = { .shards = MF_SHARDS_ALONE,
                                       .metadata_only = true };
    struct run *run = editing->run;
    bool taken = true;

    if (mf_open(run->env, editing->path, &options, &editing->model) != MF_OK) {
        report_failure(run, editing->path);
        return false;
    }
    run->size = mf_model_info(editing->model)->file_size;
    editing->format = mf_model_info(editing->model)->format;
    for (size_t i = 0; i < editing->count && taken; i++)
        taken = take_edit(editing, run->operand[1 + i], i);
    mf_close(editing->model);
    return taken;
}

static void release(struct editing *editing)
{
    struct mf_env *env = editing->run->env;

    for (size_t i = 0; i < editing->count; i++) {
        struct held *held = &editing->held[i];

        if (held->text)
            mf_resize(env, held->text, held->text_size, 0);
        if (held->elements)
            mf_resize(env, held->elements, held->elements_size, 0);
    }
}

#define EDITS_MAX 256

void command_meta_set(struct run *run)
{
    static struct mf_edit edits[EDITS_MAX];
    static struct held held[EDITS_MAX];
    struct editing editing = { .run = run,
                               .path = run->operand[0],
                               .edit = edits,
                               .held = held,
                               .count = run->operand_count - 1 };

    if (!inputs_editable(run, editing.path))
        return;
    if (editing.count > EDITS_MAX) {
        report_usage(run, "at most %d keys can be changed at once", EDITS_MAX);
        return;
    }
    if (run->options.json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(editing.path));
    }
    if (take_edits(&editing))
        apply(&editing);
    release(&editing);
    if (run->options.json) {
        report_json(run);
        mf_json_end(&run->json, '}');
        out_text(&run->out, "\n");
    }
}
