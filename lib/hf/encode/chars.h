/* SPDX-License-Identifier: MIT
 *
 * chars.h - the characters that texts may have, and sets of them
 */
#ifndef MF_LIB_CHARS_H
#define MF_LIB_CHARS_H

#include "lib/base/error.h"

#define MF_CHAR_OTHER UINT32_MAX

enum mf_category {
    MF_CATEGORY_Cc,
    MF_CATEGORY_Cf,
    MF_CATEGORY_Ll,
    MF_CATEGORY_Lo,
    MF_CATEGORY_Lu,
    MF_CATEGORY_Mc,
    MF_CATEGORY_Mn,
    MF_CATEGORY_Nd,
    MF_CATEGORY_No,
    MF_CATEGORY_Pc,
    MF_CATEGORY_Pd,
    MF_CATEGORY_Pe,
    MF_CATEGORY_Pf,
    MF_CATEGORY_Pi,
    MF_CATEGORY_Po,
    MF_CATEGORY_Ps,
    MF_CATEGORY_Sc,
    MF_CATEGORY_Sk,
    MF_CATEGORY_Sm,
    MF_CATEGORY_So,
    MF_CATEGORY_Zs
};

enum mf_script {
    MF_SCRIPT_Common,
    MF_SCRIPT_Inherited,
    MF_SCRIPT_Latin,
    MF_SCRIPT_Cyrillic,
    MF_SCRIPT_Khmer,
    MF_SCRIPT_Han
};

struct mf_char { /* a row of chars.def */
    uint32_t code;
    enum mf_category category;
    enum mf_script script;
    bool space, parts;
    uint32_t lower, compat;
};

#define MF_CHARS   367
#define MF_NO_CHAR UINT16_MAX

extern const struct mf_char mf_chars[MF_CHARS];

/* The row of a character; MF_NO_CHAR where it has none. */
uint16_t mf_char_find(uint32_t code);

/* The row of the character that begins text, which has size bytes left; its
 * length in *taken.  MF_NO_CHAR: it has no row, or is not UTF-8. */
uint16_t mf_char_next(const char *at, size_t size, size_t *taken);

/* Bits of the rows. */
struct mf_char_set {
    uint64_t word[(MF_CHARS + 63) / 64];
};

static inline bool mf_char_in(const struct mf_char_set *set, uint16_t row)
{
    return row < MF_CHARS && (set->word[row / 64] >> row % 64 & 1) != 0;
}

static inline void mf_char_add(struct mf_char_set *set, uint16_t row)
{
    if (row < MF_CHARS)
        set->word[row / 64] |= UINT64_C(1) << row % 64;
}

void mf_char_add_range(struct mf_char_set *set, uint32_t first, uint32_t last);
void mf_char_join(struct mf_char_set *set, const struct mf_char_set *other);
void mf_char_meet(struct mf_char_set *set, const struct mf_char_set *other);
void mf_char_invert(struct mf_char_set *set);

/* Adds the other case of each letter. */
void mf_char_fold(struct mf_char_set *set);

/* The characters of a property, as the expression \p{NAME} has it; false: the
 * name is not known. */
bool mf_char_property(struct mf_str name, struct mf_char_set *set);

/* By a predicate. */
bool mf_char_is_space(uint16_t row);
bool mf_char_is_number(uint16_t row);
bool mf_char_is_punctuation(uint16_t row); /* or one of ASCII's symbols */
bool mf_char_is_word(uint16_t row); /* letter, mark, digit or connector */

/* The same, or the joiner U+200D: \w of Rust's expressions. */
bool mf_char_joins_words(uint16_t row);

#endif
