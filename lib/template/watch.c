/* SPDX-License-Identifier: MIT
 *
 * watch.c - text that depends on what a message says
 */
#include "lib/template/watch.h"

#include "lib/base/str.h"
#include "lib/program.h"

/* Words that depend on a condition before it is a finding: about a sentence. */
#define WORDS_MIN 6
/* ... where the condition looks for a tag, such as "<think>": several. */
#define WORDS_TAG 100

static bool is(const struct mf_template_token_now *token, const char *name)
{
    return mf_str_is(mf_template_token_text(token), name);
}

static bool is_any(const struct mf_template_token_now *token,
                   const char *const *names)
{
    for (; *names; names++)
        if (is(token, *names))
            return true;
    return false;
}

/* ---- variables ---- */

/* Of a name, never 0. */
static uint64_t hash_of(const struct mf_template_token_now *token)
{
    return mf_text_hash(mf_template_token_text(token), 0) | 1;
}

static struct mf_template_variable *find(struct mf_template_watch *watch,
                                         uint64_t hash)
{
    for (size_t i = 0; i < MF_TEMPLATE_VARIABLES; i++)
        if (watch->variable[i].hash == hash)
            return &watch->variable[i];
    return NULL;
}

/* A name may be given several values: the most suspicious one counts. */
static void assign(struct mf_template_watch *watch, uint64_t hash,
                   uint64_t words, bool content)
{
    struct mf_template_variable *variable = find(watch, hash);

    if (hash == 0 || (!variable && words < WORDS_MIN && !content))
        return;
    if (!variable) {
        variable =
            &watch->variable[watch->variable_count++ % MF_TEMPLATE_VARIABLES];
        *variable = (struct mf_template_variable){ .hash = hash };
    }
    if (words > variable->words)
        variable->words = words;
    variable->content = variable->content || content;
}

/* ---- conditions ---- */

/* A clause ends: was it a comparison of content with words? */
static void end_clause(struct mf_template_watch *watch)
{
    struct mf_template_clause *clause = &watch->clause;

    if (clause->content && clause->compares && !clause->other &&
        clause->literal_size > 0 && !watch->triggered) {
        watch->triggered = true;
        watch->trigger = *clause;
    }
    *clause = (struct mf_template_clause){ 0 };
}

static void see_string(struct mf_template_watch *watch,
                       const struct mf_template_token_now *token)
{
    static const char *const other[] = { "type", "role", "name", NULL };
    static const char *const content[] = { "content", "text", NULL };
    struct mf_template_clause *clause = &watch->clause;
    struct mf_str text = mf_template_token_text(token);

    if (watch->last.kind == MF_LEX_OPERATOR && watch->last.op == '[') {
        clause->content = clause->content || is_any(token, content);
        clause->other = clause->other || is_any(token, other);
        watch->content = watch->content || is_any(token, content);
        return;
    }
    if (watch->muted == 0)
        watch->tag_words += token->words;
    if (token->size <= clause->literal_size)
        return;
    clause->literal_words = token->words;
    clause->literal_size = text.size < sizeof(clause->literal)
                               ? text.size
                               : sizeof(clause->literal);
    memcpy(clause->literal, text.at, clause->literal_size);
}

static void see_name(struct mf_template_watch *watch,
                     const struct mf_template_token_now *token)
{
    static const char *const ends[] = { "and", "or", "if", "else", NULL };
    static const char *const compares[] = { "in",     "startswith", "endswith",
                                            "find",   "count",      "index",
                                            "rfind",  "equalto",    "eq",
                                            "sameas", "ne",         NULL };
    static const char *const other[] = { "type", "role", "name", NULL };
    static const char *const content[] = { "content", "text", NULL };
    struct mf_template_clause *clause = &watch->clause;
    struct mf_template_variable *variable = find(watch, hash_of(token));
    bool says = is_any(token, content) || (variable && variable->content);
    bool member = watch->last.kind == MF_LEX_OPERATOR && watch->last.op == '.';

    if (is_any(token, ends)) {
        watch->conditional = watch->conditional || is(token, "if");
        end_clause(watch);
        return;
    }
    clause->compares = clause->compares || is_any(token, compares);
    clause->other = clause->other || (member && is_any(token, other));
    clause->content = clause->content || says;
    watch->content = watch->content || says;
    if (variable && watch->muted == 0)
        watch->tag_words += variable->words;
    if (is(token, "bos_token"))
        watch->report->prints_bos = true;
    if (is(token, "eos_token"))
        watch->report->prints_eos = true;
}

/* What raise_exception gets is shown to a user, not to the model. */
static void see_operator(struct mf_template_watch *watch,
                         const struct mf_template_token_now *token)
{
    if (token->op == MF_OP('=', '=') || token->op == MF_OP('!', '='))
        watch->clause.compares = true;
    if (token->op == '(' && ++watch->depth && watch->muted == 0 &&
        watch->last.kind == MF_LEX_NAME && is(&watch->last, "raise_exception"))
        watch->muted = watch->depth;
    if (token->op == ')' && watch->depth > 0 && watch->depth-- == watch->muted)
        watch->muted = 0;
}

