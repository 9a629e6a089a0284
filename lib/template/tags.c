/* SPDX-License-Identifier: MIT
 *
 * tags.c - the tags of templates, and what each contains
 */
#include "lib/template/parse.h"

#define now         mf_template_now
#define is          mf_template_is
#define is_op       mf_template_is_op
#define jinja2      mf_template_jinja2
#define pass        mf_template_pass
#define unexpected  mf_template_unexpected
#define end_tag     mf_template_end_tag
#define begin_block mf_template_begin

static bool failed(const struct mf_template_parser *parser)
{
    return now(parser)->kind == MF_LEX_FAILED;
}

/* ---- parts of tags ---- */

static bool take_name(struct mf_template_parser *parser, const char *expected)
{
    if (now(parser)->kind != MF_LEX_NAME)
        return unexpected(parser, expected);
    pass(parser);
    return !failed(parser);
}

static bool expect(struct mf_template_parser *parser, const char *name,
                   const char *quoted)
{
    return is(parser, name) ? take_name(parser, quoted)
                            : unexpected(parser, quoted);
}

static bool expect_op(struct mf_template_parser *parser, char op,
                      const char *quoted)
{
    if (!is_op(parser, (uint8_t)op))
        return unexpected(parser, quoted);
    pass(parser);
    return !failed(parser);
}

/* jinja2: names to be assigned to, in parentheses or not; of a member only one
 * level. */
static bool target(struct mf_template_parser *parser, bool members)
{
    static const char *const constants[] = { "true", "false", "none",
                                             "True", "False", "None" };
    size_t open = 0;

    for (;;) {
        while (is_op(parser, '(')) {
            open++;
            pass(parser);
        }
        for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
            if (is(parser, constants[i]))
                return unexpected(parser, "a name to assign to");
        if (!take_name(parser, "a name to assign to"))
            return false;
        if (members && open == 0 && is_op(parser, '.')) {
            pass(parser);
            if (!take_name(parser, "the name of a member"))
                return false;
        }
        for (; open > 0 && is_op(parser, ')'); open--)
            pass(parser);
        if (!is_op(parser, ','))
            return open == 0 || unexpected(parser, "')'");
        pass(parser);
        for (; open > 0 && is_op(parser, ')'); open--)
            pass(parser);
        if (open == 0 && now(parser)->kind == MF_LEX_CLOSE_BLOCK)
            return true;
    }
}

/* jinja2: the parameters of a macro */
static bool signature(struct mf_template_parser *parser)
{
    bool defaults = false;

    if (!expect_op(parser, '(', "'('"))
        return false;
    for (size_t count = 0; !is_op(parser, ')'); count++) {
        if (count > 0 && !expect_op(parser, ',', "',' or ')'"))
            return false;
        if (!take_name(parser, "the name of a parameter"))
            return false;
        if (is_op(parser, '=')) {
            defaults = true;
            pass(parser);
            if (!mf_template_expression(parser, 0))
                return false;
        } else if (defaults) {
            return unexpected(parser, "'='");
        }
    }
    return expect_op(parser, ')', "')'");
}

/* jinja2: filters, and what they are given */
static bool filters(struct mf_template_parser *parser)
{
    for (;;) {
        if (!take_name(parser, "the name of a filter"))
            return false;
        while (is_op(parser, '.')) {
            pass(parser);
            if (!take_name(parser, "the name of a filter"))
                return false;
        }
        if (is_op(parser, '(') && !mf_template_arguments(parser))
            return false;
        if (!is_op(parser, '|'))
            return true;
        pass(parser);
    }
}

/* ---- tags that begin a block ---- */

bool mf_template_condition(struct mf_template_parser *parser)
{
    return mf_template_expression(
        parser, jinja2(parser) ? MF_EXPR_TUPLE | MF_EXPR_NO_IF : 0);
}

static bool tag_for(struct mf_template_parser *parser,
                    const struct mf_template_place *place)
{
    bool good =
        jinja2(parser)
            ? target(parser, false)
            : mf_template_expression(parser, MF_EXPR_TUPLE | MF_EXPR_PRIMARY);

    if (!good || !expect(parser, "in", "'in'") ||
        !mf_template_condition(parser))
        return false;
    if (jinja2(parser) && is(parser, "if")) {
        pass(parser);
        if (!mf_template_expression(parser, 0))
            return false;
    }
    if (jinja2(parser) && is(parser, "recursive"))
        pass(parser);
    return begin_block(parser, MF_BLOCK_FOR, place);
}

