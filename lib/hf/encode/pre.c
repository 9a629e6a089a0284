/* SPDX-License-Identifier: MIT
 *
 * pre.c - the name of a pre-tokenizer, by the ids of one text
 */
#include "lib/hf/encode/encode.h"

#include <stdio.h>

#include "lib/hf/encode/fast.h"
#include "lib/program.h"

/* The converter's text: runs of spaces, emojis with joiners, digits in groups
 * of every length, five scripts, quotes, and English with its contractions. */
static const char text[] =
    "\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n"
    "\U0001f680 (normal) \U0001f636\u200d\U0001f32b\ufe0f (multiple emojis "
    "concatenated) \u2705 \U0001f999\U0001f999 "
    "3 33 333 3333 33333 333333 3333333 33333333 3.3 3..3 3...3 "
    "\u1780\u17b6\u1793\u17cb\u178f\u17c2\u1796\u17b7\u179f\u17c1\u179f\u17a2"
    "\u17b6\u1785\U0001f601 ?\u6211\u60f3\u5728apple\u5de5\u4f5c1314151\u5929"
    "\uff5e ------======= "
    "\u043d\u0435\u0449\u043e \u043d\u0430 "
    "\u0411\u044a\u043b\u0433\u0430\u0440\u0441\u043a\u0438 "
    "''''''```````\"\"\"\"......!!!!!!?????? "
    "I've been 'told he's there, 'RE you sure? 'M not sure I'll make it, "
    "'D you like some tea? We'Ve a'lL";

#define IDS 4 /* of one name, at most */

static const struct pre {
    const char *name;
    const char *ids[IDS]; /* SHA-256; NULL after the last */
} rows[] = {
#define PRE(name, traits, cuts, flags, ...) { name, { __VA_ARGS__ } },
#define WORDPIECE(name, ids)                { name, { ids } },
#include "lib/vocab/pre_tokenizers.def"
#undef PRE
#undef WORDPIECE
};

/* The name for ids with that hash; NULL: there is none. */
static const char *name_of(const char *hash)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (size_t j = 0; j < IDS && rows[i].ids[j]; j++)
            if (strcmp(rows[i].ids[j], hash) == 0)
                return rows[i].name;
    return NULL;
}

/* SHA-256 of the ids as Python writes a list of them. */
static void hash_ids(const uint32_t *ids, size_t count, char out[65])
{
    struct mf_sha256 sha;
    uint8_t digest[32];

    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, "[", 1);
    for (size_t i = 0; i < count; i++) {
        char number[16];
        int size = snprintf(number, sizeof(number), "%s%" PRIu32,
                            i > 0 ? ", " : "", ids[i]);

        mf_sha256_add(&sha, number, (size_t)size);
    }
    mf_sha256_add(&sha, "]", 1);
    mf_sha256_end(&sha, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static enum mf_status find(struct mf_fast *fast, struct mf_arena *arena,
                           const char **pre)
{
    const struct mf_str sample = { text, sizeof(text) - 1 };
    struct mf_encoder *tokenizer = mf_encoder_open(fast, arena);
    struct mf_env *env = fast->env;
    uint32_t *ids;
    size_t count;
    char hash[65];

    if (!tokenizer ||
        mf_encoder_run(tokenizer, sample, true, &ids, &count) != MF_OK)
        return env->error.status;
    hash_ids(ids, count, hash);
    *pre = name_of(hash);
    if (*pre)
        return MF_OK;
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'%s': GGUF has no name for its pre-tokenizer (the "
                   "converter's text gives ids with SHA-256 %.12s...)",
                   fast->file, hash);
}

enum mf_status mf_encoder_pre(struct mf_fast *fast, const char **pre)
{
    struct mf_arena arena;
    enum mf_status status;

    mf_arena_init(&arena, fast->env);
    status = find(fast, &arena, pre);
    mf_arena_release(&arena);
    return status;
}
