/* SPDX-License-Identifier: MIT
 *
 * normalize.c - the steps of a normalizer
 *
 * Most replace each character by none, one or three; what is left is a
 * pattern's matches replaced by a text.
 */
#include "lib/hf/encode/pieces.h"

#include "lib/base/str.h"
#include "lib/base/text.h"

struct writing {
    struct mf_pieces *pieces;
    char *at;
    size_t size;
};

static enum mf_status failed(const struct writing *writing)
{
    return writing->pieces->env->error.status;
}

static enum mf_status begin(struct writing *writing, struct mf_pieces *pieces)
{
    *writing = (struct writing){ .pieces = pieces };
    writing->at = mf_alloc(pieces->env, MF_TEXT_MAX);
    return writing->at ? MF_OK : failed(writing);
}

static enum mf_status put(struct writing *writing, const char *at, size_t size)
{
    if (size > MF_TEXT_MAX - writing->size)
        return mf_fail(writing->pieces->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the text gets more than %d bytes", MF_TEXT_MAX);
    if (size > 0)
        memcpy(writing->at + writing->size, at, size);
    writing->size += size;
    return MF_OK;
}

static enum mf_status put_code(struct writing *writing, uint32_t code)
{
    char text[4];

    return put(writing, text, mf_utf8_put(code, text));
}

/* The text goes to the arena. */
static enum mf_status end(struct writing *writing, enum mf_status status,
                          struct mf_str *out)
{
    struct mf_pieces *pieces = writing->pieces;
    char *at = NULL;

    if (status == MF_OK) {
        at = mf_arena_text(pieces->arena, writing->size);
        if (at && writing->size > 0)
            memcpy(at, writing->at, writing->size);
        *out = (struct mf_str){ at, writing->size };
    }
    mf_release(pieces->env, writing->at, MF_TEXT_MAX);
    return pieces->env->error.status;
}

/* ---- character by character ---- */

struct bert {
    bool clean, chinese, accents, lower;
};

enum form { FORM_LOWER, FORM_ACCENTS, FORM_NMT, FORM_NFC, FORM_NFD, FORM_NFKC };

static bool is_mark(const struct mf_char *c)
{
    return c->category == MF_CATEGORY_Mc || c->category == MF_CATEGORY_Mn;
}

/* What SentencePiece's nmt makes of it; 0: nothing. */
static uint32_t nmt(uint32_t code)
{
    if ((code >= 1 && code <= 8) || code == 0xb ||
        (code >= 0xe && code <= 0x1f) || code == 0x7f || code == 0x8f ||
        code == 0x9f)
        return 0;
    if (code == 9 || code == 0xa || code == 0xc || code == 0xd ||
        (code >= 0x200b && code <= 0x200f) || code == 0x2581 || code == 0xfffd)
        return ' ';
    return code;
}

/* What a form makes of a character: no two of the list are composed to one. */
static enum mf_status put_form(struct writing *writing, const struct mf_char *c,
                               enum form form)
{
    uint32_t code = c->code;

    if (form == FORM_LOWER && c->lower)
        code = c->lower;
    if (form == FORM_ACCENTS && is_mark(c))
        return MF_OK;
    if (form == FORM_NMT)
        code = nmt(code);
    if (form == FORM_NFKC && c->compat)
        code = c->compat;
    if (code == MF_CHAR_OTHER || (form == FORM_NFD && c->parts))
        return mf_fail(writing->pieces->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "U+%04" PRIX32 " cannot be decomposed", c->code);
    return form == FORM_NMT && code == 0 && c->code != 0
               ? MF_OK
               : put_code(writing, code);
}

static bool is_chinese(uint32_t code)
{
    return code >= 0x4e00 && code <= 0x9fff; /* of the list */
}

static enum mf_status put_bert(struct writing *writing, const struct mf_char *c,
                               const struct bert *bert)
{
    uint32_t code = c->code;
    bool blank = code == '\t' || code == '\n' || code == '\r' || c->space;
    bool control =
        (c->category == MF_CATEGORY_Cc || c->category == MF_CATEGORY_Cf) &&
        code != '\t' && code != '\n' && code != '\r';

    if (bert->clean && (control || code == 0xfffd))
        return MF_OK;
    if (bert->clean && blank)
        return put_code(writing, ' ');
    if (bert->accents && c->parts)
        return put_form(writing, c, FORM_NFD);
    if (bert->accents && c->category == MF_CATEGORY_Mn)
        return MF_OK;
    if (bert->lower && c->lower)
        code = c->lower;
    if (!bert->chinese || !is_chinese(code))
        return put_code(writing, code);
    if (put_code(writing, ' ') != MF_OK || put_code(writing, code) != MF_OK)
        return failed(writing);
    return put_code(writing, ' ');
}

static enum mf_status each_char(struct mf_pieces *pieces, struct mf_str text,
                                const struct bert *bert, enum form form,
                                struct mf_str *out)
{
    struct writing writing;
    enum mf_status status = begin(&writing, pieces);

    if (status == MF_OK)
        status = mf_pieces_chars(pieces, text);
    for (size_t i = 0; i < pieces->char_count && status == MF_OK; i++) {
        const struct mf_char *c = &mf_chars[pieces->row[i]];

        status =
            bert ? put_bert(&writing, c, bert) : put_form(&writing, c, form);
    }
    return end(&writing, status, out);
}

static enum mf_status run_bert(struct mf_pieces *pieces,
                               const struct mf_node *step, struct mf_str text,
                               struct mf_str *out)
{
    const struct mf_node *accents = mf_node_at(step, "strip_accents");
    struct bert bert;