static bool tag_set(struct mf_template_parser *parser,
                    const struct mf_template_place *place)
{
    if (!(jinja2(parser) ? target(parser, true)
                         : mf_template_expression(parser, MF_EXPR_TUPLE)))
        return false;
    if (is_op(parser, '=')) {
        pass(parser);
        return mf_template_expression(parser, MF_EXPR_TUPLE) && end_tag(parser);
    }
    if (jinja2(parser) && is_op(parser, '|')) {
        pass(parser);
        if (!filters(parser))
            return false;
    }
    return begin_block(parser, MF_BLOCK_SET, place);
}

static bool tag_macro(struct mf_template_parser *parser,
                      const struct mf_template_place *place)
{
    return take_name(parser, "the name of a macro") &&
           (jinja2(parser) ? signature(parser)
                           : mf_template_arguments(parser)) &&
           begin_block(parser, MF_BLOCK_MACRO, place);
}

static bool tag_call(struct mf_template_parser *parser,
                     const struct mf_template_place *place)
{
    if (is_op(parser, '(') &&
        !(jinja2(parser) ? signature(parser) : mf_template_arguments(parser)))
        return false;
    if (!jinja2(parser))
        return take_name(parser, "the name of a macro") &&
               mf_template_arguments(parser) &&
               begin_block(parser, MF_BLOCK_CALL, place);
    if (!mf_template_expression(parser, 0))
        return false;
    return parser->was_call ? begin_block(parser, MF_BLOCK_CALL, place)
                            : unexpected(parser, "a call");
}

static bool tag_with(struct mf_template_parser *parser,
                     const struct mf_template_place *place)
{
    for (size_t count = 0; now(parser)->kind != MF_LEX_CLOSE_BLOCK; count++) {
        if (count > 0 && !expect_op(parser, ',', "',' or '%}'"))
            return false;
        if (!take_name(parser, "a name to assign to") ||
            !expect_op(parser, '=', "'='") ||
            !mf_template_expression(parser, 0))
            return false;
    }
    return begin_block(parser, MF_BLOCK_WITH, place);
}

/* Blocks of templates that extend others. */
static bool tag_block(struct mf_template_parser *parser,
                      const struct mf_template_place *place)
{
    if (!take_name(parser, "the name of a block"))
        return false;
    if (is(parser, "scoped"))
        pass(parser);
    if (is(parser, "required"))
        pass(parser);
    return begin_block(parser, MF_BLOCK_BLOCK, place);
}

/* ---- tags on their own ---- */

/* Python refuses "break" outside of a loop; llama.cpp finds out when it runs.
 */
static bool tag_break(struct mf_template_parser *parser)
{
    const struct mf_template_place place = now(parser)->place;
    size_t at = parser->block_count;

    while (at > 0) {
        const struct mf_template_block *block = &parser->block[--at];

        if (block->kind == MF_BLOCK_FOR && !block->has_else)
            return end_tag(parser);
        if (block->kind == MF_BLOCK_MACRO || block->kind == MF_BLOCK_CALL ||
            block->kind == MF_BLOCK_GENERATION || block->kind == MF_BLOCK_BLOCK)
            break;
    }
    if (jinja2(parser)) {
        mf_template_fail(&parser->lexer, &place, "a break outside of a loop");
        return false;
    }
    return end_tag(parser);
}

static bool skip_words(struct mf_template_parser *parser, const char *one,
                       const char *other, const char *second)
{
    if (!is(parser, one) && !is(parser, other))
        return true;
    pass(parser);
    return expect(parser, second, second);
}

/* Other templates: which jinja2 reads if there is a loader. */
static bool tag_import(struct mf_template_parser *parser, const char *name)
{
    if (!mf_template_expression(parser, 0))
        return false;
    if (strcmp(name, "extends") == 0)
        return end_tag(parser);
    if (strcmp(name, "include") == 0) {
        if (!skip_words(parser, "ignore", "ignore", "missing"))
            return false;
    } else if (strcmp(name, "import") == 0) {
        if (!expect(parser, "as", "'as'") || !take_name(parser, "a name"))
            return false;
    } else {
        if (!expect(parser, "import", "'import'"))
            return false;
        do {
            if (is_op(parser, ','))
                pass(parser);
            if (!take_name(parser, "a name"))
                return false;
            if (is(parser, "as")) {
                pass(parser);
                if (!take_name(parser, "a name"))
                    return false;
            }
        } while (is_op(parser, ','));
    }
    return skip_words(parser, "with", "without", "context") && end_tag(parser);
}

