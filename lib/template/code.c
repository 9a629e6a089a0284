/* SPDX-License-Identifier: MIT
 *
 * code.c - names in a template that lead out of it, or to nothing
 *
 * The engines keep a template from the rest of the program, more or less: with
 * a plain jinja2 environment, {{ x.__class__.__mro__ ... }} reaches everything
 * that Python can do (CVE-2024-34359, CVE-2026-5760).
 */
#include "lib/base/str.h"
#include "lib/template/watch.h"

/* Where a name gives itself away. */
enum place {
    ANYWHERE = 1, /* also as a whole string */
    CALLED = 2,   /* before '(' */
    DOTTED = 4,   /* before '.' */
    MEMBER = 8    /* after '.' */
};

static const struct {
    const char *name;
    unsigned place;
} outside[] = {
    { "popen", ANYWHERE },     { "subprocess", ANYWHERE },
    { "importlib", ANYWHERE }, { "builtins", ANYWHERE },
    { "lipsum", ANYWHERE },    { "getattr", ANYWHERE },
    { "setattr", ANYWHERE },   { "func_globals", ANYWHERE },
    { "func_code", ANYWHERE }, { "gi_frame", ANYWHERE },
    { "gi_code", ANYWHERE },   { "cr_frame", ANYWHERE },
    { "ag_frame", ANYWHERE },  { "tb_frame", ANYWHERE },
    { "f_globals", ANYWHERE }, { "f_builtins", ANYWHERE },
    { "f_locals", ANYWHERE },  { "check_output", ANYWHERE },
    { "eval", CALLED },        { "exec", CALLED },
    { "execfile", CALLED },    { "compile", CALLED },
    { "open", CALLED },        { "system", CALLED },
    { "globals", CALLED },     { "mro", CALLED | MEMBER },
    { "os", DOTTED },          { "sys", DOTTED },
    { "environ", MEMBER },     { "format_map", MEMBER },
};

static unsigned place_of(struct mf_str name)
{
    for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++)
        if (mf_str_is(name, outside[i].name))
            return outside[i].place;
    return 0;
}

static void flag(struct mf_template_watch *watch,
                 const struct mf_template_place *place, struct mf_str text)
{
    mf_template_flag(watch->report, MF_TEMPLATE_CODE, place, text, 0);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether the text contains something like "__class__". */
static bool has_dunder(struct mf_str text)
{
    bool opened = false;

    for (size_t i = 0; i + 2 <= text.size; i++) {
        if (text.at[i] != '_' || text.at[i + 1] != '_')
            continue;
        if (opened && is_letter(text.at[i - 1]))
            return true;
        opened = opened || (i + 2 < text.size && is_letter(text.at[i + 2]));
    }
    return false;
}

/* ---- names ---- */

static bool after_op(const struct mf_template_watch *watch, uint16_t op)
{
    return watch->last.kind == MF_LEX_OPERATOR && watch->last.op == op;
}

static void see_name(struct mf_template_watch *watch,
                     const struct mf_template_token_now *token)
{
    struct mf_str name = mf_template_token_text(token);
    unsigned place = place_of(name);
    bool member = after_op(watch, '.');

    if ((member && name.at[0] == '_') || mf_str_begins(name, "__") ||
        (place & ANYWHERE) || (member && (place & MEMBER)) ||
        (after_op(watch, '|') && mf_str_is(name, "attr")))
        flag(watch, &token->place, name);
}

/* The name before "(" or "." */
static void see_use(struct mf_template_watch *watch, uint16_t op)
{
    struct mf_str name = mf_template_token_text(&watch->last);
    unsigned place = place_of(name);

    if (watch->last.kind == MF_LEX_NAME &&
        ((op == '(' && (place & CALLED)) || (op == '.' && (place & DOTTED))))
        flag(watch, &watch->last.place, name);
}

/* ---- strings ---- */

/* "a" + "b", "a" ~ "b", "a" "b", ["a", "b"]: what they make together. */
static void join(struct mf_template_watch *watch, struct mf_str text)
{
    bool goes_on = watch->last.kind == MF_LEX_STRING || after_op(watch, '+') ||
                   after_op(watch, '~') || after_op(watch, ',');
    size_t room;

    if (!goes_on)
        watch->joined_size = watch->joined_parts = 0;
    room = sizeof(watch->joined) - watch->joined_size;
    if (text.size > room)
        text.size = room;
    memcpy(watch->joined + watch->joined_size, text.at, text.size);
    watch->joined_size += text.size;
    watch->joined_parts++;
}

static void see_string(struct mf_template_watch *watch,
                       const struct mf_template_token_now *token)
{
    struct mf_str text = mf_template_token_text(token);
    struct mf_str joined;

    join(watch, text);
    joined = (struct mf_str){ watch->joined, watch->joined_size };
    if (has_dunder(text) || (place_of(text) & ANYWHERE) ||
        mf_str_holds(text, "%c"))
        flag(watch, &token->place, text);
    else if (watch->joined_parts > 1 &&
             (has_dunder(joined) || (place_of(joined) & ANYWHERE)))
        flag(watch, &token->place, joined);
    else if (token->escaped)
        flag(watch, &token->place, text);
}

/* ---- filters and tests ---- */

enum { LLAMA = 1, JINJA2 = 2, NEITHER = 0 };

struct known {
    const char *name;
    unsigned readers;
};

static const struct known filters[] = {
#define FILTER(name, readers) { #name, readers },
#define TEST(name, readers)
#include "lib/template/names.def"
#undef TEST
#undef FILTER
    { NULL, NEITHER }
};

static const struct known tests[] = {
#define FILTER(name, readers)
#define TEST(name, readers) { #name, readers },
#include "lib/template/names.def"
#undef TEST
#undef FILTER
    { NULL, NEITHER }
};

static void look_up(struct mf_template_watch *watch, const struct known *known,
                    const struct mf_template_token_now *token)
{
    struct mf_str name = mf_template_token_text(token);

    while (known->name && !mf_str_is(name, known->name))
        known++;
    if (!(known->readers & LLAMA))
        mf_template_flag(watch->report, MF_TEMPLATE_NAME_LLAMA, &token->place,
                         name, 0);
    if (!(known->readers & JINJA2))
        mf_template_flag(watch->report, MF_TEMPLATE_NAME_JINJA2, &token->place,
                         name, 0);
}

static void see_known(struct mf_template_watch *watch,
                      const struct mf_template_token_now *token)
{
    struct mf_str name = mf_template_token_text(token);
    bool first = watch->last.kind == MF_LEX_END;

    if (after_op(watch, '|') || (watch->tag == MF_TAG_FILTER && first))
        look_up(watch, filters, token);
    else if (watch->after_is && !mf_str_is(name, "not"))
        look_up(watch, tests, token);
    /* A name is not an operator where an operand is due: "x is is". */
    watch->after_is =
        (mf_str_is(name, "is") && !first && !after_op(watch, '.')) ||
        (watch->after_is && mf_str_is(name, "not"));
}

void mf_template_watch_code(struct mf_template_watch *watch,
                            const struct mf_template_token_now *token)
{
    static const struct mf_str import = { "import", 6 };

    if (watch->tag == MF_TAG_IMPORT && watch->last.kind == MF_LEX_END)
        flag(watch, &watch->place, import);
    if (token->kind == MF_LEX_NAME) {
        see_name(watch, token);
        see_known(watch, token);
        return;
    }
    watch->after_is = false;
    if (token->kind == MF_LEX_STRING)
        see_string(watch, token);
    else if (token->kind == MF_LEX_OPERATOR)
        see_use(watch, token->op);
}
