/* SPDX-License-Identifier: MIT
 *
 * formats.c - telling the formats of an env apart
 */
#include "lib/model/formats.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/model/format.h"
#include "lib/model/model.h"

/* ---- naming files that are not models ---- */

/* "Not a model file" does not help a user who has just downloaded an error
 * page. */

struct foreign {
    size_t offset, size;
    const char *bytes, *name, *note;
};

static const struct foreign rows[] = {
#define FOREIGN(offset, bytes, name, note)                                     \
    { offset, sizeof(bytes) - 1, bytes, name, note },
#include "lib/model/foreign.def"
#undef FOREIGN
};

static bool match(const struct mf_head *head, const struct foreign *row)
{
    return head->size >= row->offset + row->size &&
           memcmp(head->at + row->offset, row->bytes, row->size) == 0;
}

static bool all_zero(const struct mf_head *head)
{
    for (size_t i = 0; i < head->size; i++)
        if (head->at[i] != 0)
            return false;
    return head->size > 0;
}

/* True where the head, from `at` on, is word in upper or lower case. */
static bool starts(const struct mf_head *head, size_t at, const char *word)
{
    for (; *word; word++, at++) {
        if (mf_small(at < head->size ? (char)head->at[at] : 0) != *word)
            return false;
    }
    return true;
}

/* Kinds of text that may begin with white space. */
static bool detect_text(const struct mf_head *head, struct mf_detection *out)
{
    size_t at = 0;

    while (at < head->size && memchr(" \t\r\n", head->at[at], 4))
        at++;
    if (at == head->size)
        return false;
    if (starts(head, at, "<!doctype html") || starts(head, at, "<html")) {
        out->format = "html";
        out->note =
            "a web page, often from a download that needs a login or has "
            "failed leaves it";
        return true;
    }
    if (head->at[at] == '{' || head->at[at] == '[') {
        out->format = "json";
        out->note = "JSON, but not a model.safetensors.index.json";
        return true;
    }
    return false;
}

/* Pickles of protocol 2 to 5 begin with their number. */
static bool is_pickle(const struct mf_head *head)
{
    return head->size >= 2 && head->at[0] == 0x80 && head->at[1] >= 2 &&
           head->at[1] <= 5;
}

/* True if the head belongs to a known foreign format: sets out->format and
 * out->note, and leaves the rest. */
static bool mf_foreign_detect(const struct mf_head *head,
                              struct mf_detection *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (match(head, &rows[i])) {
            out->format = rows[i].name;
            out->note = rows[i].note;
            return true;
        }
    if (is_pickle(head)) {
        out->format = "pickle";
        out->note = "a Python pickle, which runs programs when it is loaded; "
                    "convert it to safetensors";
        return true;
    }
    if (all_zero(head)) {
        out->format = "zeros";
        out->note = "nothing but zeros at the start, as a download leaves "
                    "that reserved its space and was never filled";
        return true;
    }
    return detect_text(head, out);
}

/* ---- telling the formats of an env apart ---- */

void mf_formats_text(const struct mf_format *const *formats, bool suffixes,
                     char *out, size_t room)
{
    size_t left = 0, used = 0;

    for (size_t i = 0; formats[i]; i++)
        left += formats[i]->written;
    out[0] = 0;
    for (size_t i = 0; formats[i] && used < room; i++)
        if (formats[i]->written) {
            left--;
            used += (size_t)snprintf(out + used, room - used, "%s%s",
                                     suffixes ? formats[i]->suffix
                                              : formats[i]->name,
                                     left > 1    ? ", "
                                     : left == 1 ? " or "
                                                 : "");
        }
}

const struct mf_format *mf_format_list_of(const struct mf_env *env,
                                          const struct mf_format *format)
{
    for (size_t i = 0; env->formats[i]; i++)
        if (format->sharding == MF_SHARDING_LISTED && env->formats[i]->list &&
            strcmp(env->formats[i]->name, format->name) == 0)
            return env->formats[i];
    return NULL;
}

/* Many file systems take MODEL.GGUF for model.gguf. */
static bool has_suffix(const char *name, const char *suffix)
{
    size_t size = strlen(name), tail = strlen(suffix);

    return size > tail &&
           mf_str_alike((struct mf_str){ name + size - tail, tail },
                        (struct mf_str){ suffix, tail });
}

static bool claims(const struct mf_format *format, const char *name)
{
    const char *const *more = format->more_suffixes;

    if (!format->accessory && has_suffix(name, format->suffix))
        return true;
    for (; more && *more; more++)
        if (has_suffix(name, *more))
            return true;
    return false;
}

