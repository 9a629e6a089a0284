/* SPDX-License-Identifier: MIT
 *
 * scan.h - what the bytes of a template show, without its grammar
 *
 * Every byte is searched for invisible characters.  Addresses, special tokens
 * and words are looked for in literals only: text outside of tags, and strings.
 * Comments reach no model.
 */
#ifndef MF_LIB_TEMPLATE_SCAN_H
#define MF_LIB_TEMPLATE_SCAN_H

#include "lib/template/template.h"

struct mf_template_scan {
    struct mf_template_report *report;
    /* the character being read */
    uint32_t code, before; /* before: the one that came before it */
    unsigned left;         /* bytes to come of it */
    struct mf_template_place start;
    /* the literal being read */
    uint64_t words; /* of all literals so far */
    unsigned letters, wide;
    bool alone;     /* what came before may precede a word */
    char scheme[8]; /* letters before "://" */
    unsigned scheme_size, slashes;
    bool in_url;
    char token[MF_TEMPLATE_TOKEN_SIZE];
    unsigned token_size;
    struct mf_template_place token_place;
};

/* One more byte of the template, wherever it is. */
void mf_template_scan_byte(struct mf_template_scan *scan, uint8_t byte,
                           const struct mf_template_place *place);

/* A character that a string's escape stands for. */
void mf_template_scan_code(struct mf_template_scan *scan, uint32_t code,
                           const struct mf_template_place *place);

/* A literal begins; one more byte of it. */
void mf_template_scan_begin(struct mf_template_scan *scan);
void mf_template_scan_literal(struct mf_template_scan *scan, char byte,
                              const struct mf_template_place *place);

/* Counts what belongs to a flag, and keeps the first. */
void mf_template_flag(struct mf_template_report *report,
                      enum mf_template_flag flag,
                      const struct mf_template_place *place, struct mf_str text,
                      uint32_t detail);

#endif
