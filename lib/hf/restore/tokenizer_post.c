/* SPDX-License-Identifier: MIT
 *
 * tokenizer_post.c - what is put around texts: "post_processor" of
 * tokenizer.json
 *
 * The converter looks at it for more than that: add_sep_token is known only
 * where a pair of texts has something between them.
 */
#include "lib/base/str.h"
#include "lib/hf/restore/tokenizer.h"

/* ---- members of an object ---- */

void mf_put_str(struct mf_json_out *json, const char *key, struct mf_str text)
{
    mf_json_key(json, key);
    mf_json_string(json, text.at ? text.at : "", text.size);
}

void mf_put_word(struct mf_json_out *json, const char *key, const char *word)
{
    mf_put_str(json, key, (struct mf_str){ word, strlen(word) });
}

void mf_put_flag(struct mf_json_out *json, const char *key, bool value)
{
    mf_json_key(json, key);
    mf_json_bool(json, value);
}

void mf_put_null(struct mf_json_out *json, const char *key)
{
    mf_json_key(json, key);
    mf_json_null(json);
}

/* ---- which tokens ---- */

struct around { /* a text; NULL: nothing */
    const struct mf_named_token *first, *last, *before_last;
};

static const struct mf_named_token *
named(const struct mf_tokenizer_facts *facts, enum mf_named_role which)
{
    return facts->named[which].given ? &facts->named[which] : NULL;
}

/* What a key says, else what is usual. */
static bool adds(const struct mf_tokenizer_facts *facts,
                 enum mf_named_role which, bool usual)
{
    const struct mf_tokenizer_flag *flag = &facts->add[which];

    return flag->given ? flag->value : usual;
}

bool mf_post_ends_twice(const struct mf_tokenizer_facts *facts)
{
    return facts->row && mf_pre_has(facts->row, MF_PRE_ENDS) &&
           facts->named[MF_NAMED_EOS].given && facts->named[MF_NAMED_EOT].given;
}

static struct around find_around(const struct mf_tokenizer_facts *facts)
{
    const struct mf_pre_row *row = facts->row;
    bool words = facts->way == MF_WAY_WORDS;
    struct around around = { NULL, NULL, NULL };

    if (adds(facts, MF_NAMED_BOS,
             words || (row && mf_pre_has(row, MF_PRE_BOS)) ||
                 facts->way == MF_WAY_FALLBACK))
        around.first = named(facts, MF_NAMED_BOS);
    if (adds(facts, MF_NAMED_EOS, words))
        around.last = named(facts, MF_NAMED_EOS);
    if (mf_post_ends_twice(facts)) {
        around.last = named(facts, MF_NAMED_EOS);
        around.before_last = named(facts, MF_NAMED_EOT);
    }
    return around;
}

static bool is_roberta(const struct mf_tokenizer_facts *facts)
{
    return facts->way == MF_WAY_BYTES && adds(facts, MF_NAMED_BOS, false) &&
           adds(facts, MF_NAMED_EOS, false) &&
           adds(facts, MF_NAMED_SEP, false) && facts->named[0].given &&
           facts->named[MF_NAMED_EOS].given;
}

/* Whether what is between two texts can say what add_sep_token does: the
 * converter takes the eos for a sep there. */
static bool pair_says_sep(const struct mf_tokenizer_facts *facts,
                          const struct around *around)
{
    const struct mf_tokenizer_flag *sep = &facts->add[MF_NAMED_SEP];
    const struct mf_named_token *eos = named(facts, MF_NAMED_EOS);

    if (!sep->given || sep->value)
        return sep->given && around->last;
    return (around->first || around->last) &&
           !(around->first && eos && around->first->id == eos->id);
}

bool mf_post_says_sep(const struct mf_tokenizer_facts *facts)
{
    struct around around = find_around(facts);

    return is_roberta(facts) ||
           (facts->way != MF_WAY_PIECES && pair_says_sep(facts, &around));
}

/* ---- TemplateProcessing ---- */