const struct mf_format *mf_format_of_name(const struct mf_env *env,
                                          const char *name)
{
    for (size_t i = 0; env->formats[i]; i++)
        if (claims(env->formats[i], name))
            return env->formats[i];
    return NULL;
}

static bool wants_tail(const struct mf_env *env, const struct mf_head *head)
{
    for (size_t i = 0; env->formats[i]; i++) {
        const char *const *magic = env->formats[i]->tail_after;

        for (; magic && *magic && head->size >= 4; magic++)
            if (memcmp(head->at, *magic, 4) == 0)
                return true;
    }
    return false;
}

static enum mf_status read_tail(struct mf_env *env,
                                const struct mf_source *source,
                                struct mf_head *out)
{
    size_t size =
        source->size < MF_TAIL_SIZE ? (size_t)source->size : MF_TAIL_SIZE;

    out->tail = mf_alloc(env, size);
    if (!out->tail)
        return env->error.status;
    out->tail_size = size;
    if (mf_source_read(env, source, source->size - size, out->tail, size) ==
        MF_OK)
        return MF_OK;
    mf_head_release(env, out);
    return env->error.status;
}

enum mf_status mf_head_read(struct mf_env *env, const struct mf_source *source,
                            uint8_t *bytes, struct mf_head *out)
{
    *out = (struct mf_head){ .at = bytes, .file_size = source->size };
    out->size =
        source->size < MF_HEAD_SIZE ? (size_t)source->size : MF_HEAD_SIZE;
    if (mf_source_read(env, source, 0, bytes, out->size) != MF_OK)
        return env->error.status;
    return wants_tail(env, out) ? read_tail(env, source, out) : MF_OK;
}

void mf_head_release(struct mf_env *env, struct mf_head *head)
{
    mf_release(env, head->tail, head->tail_size);
    head->tail = NULL;
    head->tail_size = 0;
}

static void unknown_bytes(struct mf_env *env, const struct mf_head *head)
{
    char hex[3 * 16 + 1] = "";
    size_t shown = head->size < 16 ? head->size : 16;

    for (size_t i = 0; i < shown; i++)
        snprintf(hex + 3 * i, 4, " %02x", head->at[i]);
    if (head->size == 0)
        mf_refuse(env, MF_RULE_FILE_FORMAT, 0, "the file is empty");
    else
        mf_refuse(env, MF_RULE_FILE_FORMAT, 0,
                  "not a recognized model format; the first bytes are%s", hex);
}

const struct mf_format *mf_format_detect(struct mf_env *env,
                                         const struct mf_head *head,
                                         struct mf_detection *out)
{
    for (size_t i = 0; env->formats[i]; i++) {
        *out = (struct mf_detection){ .format = env->formats[i]->name,
                                      .variant = env->formats[i]->variant,
                                      .note = "",
                                      .supported = true,
                                      .size = head->file_size };
        if (env->formats[i]->probe(head, out))
            return env->formats[i];
    }
    *out = (struct mf_detection){ .variant = "",
                                  .note = "",
                                  .size = head->file_size };
    if (!mf_foreign_detect(head, out))
        unknown_bytes(env, head);
    return NULL;
}

static enum mf_status detect(struct mf_env *env, const struct mf_source *source,
                             struct mf_detection *out)
{
    uint8_t bytes[MF_HEAD_SIZE];
    struct mf_detection found;
    struct mf_head head = { 0 };

    if (mf_head_read(env, source, bytes, &head) == MF_OK)
        mf_format_detect(env, &head, &found);
    mf_head_release(env, &head);
    if (env->error.status == MF_OK)
        *out = found;
    return env->error.status;
}

enum mf_status mf_file_detect(struct mf_env *env, const char *path,
                              struct mf_detection *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, out);

    struct mf_source source = { 0 };
    struct mf_timed timed;
    enum mf_status status;

    mf_clear_error(env);
    timed = mf_timed_begin(env, MF_PHASE_OPEN);
    status = mf_source_open_file(env, path, &source, NULL);
    if (status == MF_OK)
        status = detect(env, &source, out);
    mf_source_close(&source);
    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_bytes_detect(struct mf_env *env, const void *bytes,
                               size_t size, uint64_t file_size,
                               struct mf_detection *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, bytes || size == 0);
    MF_NEED(env, out);

    struct mf_source source;

    mf_clear_error(env);
    if (mf_source_open_beginning(env, "", bytes, size, file_size, &source) !=
        MF_OK)
        return env->error.status;
    return detect(env, &source, out);
}