static bool tag_print(struct mf_template_parser *parser)
{
    for (size_t count = 0; now(parser)->kind != MF_LEX_CLOSE_BLOCK; count++)
        if ((count > 0 && !expect_op(parser, ',', "',' or '%}'")) ||
            !mf_template_expression(parser, 0))
            return false;
    return end_tag(parser);
}

static bool tag_raw(struct mf_template_parser *parser)
{
    uint64_t words = parser->lexer.scan->words;

    if (now(parser)->kind != MF_LEX_CLOSE_BLOCK)
        return unexpected(parser, "'%}'");
    mf_template_lexer_raw(&parser->lexer);
    if (failed(parser))
        return false;
    mf_template_watch_text(parser->watch, parser->lexer.scan->words - words);
    mf_template_lexer_next(&parser->lexer);
    return !failed(parser);
}

/* ---- the table ---- */

static bool tag_if(struct mf_template_parser *parser,
                   const struct mf_template_place *place)
{
    return mf_template_condition(parser) &&
           begin_block(parser, MF_BLOCK_IF, place);
}

static bool tag_filter(struct mf_template_parser *parser,
                       const struct mf_template_place *place)
{
    if (jinja2(parser))
        return filters(parser) && begin_block(parser, MF_BLOCK_FILTER, place);
    return mf_template_expression(parser, MF_EXPR_PRIMARY) &&
           (!is_op(parser, '(') || mf_template_arguments(parser)) &&
           begin_block(parser, MF_BLOCK_FILTER, place);
}

static bool tag_generation(struct mf_template_parser *parser,
                           const struct mf_template_place *place)
{
    if (jinja2(parser))
        return begin_block(parser, MF_BLOCK_GENERATION, place);
    mf_template_lexer_next(&parser->lexer); /* whatever it is */
    return !failed(parser);
}

static bool tag_autoescape(struct mf_template_parser *parser,
                           const struct mf_template_place *place)
{
    return mf_template_expression(parser, 0) &&
           begin_block(parser, MF_BLOCK_AUTOESCAPE, place);
}

enum { LLAMA = 1, JINJA2 = 2 };

static const struct mf_template_tag_row tags[] = {
    { "if", LLAMA | JINJA2, MF_TAG_CONDITION, tag_if, NULL, NULL },
    { "for", LLAMA | JINJA2, MF_TAG_LOOP, tag_for, NULL, NULL },
    { "set", LLAMA | JINJA2, MF_TAG_SET, tag_set, NULL, NULL },
    { "macro", LLAMA | JINJA2, MF_TAG_MACRO, tag_macro, NULL, NULL },
    { "call", LLAMA | JINJA2, MF_TAG_OTHER, tag_call, NULL, NULL },
    { "filter", LLAMA | JINJA2, MF_TAG_FILTER, tag_filter, NULL, NULL },
    { "generation", LLAMA | JINJA2, MF_TAG_OTHER, tag_generation, NULL, NULL },
    { "endgeneration", LLAMA, MF_TAG_OTHER, tag_generation, NULL, NULL },
    { "break", LLAMA | JINJA2, MF_TAG_OTHER, NULL, tag_break, NULL },
    { "continue", LLAMA | JINJA2, MF_TAG_OTHER, NULL, tag_break, NULL },
    { "with", JINJA2, MF_TAG_OTHER, tag_with, NULL, NULL },
    { "autoescape", JINJA2, MF_TAG_OTHER, tag_autoescape, NULL, NULL },
    { "block", JINJA2, MF_TAG_OTHER, tag_block, NULL, NULL },
    { "print", JINJA2, MF_TAG_PRINT, NULL, tag_print, NULL },
    { "raw", JINJA2, MF_TAG_OTHER, NULL, tag_raw, NULL },
    { "extends", JINJA2, MF_TAG_IMPORT, NULL, NULL, tag_import },
    { "include", JINJA2, MF_TAG_IMPORT, NULL, NULL, tag_import },
    { "import", JINJA2, MF_TAG_IMPORT, NULL, NULL, tag_import },
    { "from", JINJA2, MF_TAG_IMPORT, NULL, NULL, tag_import },
};

const struct mf_template_tag_row *
mf_template_find_tag(const struct mf_template_parser *parser)
{
    unsigned reader = jinja2(parser) ? JINJA2 : LLAMA;

    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        if ((tags[i].readers & reader) && is(parser, tags[i].name))
            return &tags[i];
    return NULL;
}
