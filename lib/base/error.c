/* SPDX-License-Identifier: MIT
 *
 * error.c - saying what went wrong, once
 */
#include "lib/base/error.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/heap.h"
#include "lib/base/text.h"

/* ---- why a request is refused although the bytes are fine ---- */

#define ROW(name, error, text) { .id = name, .status = error, .meaning = text },

const struct mf_reason_info mf_reasons[MF_REASON_COUNT] = {
#define REASON(NAME, id, status, meaning) ROW(id, MF_ERR_##status, meaning)
#include "lib/base/reasons.def"
#undef REASON
};
#undef ROW

bool mf_reason_at(size_t index, struct mf_reason_info *out)
{
    if (!out || index >= MF_REASON_COUNT)
        return false;
    *out = mf_reasons[index];
    return true;
}

/* ---- saying what went wrong, once ---- */

const char *mf_status_name(enum mf_status status)
{
    static const char *const names[] = {
        [MF_OK] = "ok",
        [MF_ERR_ARGUMENT] = "argument",
        [MF_ERR_IO] = "io",
        [MF_ERR_MEMORY] = "memory",
        [MF_ERR_LIMIT] = "limit",
        [MF_ERR_FORMAT] = "format",
        [MF_ERR_CORRUPT] = "corrupt",
        [MF_ERR_UNSUPPORTED] = "unsupported",
        [MF_ERR_OUTPUT] = "output",
        [MF_ERR_STOPPED] = "stopped",
        [MF_NEED_MORE] = "need more",
    };

    return (unsigned)status < sizeof(names) / sizeof(*names) ? names[status]
                                                             : "unknown";
}

const char *mf_version(void)
{
    return MF_VERSION_STRING;
}

/* The first failure is kept. */
static void note(struct mf_env *env, enum mf_status status, const char *rule,
                 uint64_t offset, int number, const char *format,
                 va_list arguments)
{
    struct mf_error *error = &env->error;

    if (error->status != MF_OK)
        return;
    error->system = number;
    error->status = status;
    error->offset = offset;
    error->rule = rule;
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    /* A cut must not leave half a character. */
    error->message[mf_utf8_whole(error->message, strlen(error->message))] = 0;
}

enum mf_status mf_fail(struct mf_env *env, enum mf_status status,
                       uint64_t offset, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    note(env, status, "", offset, 0, format, arguments);
    va_end(arguments);
    return env->error.status;
}

enum mf_status mf_fail_system(struct mf_env *env, enum mf_status status,
                              uint64_t offset, int number, const char *format,
                              ...)
{
    va_list arguments;

    va_start(arguments, format);
    note(env, status, "", offset, number, format, arguments);
    va_end(arguments);
    return env->error.status;
}

const char *mf_errno_text(int number)
{
    static const struct {
        int number;
        const char *text;
    } rows[] = {
#define ERRNO(name, text) { name, text },
#include "lib/base/errnos.def"
#undef ERRNO
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].number == number)
            return rows[i].text;
    return "unknown error of the system";
}

enum mf_status mf_error_about(struct mf_env *env, const char *path)
{
    struct mf_error *error = &env->error;
    size_t size = path ? strlen(path) + 1 : 0;

    if (size > sizeof(error->path)) {
        path = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        size = strlen(path) + 1;
    }
    if (error->status != MF_OK && !*error->path && size > 0 &&
        size <= sizeof(error->path))
        memcpy(error->path, path, size);
    return error->status;
}

enum mf_status mf_decline(struct mf_env *env, enum mf_reason reason,
                          uint64_t offset, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    note(env, mf_reasons[reason].status, mf_reasons[reason].id, offset, 0,
         format, arguments);
    va_end(arguments);
    return env->error.status;
}

enum mf_status mf_refuse(struct mf_env *env, enum mf_rule rule, uint64_t offset,
                         const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    note(env, mf_rule_status(rule), mf_rules[rule].id, offset, 0, format,
         arguments);
    va_end(arguments);
    return env->error.status;
}

void mf_clear_error(struct mf_env *env)
{
    env->error.status = MF_OK;
    env->error.offset = MF_NO_OFFSET;
    env->error.message[0] = 0;
    env->error.needed = 0;
    env->error.system = 0;
    env->error.path[0] = 0;
    env->error.rule = "";
    env->error.file = MF_ERROR_IN_MODEL;
}

enum mf_status mf_missing(struct mf_env *env, const char *argument)
{
    if (!env)
        return MF_ERR_ARGUMENT;
    mf_clear_error(env);
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET, "'%.*s' is NULL",
                   (int)strcspn(argument, " "), argument);
}

const struct mf_error *mf_env_error(const struct mf_env *env)
{
    static const struct mf_error none = { .status = MF_ERR_ARGUMENT,
                                          .offset = MF_NO_OFFSET,
                                          .message = "there is no env",
                                          .rule = "" };

    return env ? &env->error : &none;
}

struct mf_quoted mf_quote(struct mf_str text)
{
    struct mf_quoted quoted;

    /* 100 bytes of a name are enough to know it by, and leave a message room
     * for two names and four numbers. */
    mf_text_escape_all(text, quoted.text, 104);
    return quoted;
}
