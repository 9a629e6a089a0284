/* SPDX-License-Identifier: MIT
 *
 * parse.c - tags and blocks of a template
 *
 * A block is open on a stack until its end tag.  llama.cpp reads the tag
 * "generation" as nothing; in jinja2 as transformers sets it up it is a block.
 */
#include "lib/template/parse.h"

#include "lib/base/str.h"

#define now        mf_template_now
#define is         mf_template_is
#define is_op      mf_template_is_op
#define jinja2     mf_template_jinja2
#define pass       mf_template_pass
#define unexpected mf_template_unexpected

static const char *const names[] = {
    [MF_BLOCK_IF] = "if",       [MF_BLOCK_FOR] = "for",
    [MF_BLOCK_SET] = "set",     [MF_BLOCK_MACRO] = "macro",
    [MF_BLOCK_CALL] = "call",   [MF_BLOCK_FILTER] = "filter",
    [MF_BLOCK_WITH] = "with",   [MF_BLOCK_AUTOESCAPE] = "autoescape",
    [MF_BLOCK_BLOCK] = "block", [MF_BLOCK_GENERATION] = "generation",
};

void mf_template_pass(struct mf_template_parser *parser)
{
    mf_template_watch_token(parser->watch, now(parser));
    mf_template_lexer_next(&parser->lexer);
}

bool mf_template_unexpected(struct mf_template_parser *parser,
                            const char *expected)
{
    struct mf_template_lexer *lexer = &parser->lexer;
    struct mf_template_token_now *token = &lexer->token;
    char op[3] = { (char)(token->op >> 8 ? token->op >> 8 : token->op),
                   (char)(token->op >> 8 ? token->op : 0), 0 };
    const char *what = token->kind == MF_LEX_END           ? "the end"
                       : token->kind == MF_LEX_CLOSE_BLOCK ? "'%}'"
                       : token->kind == MF_LEX_CLOSE_PRINT ? "'}}'"
                       : token->kind == MF_LEX_STRING      ? "a string"
                       : token->kind == MF_LEX_NUMBER      ? "a number"
                       : token->kind == MF_LEX_COMMENT     ? "a comment"
                                                           : "a sign";
    struct mf_str text = mf_template_token_text(token);

    if (text.size > 24)
        text.size = 24;
    if (token->kind == MF_LEX_OPERATOR)
        mf_template_fail(lexer, &token->place, "expected %s, not '%s'",
                         expected, op);
    else if (token->kind == MF_LEX_NAME)
        mf_template_fail(lexer, &token->place, "expected %s, not '%s'",
                         expected, mf_quote(text).text);
    else
        mf_template_fail(lexer, &token->place, "expected %s, not %s", expected,
                         what);
    return false;
}

static bool failed(const struct mf_template_parser *parser)
{
    return now(parser)->kind == MF_LEX_FAILED;
}

/* ---- parts of tags ---- */

bool mf_template_end_tag(struct mf_template_parser *parser)
{
    if (now(parser)->kind != MF_LEX_CLOSE_BLOCK)
        return !failed(parser) && unexpected(parser, "'%}'");
    mf_template_watch_tag_end(parser->watch);
    mf_template_lexer_next(&parser->lexer);
    return !failed(parser);
}

bool mf_template_begin(struct mf_template_parser *parser,
                       enum mf_template_block_kind kind,
                       const struct mf_template_place *place)
{
    if (jinja2(parser) && is_op(parser, ':'))
        pass(parser);
    if (!mf_template_end_tag(parser))
        return false;
    if (parser->block_count == MF_TEMPLATE_BLOCKS) {
        mf_template_fail(&parser->lexer, place,
                         "blocks are nested more than %d deep",
                         MF_TEMPLATE_BLOCKS);
        parser->lexer.error->deep = true;
        return false;
    }
    parser->block[parser->block_count++] =
        (struct mf_template_block){ .kind = (uint8_t)kind, .place = *place };
    mf_template_watch_block(parser->watch);
    return true;
}

/* ---- tags that go on with a block, or end it ---- */

