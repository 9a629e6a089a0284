/* SPDX-License-Identifier: MIT
 *
 * changes.c - what edits change, and which of them look like a mistake
 */
#include "cli/commands/meta/meta.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/describe.h"
#include "cli/json.h"
#include "cli/nearest.h"
#include "cli/report.h"
#include "cli/value.h"

/* ---- mistakes ---- */

struct warning {
    char text[600]; /* "" if all is well */
};

/* Only a text can be meant to be the content of a file. */
static bool names_file(const struct mf_edit *edit)
{
    struct mf_str text = edit->text;
    struct stat status;
    char path[256];

    if (edit->unset || edit->type != MF_VALUE_STRING || text.size == 0 ||
        text.size >= sizeof(path) || memchr(text.at, 0, text.size))
        return false;
    memcpy(path, text.at, text.size);
    path[text.size] = 0;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The keys of the model, then those that programs know. */
struct each_key {
    const struct mf_model *model;
    size_t index;
    struct mf_known_keys known;
};

static const char *next_key(void *state)
{
    struct each_key *each = state;
    struct mf_meta meta;

    if (mf_meta_at(each->model, each->index, &meta)) {
        each->index++;
        return meta.key.at;
    }
    return mf_known_key_next(&each->known);
}

/* A known key that ends with the word: "chat_template". */
static struct nearest known_end(struct each_key each, const char *word)
{
    struct nearest nearest = { "" };
    size_t size = strlen(word);
    const char *key;

    while (!*nearest.hint && (key = next_key(&each)) != NULL) {
        size_t whole = strlen(key);

        if (whole > size + 1 && key[whole - size - 1] == '.' &&
            strcmp(key + whole - size, word) == 0)
            snprintf(nearest.hint, sizeof(nearest.hint),
                     "; did you mean '%.60s'?", key);
    }
    return nearest;
}

static struct nearest near_key(const struct editing *editing, const char *key)
{
    struct each_key each = { .model = editing->model,
                             .known = { .model = editing->model } };
    struct each_key again = each;
    bool exact;
    struct nearest nearest = nearest_slip(key, next_key, &again, &exact);

    return exact || *nearest.hint ? nearest : known_end(each, key);
}

static struct warning warning_of(const struct editing *editing,
                                 const struct mf_edit *edit)
{
    struct warning warning = { "" };
    const char *type, *hint;
    struct mf_meta meta;
    size_t at;

    if (names_file(edit)) {
        snprintf(warning.text, sizeof(warning.text),
                 "warning: the value of '%.100s' is the text '%.*s', which is "
                 "also the name of a file: '@%.*s' is its content",
                 edit->key, (int)edit->text.size, edit->text.at,
                 (int)edit->text.size, edit->text.at);
        return warning;
    }
    if (edit->unset || edit_value_find(editing, edit->key, &meta, &at, &type))
        return warning;
    hint = near_key(editing, edit->key).hint;
    if (*hint)
        snprintf(warning.text, sizeof(warning.text),
                 "warning: '%.200s' is a new key%s", edit->key, hint);
    return warning;
}

void changes_warn(const struct editing *editing)
{
    for (size_t i = 0; i < editing->count; i++) {
        struct warning warning = warning_of(editing, &editing->edit[i]);

        if (*warning.text)
            report_remark(editing->run, editing->path, warning.text);
    }
}

/* ---- old and new values ---- */

static struct type_text edit_type(const struct mf_edit *edit)
{
    struct mf_meta meta = { .type = edit->type,
                            .of = edit->of,
                            .count = edit->count };

    return type_text(&meta);
}

/* key: "old" → "new"; the type if it differs from the old value's. */
static void change_text(const struct editing *editing,
                        const struct mf_edit *edit)
{
    struct out *out = &editing->run->out;
    struct mf_meta meta;
    const char *type;
    size_t at;
    bool old = edit_value_find(editing, edit->key, &meta, &at, &type);

    out_escaped(out, str_of(edit->key), "");
    out_text(out, ": ");
    if (old)
        value_text(editing->run, editing->model, at, false);
    else
        out_text(out, "(not set)");
    out_text(out, " → ");
    if (edit->unset) {
        out_text(out, "(not set)");
    } else {
        value_edit_text(editing->run, edit);
        if (!old || meta.type != edit->type ||
            (meta.type == MF_VALUE_ARRAY && meta.of != edit->of))
            out_format(out, " (%s)", edit_type(edit).at);
    }
    out_text(out, "\n");
}

static void change_json(const struct editing *editing,
                        const struct mf_edit *edit)
{
    struct run *run = editing->run;
    struct mf_json_out *json = &run->json;
    struct warning warning = warning_of(editing, edit);
    struct mf_meta meta;
    const char *type;
    size_t at;

    mf_json_begin(json, '{');
    json_str(run, "key", str_of(edit->key));
    mf_json_key(json, "old");
    if (edit_value_find(editing, edit->key, &meta, &at, &type)) {
        mf_json_begin(json, '{');
        value_json(run, editing->model, at, false);
        mf_json_end(json, '}');
    } else {
        mf_json_null(json);
    }
    mf_json_key(json, "new");
    if (edit->unset) {
        mf_json_null(json);
    } else {
        mf_json_begin(json, '{');
        value_edit_json(run, edit);
        mf_json_end(json, '}');
    }
    mf_json_key(json, "warning");
    if (*warning.text)
        mf_json_string(json, warning.text, strlen(warning.text));
    else
        mf_json_null(json);
    mf_json_end(json, '}');
}

struct collected {
    struct run *run;
    struct buffer *buffer;
    bool failed;
};

static void collect(void *user, const char *at, size_t size)
{
    struct collected *collected = user;

    collected->failed =
        collected->failed ||
        !buffer_add(collected->run, collected->buffer, at, size);
}

bool changes_show(const struct editing *editing, struct buffer *text)
{
    struct run *run = editing->run;
    struct collected collected = { .run = run, .buffer = text };
    struct out *out = &run->out;
    void (*before)(void *user) = out->before;
    void *user = out->user;

    if (run->options->json) {
        mf_json_key(&run->json, "changes");
        mf_json_begin(&run->json, '[');
        for (size_t i = 0; i < editing->count; i++)
            change_json(editing, &editing->edit[i]);
        mf_json_end(&run->json, ']');
        return true;
    }
    out_flush(out);
    out->before = NULL;
    out->sink = collect;
    out->user = &collected;
    for (size_t i = 0; i < editing->count; i++)
        change_text(editing, &editing->edit[i]);
    out_flush(out);
    out->sink = NULL;
    out->user = user;
    out->before = before;
    if (collected.failed)
        report_failure(run, editing->path);
    return !collected.failed;
}