static void put_piece(struct mf_json_out *json, const char *kind,
                      struct mf_str id, uint64_t segment)
{
    mf_json_begin(json, '{');
    mf_json_key(json, kind);
    mf_json_begin(json, '{');
    mf_put_str(json, "id", id);
    mf_json_key(json, "type_id");
    mf_json_u64(json, segment);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

static void put_token(struct mf_json_out *json,
                      const struct mf_named_token *token, uint64_t segment)
{
    if (token)
        put_piece(json, "SpecialToken", token->text, segment);
}

static void put_text(struct mf_json_out *json, const char *name,
                     uint64_t segment)
{
    put_piece(json, "Sequence", (struct mf_str){ name, 1 }, segment);
}

/* Where the key add_sep_token is missing, nothing is between the texts of a
 * pair, where it is true two tokens are; and where it is false others. */
static void put_pair(struct mf_json_out *json,
                     const struct mf_tokenizer_facts *facts,
                     const struct around *around)
{
    bool sep = facts->add[MF_NAMED_SEP].value;

    put_token(json, around->first, 0);
    put_text(json, "A", 0);
    if (pair_says_sep(facts, around)) {
        put_token(json, around->last, 0);
        put_token(json,
                  sep                          ? around->last
                  : facts->way == MF_WAY_WORDS ? NULL
                                               : around->first,
                  1);
    }
    put_text(json, "B", 1);
    put_token(json, around->before_last, 1);
    put_token(json, around->last, 1);
}

static void put_ids(struct mf_json_out *json,
                    const struct mf_named_token *token)
{
    if (!token)
        return;
    mf_json_open_string(json);
    mf_json_piece(json, token->text.at, token->text.size);
    mf_json_close_string(json, true);
    mf_json_begin(json, '{');
    mf_put_str(json, "id", token->text);
    mf_json_key(json, "ids");
    mf_json_begin(json, '[');
    mf_json_u64(json, token->id);
    mf_json_end(json, ']');
    mf_json_key(json, "tokens");
    mf_json_begin(json, '[');
    mf_json_string(json, token->text.at, token->text.size);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

static void put_template(struct mf_json_out *json,
                         const struct mf_tokenizer_facts *facts,
                         const struct around *around)
{
    const struct mf_named_token *last = around->last;

    mf_json_begin(json, '{');
    mf_put_word(json, "type", "TemplateProcessing");
    mf_json_key(json, "single");
    mf_json_begin(json, '[');
    put_token(json, around->first, 0);
    put_text(json, "A", 0);
    put_token(json, around->before_last, 0);
    put_token(json, last, 0);
    mf_json_end(json, ']');
    mf_json_key(json, "pair");
    mf_json_begin(json, '[');
    put_pair(json, facts, around);
    mf_json_end(json, ']');
    mf_json_key(json, "special_tokens");
    mf_json_begin(json, '{');
    put_ids(json, around->first);
    put_ids(json, around->before_last);
    if (last && !(around->first && around->first->id == last->id))
        put_ids(json, last);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

/* ---- RobertaProcessing ---- */

static void put_end(struct mf_json_out *json, const char *key,
                    const struct mf_named_token *token)
{
    mf_json_key(json, key);
    mf_json_begin(json, '[');
    mf_json_string(json, token->text.at, token->text.size);
    mf_json_u64(json, token->id);
    mf_json_end(json, ']');
}

static void put_roberta(struct mf_json_out *json,
                        const struct mf_tokenizer_facts *facts)
{
    const struct mf_named_token *sep = named(facts, MF_NAMED_SEP);

    mf_json_begin(json, '{');
    mf_put_word(json, "type", "RobertaProcessing");
    put_end(json, "sep", sep ? sep : &facts->named[MF_NAMED_EOS]);
    put_end(json, "cls", &facts->named[MF_NAMED_BOS]);
    mf_put_flag(json, "trim_offsets", true);
    mf_put_flag(json, "add_prefix_space", false);
    mf_json_end(json, '}');
}

void mf_post_put(const struct mf_tokenizer_facts *facts,
                 struct mf_json_out *json)
{
    struct around around = find_around(facts);

    mf_json_key(json, "post_processor");
    if (is_roberta(facts))
        put_roberta(json, facts);
    else if (around.first || around.last)
        put_template(json, facts, &around);
    else
        mf_json_null(json);
}