void mf_template_watch_token(struct mf_template_watch *watch,
                             const struct mf_template_token_now *token)
{
    mf_template_watch_code(watch, token);
    if (watch->tag == MF_TAG_SET && !watch->assigned) {
        if (token->kind == MF_LEX_NAME)
            watch->target = hash_of(token);
        watch->assigned = token->kind == MF_LEX_OPERATOR && token->op == '=';
    } else if (watch->tag == MF_TAG_LOOP && !watch->assigned) {
        if (token->kind == MF_LEX_NAME && !is(token, "in"))
            watch->target = hash_of(token);
        watch->assigned = token->kind == MF_LEX_NAME && is(token, "in");
    } else if (watch->tag == MF_TAG_MACRO && watch->target == 0 &&
               token->kind == MF_LEX_NAME) {
        watch->target = hash_of(token);
    } else if (token->kind == MF_LEX_STRING) {
        see_string(watch, token);
    } else if (token->kind == MF_LEX_NAME) {
        see_name(watch, token);
    } else if (token->kind == MF_LEX_OPERATOR) {
        see_operator(watch, token);
    }
    watch->last = *token;
}

/* ---- tags and blocks ---- */

/* Words that depend on a comparison with the literal. */
static void report(struct mf_template_watch *watch,
                   const struct mf_template_place *place, struct mf_str literal,
                   uint64_t words)
{
    char first = (char)(literal.at[0] | 0x20);
    bool tag = (uint8_t)literal.at[0] < 0x80 && (first < 'a' || first > 'z');

    if (words >= (tag ? WORDS_TAG : WORDS_MIN))
        mf_template_flag(watch->report, MF_TEMPLATE_CONDITION, place, literal,
                         words < UINT32_MAX ? (uint32_t)words : UINT32_MAX);
}

void mf_template_watch_text(struct mf_template_watch *watch, uint64_t words)
{
    watch->words += words;
}

void mf_template_watch_tag(struct mf_template_watch *watch,
                           enum mf_template_tag tag,
                           const struct mf_template_place *place)
{
    watch->tag = tag;
    watch->place = *place;
    watch->content = watch->conditional = watch->triggered = false;
    watch->assigned = false;
    watch->tag_words = watch->target = 0;
    watch->depth = watch->muted = 0;
    watch->clause = watch->trigger = (struct mf_template_clause){ 0 };
    watch->last = (struct mf_template_token_now){ .kind = MF_LEX_END };
    watch->after_is = false;
    watch->joined_size = watch->joined_parts = 0;
}

void mf_template_watch_tag_end(struct mf_template_watch *watch)
{
    uint64_t words;

    end_clause(watch);
    if (watch->tag == MF_TAG_SET || watch->tag == MF_TAG_LOOP)
        assign(watch, watch->target, watch->tag_words, watch->content);
    if (watch->tag == MF_TAG_PRINT || watch->tag == MF_TAG_SET) {
        words = watch->tag_words > watch->trigger.literal_words
                    ? watch->tag_words - watch->trigger.literal_words
                    : 0;
        if (watch->conditional && watch->triggered)
            report(watch, &watch->place,
                   (struct mf_str){ watch->trigger.literal,
                                    watch->trigger.literal_size },
                   words);
        watch->words += watch->tag_words;
    }
}

void mf_template_watch_block(struct mf_template_watch *watch)
{
    struct mf_template_scope *scope;

    if (watch->scope_count == MF_TEMPLATE_SCOPES)
        return; /* the parser refuses deeper blocks */
    scope = &watch->scope[watch->scope_count++];
    *scope = (struct mf_template_scope){
        .triggered = watch->triggered && (watch->tag == MF_TAG_CONDITION ||
                                          watch->tag == MF_TAG_LOOP),
        .start = watch->words,
        .variable = watch->tag == MF_TAG_MACRO || watch->tag == MF_TAG_SET
                        ? watch->target
                        : 0,
        .place = watch->place
    };
    scope->literal_size = watch->trigger.literal_size;
    memcpy(scope->literal, watch->trigger.literal, scope->literal_size);
}

static void end_branch(struct mf_template_watch *watch)
{
    struct mf_template_scope *scope = &watch->scope[watch->scope_count - 1];
    uint64_t words = watch->words - scope->start;

    if (scope->triggered)
        report(watch, &scope->place,
               (struct mf_str){ scope->literal, scope->literal_size }, words);
    assign(watch, scope->variable, words, false);
}

void mf_template_watch_else(struct mf_template_watch *watch)
{
    if (watch->scope_count == 0)
        return;
    end_branch(watch);
    if (watch->tag == MF_TAG_CONDITION) {
        watch->scope_count--;
        mf_template_watch_block(watch);
    } else {
        watch->scope[watch->scope_count - 1].start = watch->words;
    }
}

void mf_template_watch_block_end(struct mf_template_watch *watch)
{
    if (watch->scope_count == 0)
        return;
    end_branch(watch);
    watch->scope_count--;
}
