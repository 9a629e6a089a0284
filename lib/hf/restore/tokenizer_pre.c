/* SPDX-License-Identifier: MIT
 *
 * tokenizer_pre.c - tokenizer.ggml.pre as the steps of tokenizer.json
 */
#include "lib/base/str.h"
#include "lib/hf/restore/tokenizer.h"

#define STEPS 8

/* The rows of CUTS. */
static const struct cuts {
    const char *step[STEPS]; /* NULL after the last */
} cuts[] = {
#define CUTS(name, ...) { { __VA_ARGS__, NULL } },
#include "lib/hf/restore/cuts.def"
#undef CUTS
};

enum {
#define CUTS(name, ...) CUTS_##name,
#include "lib/hf/restore/cuts.def"
#undef CUTS
    CUTS_none
};

struct mf_pre_row {
    const char *name;
    unsigned cuts, flags;
};

enum {
    WHOLE = MF_PRE_WHOLE,
    BOS = MF_PRE_BOS,
    ENDS = MF_PRE_ENDS,
    NFC = MF_PRE_NFC,
    CLEAN = MF_PRE_CLEAN
};

static const struct mf_pre_row rows[] = {
#define PRE(name, traits, cuts, flags, ...) { name, CUTS_##cuts, flags },
#define WORDPIECE(name, ids)
#include "lib/vocab/pre_tokenizers.def"
#undef PRE
#undef WORDPIECE
};
#define COUNT (sizeof(rows) / sizeof(*rows))

const struct mf_pre_row *mf_pre_find(const struct mf_tokenizer_facts *facts)
{
    for (size_t i = 0; i < COUNT; i++)
        if (rows[i].cuts != CUTS_none && mf_str_is(facts->pre, rows[i].name))
            return &rows[i];
    if (!facts->pre.at)
        mf_fail(facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "missing metadata key 'tokenizer.ggml.pre': how texts are cut "
                "is not known");
    else
        mf_fail(facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "metadata key 'tokenizer.ggml.pre' is '%s': how it cuts texts "
                "is not known",
                mf_quote(facts->pre).text);
    return NULL;
}

const char *mf_pre_name_at(size_t index)
{
    for (size_t i = 0; i < COUNT; i++)
        if (rows[i].cuts != CUTS_none && index-- == 0)
            return rows[i].name;
    return NULL;
}

bool mf_pre_has(const struct mf_pre_row *row, enum mf_pre_flag flag)
{
    return (row->flags & flag) != 0;
}

static void put_split(struct mf_json_out *json, const char *regex, bool only)
{
    mf_put_word(json, "type", "Split");
    mf_json_key(json, "pattern");
    mf_json_begin(json, '{');
    mf_put_word(json, "Regex", regex);
    mf_json_end(json, '}');
    mf_put_word(json, "behavior", only ? "Removed" : "Isolated");
    mf_put_flag(json, "invert", only);
}

void mf_pre_put_bytes(struct mf_json_out *json, bool words)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "ByteLevel");
    mf_put_flag(json, "add_prefix_space", false);
    mf_put_flag(json, "trim_offsets", true);
    mf_put_flag(json, "use_regex", words);
    mf_json_end(json, '}');
}

static void put_digits(struct mf_json_out *json, bool each)
{
    mf_put_word(json, "type", "Digits");
    mf_put_flag(json, "individual_digits", each);
}

static void put_step(struct mf_json_out *json, const char *step)
{
    struct mf_str text = { step, strlen(step) };

    if (mf_str_is(text, "words")) {
        mf_pre_put_bytes(json, true);
        return;
    }
    mf_json_begin(json, '{');
    if (mf_str_is(text, "marks")) {
        mf_put_word(json, "type", "Punctuation");
        mf_put_word(json, "behavior", "Contiguous");
    } else if (mf_str_is(text, "digits") || mf_str_is(text, "numbers")) {
        put_digits(json, mf_str_is(text, "digits"));
    } else {
        put_split(json, step + strlen("each "), mf_str_begins(text, "only "));
    }
    mf_json_end(json, '}');
}

void mf_pre_put(const struct mf_pre_row *row, struct mf_json_out *json)
{
    const char *const *step = cuts[row->cuts].step;
    bool bytes = false;

    mf_json_key(json, "pre_tokenizer");
    if (!step[1] && strcmp(*step, "words") == 0) {
        mf_pre_put_bytes(json, true);
        return;
    }
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "Sequence");
    mf_json_key(json, "pretokenizers");
    mf_json_begin(json, '[');
    for (; *step; step++) {
        bytes = bytes || strcmp(*step, "words") == 0;
        put_step(json, *step);
    }
    if (!bytes)
        mf_pre_put_bytes(json, false);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}
