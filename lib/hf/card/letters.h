/* SPDX-License-Identifier: MIT
 *
 * letters.h - letters of all scripts, and those that begin a word
 */
#ifndef MF_LIB_LETTERS_H
#define MF_LIB_LETTERS_H

#include "lib/base/heap.h"

enum mf_case { MF_CASE_NONE, MF_CASE_LOWER, MF_CASE_UPPER };

bool mf_letter_is(uint32_t code);
enum mf_case mf_letter_case(uint32_t code);

/* White space, as Python's split() has it. */
bool mf_letter_is_space(uint32_t code);

/* A small letter as it is at the start of a word, as UTF-8; returns its size.
 * Others stay. */
#define MF_LETTER_MAX 8
size_t mf_letter_begin(uint32_t code, char out[MF_LETTER_MAX]);

#endif
