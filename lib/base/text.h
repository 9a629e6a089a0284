/* SPDX-License-Identifier: MIT
 *
 * text.h - UTF-8, character by character
 */
#ifndef MF_LIB_TEXT_H
#define MF_LIB_TEXT_H

#include "lib/program.h"

/* Length (1 to 4) of the well-formed UTF-8 character that starts text, its
 * code point in *code; 0 where the bytes are not one (overlong, surrogate,
 * above U+10FFFF, cut off).  size > 0. */
size_t mf_utf8_next(const char *at, size_t size, uint32_t *code);

/* Writes code as UTF-8 into out; returns its length. */
size_t mf_utf8_put(uint32_t code, char out[4]);

/* In byte-level BPE, as GPT-2 began it, a character stands for each byte:
 * printable ones for themselves, the others from U+0100 on in their order: 0 to
 * 32, 127 to 160, and 173.  mf_char_byte: -1: the code stands for none. */
uint32_t mf_byte_char(uint8_t byte);
int mf_char_byte(uint32_t code);

/* Length of text without a character that its end cuts off: what may be shown
 * now when more bytes follow.  Text that is not UTF-8 there is left whole. */
size_t mf_utf8_whole(const char *at, size_t size);

/* out gets text escaped as mf_text_escape does, cut with "..." to fit,
 * terminated; capacity at least 16. */
void mf_text_escape_all(struct mf_str text, char *out, size_t capacity);

#endif