    if (mf_step_flag(pieces->env, step, "clean_text", true, &bert.clean) !=
            MF_OK ||
        mf_step_flag(pieces->env, step, "handle_chinese_chars", true,
                     &bert.chinese) != MF_OK ||
        mf_step_flag(pieces->env, step, "lowercase", true, &bert.lower) !=
            MF_OK)
        return pieces->env->error.status;
    bert.accents = bert.lower;
    if (accents && accents->kind != MF_NODE_NULL &&
        mf_step_flag(pieces->env, step, "strip_accents", false,
                     &bert.accents) != MF_OK)
        return pieces->env->error.status;
    return each_char(pieces, text, &bert, FORM_NFC, out);
}

/* ---- texts ---- */

static enum mf_status replace(struct mf_pieces *pieces,
                              const struct mf_steps *steps, size_t i,
                              struct mf_str text, struct mf_str *out)
{
    struct mf_str content;
    struct writing writing;
    enum mf_status status;

    if (mf_step_text(pieces->env, steps->node[i], "content", &content) !=
            MF_OK ||
        mf_match_all(pieces, text, steps->regex[i], steps->plain[i]) != MF_OK)
        return pieces->env->error.status;
    status = begin(&writing, pieces);
    for (size_t m = 0; m < pieces->match_count && status == MF_OK; m++) {
        const struct mf_match *match = &pieces->match[m];

        status = match->match ? put(&writing, content.at, content.size)
                              : put(&writing, text.at + match->start,
                                    match->end - match->start);
    }
    return end(&writing, status, out);
}

static enum mf_status prepend(struct mf_pieces *pieces,
                              const struct mf_node *step, struct mf_str text,
                              struct mf_str *out)
{
    struct mf_str head;
    struct writing writing;
    enum mf_status status;

    if (mf_step_text(pieces->env, step, "prepend", &head) != MF_OK)
        return pieces->env->error.status;
    status = begin(&writing, pieces);
    if (status == MF_OK && text.size > 0)
        status = put(&writing, head.at, head.size);
    if (status == MF_OK)
        status = put(&writing, text.at, text.size);
    return end(&writing, status, out);
}

/* Without white space at its ends. */
static enum mf_status strip(struct mf_pieces *pieces,
                            const struct mf_node *step, struct mf_str text,
                            struct mf_str *out)
{
    bool left, right;
    size_t from = 0, to;

    if (mf_step_flag(pieces->env, step, "strip_left", true, &left) != MF_OK ||
        mf_step_flag(pieces->env, step, "strip_right", true, &right) != MF_OK ||
        mf_pieces_chars(pieces, text) != MF_OK)
        return pieces->env->error.status;
    to = pieces->char_count;
    while (left && from < to && mf_char_is_space(pieces->row[from]))
        from++;
    while (right && from < to && mf_char_is_space(pieces->row[to - 1]))
        to--;
    *out = (struct mf_str){ text.at + pieces->offset[from],
                            pieces->offset[to] - pieces->offset[from] };
    return MF_OK;
}

enum mf_status mf_bytes_to_chars(struct mf_pieces *pieces, struct mf_str text,
                                 struct mf_str *out)
{
    struct writing writing;
    enum mf_status status = begin(&writing, pieces);

    for (size_t i = 0; i < text.size && status == MF_OK; i++)
        status = put_code(&writing, mf_byte_char((uint8_t)text.at[i]));
    return end(&writing, status, out);
}

/* ---- steps ---- */

static const struct {
    const char *type;
    enum form form;
} forms[] = {
    { "Lowercase", FORM_LOWER }, { "StripAccents", FORM_ACCENTS },
    { "Nmt", FORM_NMT },         { "NFC", FORM_NFC },
    { "NFD", FORM_NFD },         { "NFKC", FORM_NFKC },
    { "NFKD", FORM_NFKC },
};

static enum mf_status run(struct mf_pieces *pieces,
                          const struct mf_steps *steps, size_t i,
                          struct mf_str text, struct mf_str *out)
{
    const struct mf_node *step = steps->node[i];
    struct mf_str type = mf_node_text(step, "type");

    for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++)
        if (mf_str_is(type, forms[f].type))
            return each_char(pieces, text, NULL, forms[f].form, out);
    if (mf_str_is(type, "BertNormalizer"))
        return run_bert(pieces, step, text, out);
    if (mf_str_is(type, "Replace"))
        return replace(pieces, steps, i, text, out);
    if (mf_str_is(type, "Prepend"))
        return prepend(pieces, step, text, out);
    if (mf_str_is(type, "Strip"))
        return strip(pieces, step, text, out);
    if (mf_str_is(type, "ByteLevel"))
        return mf_bytes_to_chars(pieces, text, out);
    return mf_step_refuse(pieces->env, step, "type");
}

enum mf_status mf_normalize(struct mf_pieces *pieces,
                            const struct mf_steps *steps, struct mf_str text,
                            struct mf_str *out)
{
    *out = text;
    for (size_t i = 0; i < steps->count; i++)
        if (run(pieces, steps, i, *out, out) != MF_OK)
            return pieces->env->error.status;
    return MF_OK;
}
