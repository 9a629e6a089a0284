/* SPDX-License-Identifier: MIT
 *
 * known.c - the tokenizers and pre-tokenizers that llama.cpp v0.5.0 knows
 */
#include "lib/vocab/known.h"

#include <stdio.h>

#include "lib/base/str.h"

#define WPM    MF_TOKENIZER_WPM
#define BPE    MF_TOKENIZER_BPE
#define SPM    MF_TOKENIZER_SPM
#define UGM    MF_TOKENIZER_UGM
#define RWKV   MF_TOKENIZER_RWKV
#define PLAMO2 MF_TOKENIZER_PLAMO2
#define TEST   MF_TOKENIZER_TEST
#define NONE   MF_TOKENIZER_NONE

static const struct mf_known_tokenizer tokenizers[] = {
#define TOKENIZER(name, kind, bos, eos, unknown, separator, longest)           \
    { name, kind, bos, eos, unknown, separator, longest },
#include "lib/vocab/tokenizers.def"
#undef TOKENIZER
};

#define ADDS_BOS   MF_PRE_ADDS_BOS
#define ALWAYS_BOS MF_PRE_ALWAYS_BOS
#define NO_BOS     MF_PRE_NO_BOS
#define RAW_BYTES  MF_PRE_RAW_BYTES
#define NO_BYTES   MF_PRE_NO_BYTES

static const struct mf_pre_tokenizer pre_tokenizers[] = {
#define PRE(name, traits, cuts, flags, ...) { name, traits },
#define WORDPIECE(name, ids)
#include "lib/vocab/pre_tokenizers.def"
#undef PRE
#undef WORDPIECE
};

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

const struct mf_known_tokenizer *mf_known_tokenizer_find(struct mf_str name)
{
    for (size_t i = 0; i < COUNT(tokenizers); i++)
        if (mf_str_is(name, tokenizers[i].name))
            return &tokenizers[i];
    return NULL;
}

const struct mf_pre_tokenizer *mf_pre_tokenizer_find(struct mf_str name)
{
    for (size_t i = 0; i < COUNT(pre_tokenizers); i++)
        if (mf_str_is(name, pre_tokenizers[i].name))
            return &pre_tokenizers[i];
    return NULL;
}

/* ---- the nearest name ---- */

#define NAME_MAX_SIZE 32 /* of any row, and of a name that is compared */

/* Letters in lower case and digits: "GPT-2" becomes "gpt2". */
static size_t fold(struct mf_str name, char out[NAME_MAX_SIZE])
{
    size_t size = 0;

    for (size_t i = 0; i < name.size && size < NAME_MAX_SIZE; i++) {
        char c = mf_small(name.at[i]);

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out[size++] = c;
    }
    return size;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t min = a < b ? a : b;

    return min < c ? min : c;
}

/* How many letters to insert, delete or replace. */
static size_t distance(struct mf_str a, struct mf_str b)
{
    char left[NAME_MAX_SIZE], right[NAME_MAX_SIZE];
    size_t height = fold(a, left), width = fold(b, right);
    size_t row[NAME_MAX_SIZE + 1];

    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1,
                           diagonal + (left[i - 1] != right[j - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

/* Keeps the candidate if it is nearer than the best so far.  One letter may
 * differ, or two of six and more. */
static void consider(struct mf_str name, const char *candidate, size_t *best,
                     struct mf_hint *hint)
{
    size_t apart;

    if (name.size > NAME_MAX_SIZE)
        return;
    apart = distance(name, (struct mf_str){ candidate, strlen(candidate) });
    if (apart >= *best || apart > 2 || apart * 3 > name.size)
        return;
    *best = apart;
    snprintf(hint->text, sizeof(hint->text), "; did you mean '%s'?", candidate);
}

struct mf_hint mf_known_tokenizer_hint(struct mf_str name)
{
    struct mf_hint hint = { "" };
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < COUNT(tokenizers); i++)
        consider(name, tokenizers[i].name, &best, &hint);
    return hint;
}

struct mf_hint mf_pre_tokenizer_hint(struct mf_str name)
{
    struct mf_hint hint = { "" };
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < COUNT(pre_tokenizers); i++)
        consider(name, pre_tokenizers[i].name, &best, &hint);
    return hint;
}