/* True if the tag is of the block that is open. */
static bool in_block(const struct mf_template_parser *parser, const char *name)
{
    const struct mf_template_block *block;

    if (parser->block_count == 0)
        return false;
    block = &parser->block[parser->block_count - 1];
    if (strcmp(name, "elif") == 0)
        return block->kind == MF_BLOCK_IF && !block->has_else;
    if (strcmp(name, "else") == 0)
        return (block->kind == MF_BLOCK_IF || block->kind == MF_BLOCK_FOR) &&
               !block->has_else;
    return strncmp(name, "end", 3) == 0 &&
           strcmp(name + 3, names[block->kind]) == 0;
}

static bool go_on(struct mf_template_parser *parser, const char *name)
{
    struct mf_template_block *block = &parser->block[parser->block_count - 1];

    if (strcmp(name, "elif") == 0 && !mf_template_condition(parser))
        return false;
    if (strncmp(name, "end", 3) == 0) {
        mf_template_watch_block_end(parser->watch);
        parser->block_count--;
        if (block->kind == MF_BLOCK_BLOCK && now(parser)->kind == MF_LEX_NAME)
            pass(parser);
        return mf_template_end_tag(parser);
    }
    block->has_else = strcmp(name, "else") == 0;
    if (jinja2(parser) && is_op(parser, ':'))
        pass(parser);
    if (!mf_template_end_tag(parser))
        return false;
    mf_template_watch_else(parser->watch);
    return true;
}

/* ---- any tag ---- */

#define TAG_NAME_MAX 16 /* longer than every name of a tag */

static bool parse_tag(struct mf_template_parser *parser)
{
    struct mf_template_place place;
    struct mf_str text;
    char name[TAG_NAME_MAX] = "";
    const struct mf_template_tag_row *tag;

    mf_template_lexer_next(&parser->lexer);
    if (now(parser)->kind != MF_LEX_NAME)
        return unexpected(parser, "the name of a tag");
    place = now(parser)->place;
    text = mf_template_token_text(now(parser));
    if (text.size < sizeof(name))
        memcpy(name, text.at, text.size);
    tag = mf_template_find_tag(parser);
    if (!tag && !in_block(parser, name)) {
        if (text.size > 32)
            text.size = 32;
        mf_template_fail(&parser->lexer, &place,
                         "the tag '%s' is unknown or does not belong here",
                         mf_quote(text).text);
        return false;
    }
    mf_template_watch_tag(parser->watch,
                          tag                         ? tag->kind
                          : strcmp(name, "elif") == 0 ? MF_TAG_CONDITION
                                                      : MF_TAG_OTHER,
                          &place);
    mf_template_lexer_next(&parser->lexer);
    if (!tag)
        return go_on(parser, name);
    return tag->block    ? tag->block(parser, &place)
           : tag->single ? tag->single(parser)
                         : tag->import(parser, name);
}

static bool parse_print(struct mf_template_parser *parser)
{
    mf_template_watch_tag(parser->watch, MF_TAG_PRINT, &now(parser)->place);
    mf_template_lexer_next(&parser->lexer);
    if (!mf_template_expression(parser, jinja2(parser) ? MF_EXPR_TUPLE : 0))
        return false;
    if (now(parser)->kind != MF_LEX_CLOSE_PRINT)
        return unexpected(parser, "'}}'");
    mf_template_watch_tag_end(parser->watch);
    mf_template_lexer_next(&parser->lexer);
    return !failed(parser);
}

void mf_template_parse(struct mf_template_parser *parser)
{
    const struct mf_template_block *block;
    bool good = true;

    mf_template_lexer_next(&parser->lexer);
    while (good && now(parser)->kind != MF_LEX_END && !failed(parser)) {
        if (now(parser)->kind == MF_LEX_OPEN_BLOCK) {
            good = parse_tag(parser);
        } else if (now(parser)->kind == MF_LEX_OPEN_PRINT) {
            good = parse_print(parser);
        } else if (now(parser)->kind == MF_LEX_TEXT ||
                   now(parser)->kind == MF_LEX_COMMENT) {
            mf_template_watch_text(parser->watch, now(parser)->words);
            mf_template_lexer_next(&parser->lexer);
        } else {
            good = unexpected(parser, "the end of the tag before");
        }
    }
    if (!good || failed(parser) || parser->block_count == 0)
        return;
    block = &parser->block[parser->block_count - 1];
    mf_template_fail(&parser->lexer, &block->place, "'%s' is not closed",
                     names[block->kind]);
}
