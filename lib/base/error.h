/* SPDX-License-Identifier: MIT
 *
 * error.h - saying what went wrong, once
 *
 * The first failure of an operation stays: a later mf_fail on the way out
 * does not cover it.  Text from a file goes into messages through mf_quote
 * only, so a message is always printable.
 */
#ifndef MF_LIB_ERROR_H
#define MF_LIB_ERROR_H

#include <inttypes.h>
#include <stdarg.h>

#include "lib/base/reasons.h"
#include "lib/base/rules.h"

#if defined(__GNUC__)
#define MF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define MF_PRINTF(text, first)
#endif

/* Notes the error and returns its status, for `return mf_fail(...)`: where
 * the caller, the system or the memory is at fault. */
enum mf_status mf_fail(struct mf_env *env, enum mf_status status,
                       uint64_t offset, const char *format, ...)
    MF_PRINTF(4, 5);

/* The same where it is the bytes, which cannot be read any further: the rule
 * that they break tells the status. */
enum mf_status mf_refuse(struct mf_env *env, enum mf_rule rule, uint64_t offset,
                         const char *format, ...) MF_PRINTF(4, 5);

/* The same where the caller asked for what cannot be done: the reason gives the
 * status. */
enum mf_status mf_decline(struct mf_env *env, enum mf_reason reason,
                          uint64_t offset, const char *format, ...)
    MF_PRINTF(4, 5);

/* A public call starts without an error. */
void mf_clear_error(struct mf_env *env);

/* MF_ERR_ARGUMENT, which the message says of the argument's name up to its
 * first space; env may be NULL. */
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
