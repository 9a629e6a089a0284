/* SPDX-License-Identifier: MIT
 *
 * family_code.c - rows about config.json and its tensors, as bytes
 */
#include <string.h>

#include "lib/rows/maker/languages.h"

/* ---- keys ---- */

static void put_key(struct writing *to, struct text rest)
{
    struct text type = take_word(&rest);
    bool optional = text_ends(type, "?");

    type.size -= optional;
    put_byte(to, list_find(family_key_types, type));
    put_byte(to, optional);
    put_text(to, take_word(&rest));
    put_whole(to, rest);
}

static void put_refuse(struct writing *to, struct text file, struct text rest)
{
    put_text(to, file);
    put_expression(to, &rest);
    put_text(to, trimmed(rest));
}

static void put_value(struct writing *to, struct text rest)
{
    put_text(to, take_word(&rest));
    put_whole(to, rest);
}

/* ---- tensors ---- */

/* A name in which "(N)" is a number, and "#(N)" the number there and N. */
static void put_template(struct writing *to, struct text name)
{
    size_t place = begin_byte(to), count = 0;

    while (name.size > 0) {
        const char *open = memchr(name.at, '(', name.size);
        size_t size = open ? (size_t)(open - name.at) : name.size;
        bool plus = open && size > 0 && open[-1] == '#';

        if (size > 0) {
            put_byte(to, MF_PIECE_TEXT);
            put_text(to, (struct text){ name.at, size });
            count++;
        }
        name = (struct text){ name.at + size, name.size - size };
        if (name.size == 0)
            break;
        name = (struct text){ name.at + 1, name.size - 1 };
        put_byte(to, plus ? MF_PIECE_PLUS : MF_PIECE_NUMBER);
        put_expression(to, &name);
        count++;
        name = trimmed(name);
        name = (struct text){ name.at + 1, name.size - 1 }; /* ")" */
    }
    end_byte(to, place, count);
}

static void put_range(struct writing *to, struct text text)
{
    size_t place = begin_byte(to), flags = 0;
    static const struct {
        const char *word;
        size_t flag;
    } words[] = { { "from", MF_RANGE_FROM },
                  { "below", MF_RANGE_BELOW },
                  { "at", MF_RANGE_AT } };

    for (size_t i = 0; i < 3; i++) {
        struct text rest = text, word = take_word(&rest);

        if (!text_is(word, words[i].word))
            continue;
        flags |= words[i].flag;
        put_expression(to, &rest);
        text = trimmed(rest);
    }
    if (text_begins(text, "except ")) {
        flags |= MF_RANGE_EXCEPT;
        take_word(&text);
        put_text(to, trimmed(text));
    }
    end_byte(to, place, flags);
}

static void put_step(struct writing *to, struct text text)
{
    struct family_step_text parts = family_split_step(text);
    size_t place, count = 0;

    put_byte(to, (size_t)(parts.step - family_steps));
    put_byte(to, family_small_number(parts.only));
    put_list(to, parts.numbers);
    place = begin_byte(to);
    for (; parts.names.size > 0; count++)
        put_template(to, family_take_template(&parts.names));
    end_byte(to, place, count);
}

/* "PATTERN RANGE : STEP ; STEP" */
static void put_change(struct writing *to, struct text rest)
{
    struct text head = take_until(&rest, ':');
    size_t place, count = 0;

    put_text(to, take_word(&head));
    put_range(to, trimmed(head));
    place = begin_byte(to);
    for (rest = trimmed(rest); rest.size > 0; count++)
        put_step(to, trimmed(take_until(&rest, ';')));
    end_byte(to, place, count);
}

static void put_rename(struct writing *to, struct text rest)
{
    put_text(to, take_word(&rest));
    put_template(to, family_is_range(rest) ? (struct text){ "", 0 }
                                           : family_take_template(&rest));
    put_range(to, trimmed(rest));
}

static struct text put_names(struct writing *to, struct text rest)
{
    size_t place = begin_byte(to), count = 0;

    for (; rest.size > 0 && !family_is_range(rest); count++)
        put_text(to, take_word(&rest));
    end_byte(to, place, count);
    return rest;
}

static void put_type(struct writing *to, struct text rest)
{
    put_byte(to, list_find(family_tensor_types, take_word(&rest)));
    put_names(to, rest);
}

static enum mf_code_row put_tensor_row(struct writing *to, struct text word,
                                       struct text rest)
{
    if (text_is(word, "skip")) {
        put_range(to, put_names(to, rest));
        return MF_DO_SKIP;
    }
    if (text_is(word, "rename") || text_is(word, "replace")) {
        put_rename(to, rest);
        return text_is(word, "rename") ? MF_DO_RENAME : MF_DO_REPLACE;
    }
    if (text_is(word, "type") || text_is(word, "gguf_type")) {
        put_type(to, rest);
        return text_is(word, "type") ? MF_DO_TYPE : MF_DO_GGUF_TYPE;
    }
    put_change(to, rest);
    return text_is(word, "early")   ? MF_DO_EARLY
           : text_is(word, "extra") ? MF_DO_EXTRA
                                    : MF_DO_CHANGE;
}

/* ---- all of them ---- */

/* Rows that are a text, or nothing. */
static bool put_plain(struct writing *to, struct text word, struct text rest,
                      enum mf_code_row *code)
{
    static const struct {
        const char *word;
        enum mf_code_row code;
    } rows[] = {
        { "class", MF_DO_CLASS }, { "arch", MF_DO_ARCH },
        { "vocab", MF_DO_VOCAB }, { "null", MF_DO_NOTHING },
        { "mtp", MF_DO_MTP },     { "without_mtp", MF_DO_WITHOUT_MTP }
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (text_is(word, rows[i].word)) {
            if (rows[i].code < MF_DO_MTP || rows[i].code > MF_DO_WITHOUT_MTP)
                put_text(to, rest);
            *code = rows[i].code;
            return true;
        }
    return false;
}

static bool put_values(struct writing *to, struct text word, struct text rest,
                       enum mf_code_row *code)
{
    static const struct {
        const char *word;
        enum mf_code_row code;
    } rows[] = { { "default", MF_DO_DEFAULT },
                 { "set", MF_DO_SET },
                 { "field", MF_DO_FIELD },
                 { "usual", MF_DO_USUAL } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (text_is(word, rows[i].word)) {
            put_value(to, rest);
            *code = rows[i].code;
            return true;
        }
    return false;
}

enum mf_code_row put_family_row(struct writing *to, struct text word,
                                struct text rest)
{
    enum mf_code_row code;

    if (put_plain(to, word, rest, &code) || put_values(to, word, rest, &code))
        return code;
    if (text_is(word, "key") || text_is(word, "first_key")) {
        put_key(to, rest);
        return text_is(word, "key") ? MF_DO_PUT : MF_DO_PUT_FIRST;
    }
    if (text_is(word, "refuse") || text_is(word, "refuse_in")) {
        struct text file = { "", 0 };

        if (text_is(word, "refuse_in"))
            file = take_word(&rest);
        put_refuse(to, file, rest);
        return MF_DO_REFUSE;
    }
    if (text_is(word, "vision") || text_is(word, "text")) {
        put_text(to, word);
        put_text(to, rest);
        return MF_DO_PART;
    }
    return put_tensor_row(to, word, rest);
}
