/* SPDX-License-Identifier: MIT
 *
 * nearest.h - "did you mean": the known word nearest to a mistyped one
 */
#ifndef MF_CLI_NEAREST_H
#define MF_CLI_NEAREST_H

struct nearest {
    char hint[96]; /* "; did you mean 'info'?", or "" if nothing is near */
};

/* Compares word with the candidates that next returns until it returns NULL. */
struct nearest nearest_word(const char *word, const char *(*next)(void *state),
                            void *state);

#endif
