/* SPDX-License-Identifier: MIT
 *
 * nearest.h - "did you mean": the known word nearest to a mistyped one
 */
#ifndef MF_CLI_NEAREST_H
#define MF_CLI_NEAREST_H

#include <stdbool.h>

struct nearest {
    char hint[96]; /* "; did you mean 'info'?", or "" if nothing is near */
};

/* Compares word with the candidates that next returns until it returns NULL. */
struct nearest nearest_word(const char *word, const char *(*next)(void *state),
                            void *state);

/* The same only for what is likely a slip: at most two letters are wrong, of
 * one that has at least eight, and not only digits.  exact: whether a candidate
 * is the word itself; there is no hint then. */
struct nearest nearest_slip(const char *word, const char *(*next)(void *state),
                            void *state, bool *exact);

#endif
