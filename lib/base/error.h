/* SPDX-License-Identifier: MIT
 *
 * error.h - the error of an env
 *
 * The room base/ has what every other room builds on: errors, counted memory,
 * text, names, sorting, and work shared by threads.  It does not know files.
 *
 * The first failure of an operation is kept: a later mf_fail on the way out
 * does not replace it, so a function may fail in its cleanup without checks.
 * Text from a file reaches messages through mf_quote only, so that a message is
 * always printable.  Error codes with a table of sentences were not enough: a
 * message has to name the value found and the bound that it broke.
 */
#ifndef MF_LIB_ERROR_H
#define MF_LIB_ERROR_H

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include "lib/base/rules.h"
#include "lib/modelfile.h"

/* ---- why a request is refused although the bytes are fine ---- */

enum mf_reason {
#define REASON(NAME, id, status, meaning) MF_REASON_##NAME,
#include "lib/base/reasons.def"
#undef REASON
    MF_REASON_COUNT
};

extern const struct mf_reason_info mf_reasons[MF_REASON_COUNT];

/* ---- the error of an env ---- */

#if defined(__GNUC__)
#if defined(__MINGW32__) /* where plain printf is Microsoft's */
#define MF_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define MF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
#else
#define MF_PRINTF(text, first)
#endif

/* What a call of the system that failed with that errno is: a folder cannot be
 * listed without memory, either. */
static inline enum mf_status mf_status_of(int number)
{
    return number == ENOMEM ? MF_ERR_MEMORY : MF_ERR_IO;
}

/* Sets the error and returns its status, for `return mf_fail(...)`.  For faults
 * of the caller, the system or the memory. */
enum mf_status mf_fail(struct mf_env *env, enum mf_status status,
                       uint64_t offset, const char *format, ...)
    MF_PRINTF(4, 5);

/* The same for a call of the system that failed with errno `number`; the
 * message has its text. */
enum mf_status mf_fail_system(struct mf_env *env, enum mf_status status,
                              uint64_t offset, int number, const char *format,
                              ...) MF_PRINTF(5, 6);

/* What strerror says in the C locale; see errnos.def. */
const char *mf_errno_text(int number);

/* Names the file that the error of the env, if there is one, is about.  The
 * first name stays.  Returns the status. */
enum mf_status mf_error_about(struct mf_env *env, const char *path);

/* As mf_fail, for bytes that cannot be read any further: the status comes from
 * the rule that they break. */
enum mf_status mf_refuse(struct mf_env *env, enum mf_rule rule, uint64_t offset,
                         const char *format, ...) MF_PRINTF(4, 5);

/* As mf_fail, for a request that cannot be done: the status is the reason's. */
enum mf_status mf_decline(struct mf_env *env, enum mf_reason reason,
                          uint64_t offset, const char *format, ...)
    MF_PRINTF(4, 5);

/* A public call starts without an error. */
void mf_clear_error(struct mf_env *env);

/* MF_ERR_ARGUMENT with a message that names the argument (up to the first space
 * of the text); env may be NULL. */
enum mf_status mf_missing(struct mf_env *env, const char *argument);

/* The first lines of a public function: ends it where the argument is NULL. */
#define MF_NEED(env, argument)                                                 \
    do {                                                                       \
        if (!(argument))                                                       \
            return mf_missing(env, #argument);                                 \
    } while (0)

/* A name from a file, made fit for a message: escaped, cut at 100 bytes.
 * Returned by value, so it lives to the end of the full expression:
 *     mf_fail(env, ..., "tensor '%s' ...", mf_quote(name).text) */
struct mf_quoted {
    char text[128];
};
struct mf_quoted mf_quote(struct mf_str text);

#endif
