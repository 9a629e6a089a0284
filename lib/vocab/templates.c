/* SPDX-License-Identifier: MIT
 *
 * templates.c - the chat templates in a model's metadata
 *
 * llama.cpp v0.5.0 reads two: "tokenizer.chat_template" ends the load of its
 * server and its command line if it does not parse; "tokenizer.chat_template.
 * tool_use" is ignored then.  It looks at no other.
 */
#include "lib/vocab/templates.h"

#include <string.h>

#include "lib/base/str.h"
#include "lib/base/text.h"

/* ---- what a report says, as findings ---- */

static uint64_t offset_of(const struct mf_template_use *use,
                          const struct mf_template_place *place)
{
    return use->plain ? use->offset + place->offset : use->offset;
}

static void note_error(struct mf_index *index,
                       const struct mf_template_use *use,
                       const struct mf_template_error *error,
                       enum mf_severity severity, const char *consequence)
{
    mf_index_note(index, use->shard,
                  error->deep && severity == MF_ERROR ? MF_WARNING : severity,
                  MF_RULE_TEMPLATE_SYNTAX, offset_of(use, &error->place),
                  "'%s', line %" PRIu64 ", column %" PRIu64 ": %s; %s",
                  mf_quote(use->name).text, error->place.line,
                  error->place.column, error->message, consequence);
}

/* One finding where both readers stop for one reason. */
static void note_errors(struct mf_index *index,
                        const struct mf_template_use *use,
                        const struct mf_template_report *report)
{
    const struct mf_template_error *llama = &report->error[MF_TEMPLATE_LLAMA],
                                   *jinja2 = &report->error[MF_TEMPLATE_JINJA2];

    if (llama->failed)
        note_error(index, use, llama, use->llama, use->llama_does);
    if (jinja2->failed && (!llama->failed || use->jinja2 > use->llama))
        note_error(index, use, jinja2, use->jinja2,
                   "jinja2, which transformers uses, does not accept it");
}

static void note_name(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_finding *found,
                      const char *reader)
{
    struct mf_str text = { found->text, found->text_size };

    if (found->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_NAME,
                      offset_of(use, &found->place),
                      "'%s', line %" PRIu64 ": %s has no filter or test '%s', "
                      "and fails where it is used",
                      mf_quote(use->name).text, found->place.line, reader,
                      mf_quote(text).text);
}

static void note_flag(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_finding *found,
                      enum mf_rule rule, const char *what)
{
    struct mf_str text = { found->text, found->text_size };

    if (found->count > 0)
        mf_index_note(
            index, use->shard, MF_WARNING, rule, offset_of(use, &found->place),
            "'%s', line %" PRIu64 ": %s '%s'", mf_quote(use->name).text,
            found->place.line, what, mf_quote(text).text);
}

void mf_template_note(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_report *report)
{
    const struct mf_template_finding *flag = report->flag,
                                     *hidden = &flag[MF_TEMPLATE_HIDDEN],
                                     *depends = &flag[MF_TEMPLATE_CONDITION];
    struct mf_str literal = { depends->text, depends->text_size };

    note_errors(index, use, report);
    if (use->llama > use->jinja2)
        note_name(index, use, &flag[MF_TEMPLATE_NAME_LLAMA], "llama.cpp");
    else
        note_name(index, use, &flag[MF_TEMPLATE_NAME_JINJA2], "jinja2");
    if (hidden->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_HIDDEN,
                      offset_of(use, &hidden->place),
                      "'%s' contains %" PRIu64 " invisible characters; the "
                      "first is U+%04" PRIX32 " in line %" PRIu64
                      ", column %" PRIu64,
                      mf_quote(use->name).text, hidden->count, hidden->detail,
                      hidden->place.line, hidden->place.column);
    note_flag(index, use, &flag[MF_TEMPLATE_CODE], MF_RULE_TEMPLATE_CODE,
              "reaches out of the template:");
    if (depends->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_CONDITION,
                      offset_of(use, &depends->place),
                      "'%s', line %" PRIu64 ": %" PRIu32 " words depend on "
                      "whether a message says '%s'",
                      mf_quote(use->name).text, depends->place.line,
                      depends->detail, mf_quote(literal).text);
    note_flag(index, use, &flag[MF_TEMPLATE_URL], MF_RULE_TEMPLATE_URL,
              "contains the address");
}

/* ---- the text of a value ---- */

struct value {
    struct mf_model *model;
    size_t index;
    struct mf_values *values;
};

static enum mf_status value_rewind(struct mf_template_text *text)
{
    struct value *value = text->user;

    mf_values_close(value->values);
    value->values = NULL;
    return mf_values_open(value->model, value->index, &value->values);
}

static enum mf_status value_next(struct mf_template_text *text,
                                 struct mf_str *piece)
{
    struct value *value = text->user;
    struct mf_value next = { .event = MF_EVENT_ITEM };
    enum mf_status status = MF_OK;

    while (status == MF_OK && next.event != MF_EVENT_DONE &&
           next.text.size == 0)
        status = mf_values_next(value->values, &next);
    *piece = next.text;
    if (status != MF_OK || next.event == MF_EVENT_DONE)
        piece->size = 0;
    return status;
}

/* ---- special tokens ---- */

enum { NORMAL = 1 }; /* of tokenizer.ggml.token_type */

struct search {
    const struct mf_template_report *report;
    uint64_t id[MF_TEMPLATE_TOKENS]; /* 1 + the token's number; 0: none */
    bool normal[MF_TEMPLATE_TOKENS]; /* not a special token */
    bool style; /* the vocabulary has tokens such as <|this|> */
};

static void see_token(struct search *search, struct mf_str text, uint64_t at)
{
    if (text.size < 5 || text.at[0] != '<')
        return;
    search->style =
        search->style || (text.at[1] == '|' && mf_str_ends(text, "|>"));
    for (size_t i = 0; i < search->report->token_count; i++) {
        const struct mf_template_token *token = &search->report->token[i];

        if (mf_str_same(text, (struct mf_str){ token->text, token->size }))
            search->id[i] = at + 1;
    }
}

static void see_type(struct search *search, const struct mf_value *value,
                     uint64_t at)
{
    for (size_t i = 0; i < search->report->token_count; i++)
        if (search->id[i] == at + 1)
            search->normal[i] = value->number.u64 == NORMAL;
}

/* Calls one of the two for each element of an array. */
static enum mf_status walk(struct mf_model *model, size_t index, bool texts,
                           struct search *search)
{
    struct mf_values *values;
    struct mf_value value = { .event = MF_EVENT_BEGIN };
    bool rest = false;
    uint64_t at = 0;
    enum mf_status status = mf_values_open(model, index, &values);

    if (status != MF_OK)
        return status;
    while (value.event != MF_EVENT_DONE &&
           (status = mf_values_next(values, &value)) == MF_OK) {
        if (value.event != MF_EVENT_ITEM)
            continue;
        if (texts && !rest && !value.more)
            see_token(search, value.text, at);
        else if (!texts)
            see_type(search, &value, at);
        rest = value.more;
        at += !value.more;
    }
    mf_values_close(values);
    return status;
}

/* Zephyr and TinyLlama write these as plain text. */
static bool may_be_text(const struct mf_template_token *token)
{
    struct mf_str text = { token->text, token->size };

    return mf_str_is(text, "<|system|>") || mf_str_is(text, "<|user|>") ||
           mf_str_is(text, "<|assistant|>");
}

static void note_token(struct mf_index *index,
                       const struct mf_template_use *use,
                       const struct mf_template_token *token, const char *what)
{
    struct mf_str text = { token->text, token->size };

    mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_TOKENS,
                  use->offset + token->place.offset,
                  "'%s', line %" PRIu64 ": '%s' %s", mf_quote(use->name).text,
                  token->place.line, mf_quote(text).text, what);
}

static enum mf_status check_tokens(struct mf_model *model,
                                   const struct mf_template_use *use,
                                   const struct mf_template_report *report)
{
    static const char tokens[] = "tokenizer.ggml.tokens",
                      types[] = "tokenizer.ggml.token_type";
    struct search search = { .report = report };
    struct mf_meta meta;
    size_t at;
    enum mf_status status;

    if (report->token_count == 0 ||
        !mf_meta_find(model, tokens, strlen(tokens), &meta, &at) ||
        meta.type != MF_VALUE_ARRAY || meta.of != MF_VALUE_STRING)
        return MF_OK;
    status = walk(model, at, true, &search);
    if (status == MF_OK &&
        mf_meta_find(model, types, strlen(types), &meta, &at) &&
        meta.type == MF_VALUE_ARRAY &&
        (meta.of == MF_VALUE_I32 || meta.of == MF_VALUE_U32))
        status = walk(model, at, false, &search);
    for (size_t i = 0; i < report->token_count && status == MF_OK; i++) {
        const struct mf_template_token *token = &report->token[i];

        if (search.id[i] == 0 && (search.style || !may_be_text(token)))
            note_token(&model->index, use, token,
                       "is not in the vocabulary, and becomes several tokens");
        else if (search.normal[i])
            note_token(&model->index, use, token,
                       "is an ordinary token in the vocabulary, and is not "
                       "recognized as a special one");
    }
    return status;
}

/* llama.cpp takes a number that fits its own first models otherwise. */
static void check_ids(struct mf_model *model, const struct mf_template_use *use,
                      const struct mf_template_report *report)
{
    static const char *const keys[2] = { "tokenizer.ggml.bos_token_id",
                                         "tokenizer.ggml.eos_token_id" };
    const bool prints[2] = { report->prints_bos, report->prints_eos };
    const struct mf_index *index = &model->index;
    const struct mf_meta *kind = mf_index_meta(index, "tokenizer.ggml.model");

    if (!kind || !mf_str_is(kind->text, "gpt2"))
        return;
    for (size_t i = 0; i < 2; i++)
        if (prints[i] && !mf_index_meta(index, keys[i]))
            mf_index_note(&model->index, use->shard, MF_WARNING,
                          MF_RULE_TEMPLATE_TOKENS, use->offset,
                          "'%s' prints %s, but '%s' is missing",
                          mf_quote(use->name).text,
                          i == 0 ? "bos_token" : "eos_token", keys[i]);
}

/* ---- metadata ---- */

static enum mf_status check_text(struct mf_model *model, size_t at,
                                 const struct mf_template_use *use, bool first)
{
    struct value value = { model, at, NULL };
    struct mf_template_text text = { .rewind = value_rewind,
                                     .next = value_next,
                                     .user = &value };
    struct mf_template_report *report = mf_alloc(model->env, sizeof(*report));
    enum mf_status status;

    if (!report)
        return model->env->error.status;
    status = mf_template_check(model->env, &text, report);
    mf_values_close(value.values);
    if (status == MF_OK) {
        mf_template_note(&model->index, use, report);
        if (first)
            check_ids(model, use, report);
        status = check_tokens(model, use, report);
    }
    mf_release(model->env, report, sizeof(*report));
    return status;
}

static enum mf_status check_row(struct mf_model *model, size_t at)
{
    static const char key[] = "tokenizer.chat_template",
                      no_text[] = "'%s' is of type %s, not a string: llama.cpp "
                                  "ignores it or reads its value as the text";
    const struct mf_meta *meta = &model->index.meta[at];
    bool first =
        mf_str_is(meta->key, key) || mf_str_is(meta->key, "chat_template");
    bool llama = (model->format->readers & MF_READER_LLAMA) != 0;
    struct mf_template_use use = {
        .name = meta->key,
        .shard = meta->shard,
        .offset = meta->span.offset,
        .plain = meta->span.size == meta->count,
        .llama = llama && first ? MF_ERROR : MF_WARNING,
        .jinja2 = MF_WARNING,
        .llama_does = !llama  ? "llama.cpp does not accept it"
                      : first ? "llama.cpp ends while it loads the template"
                              : "llama.cpp ignores the template"
    };

    if (!first && !mf_str_begins(meta->key, "tokenizer.chat_template."))
        return MF_OK;
    if (meta->type == MF_VALUE_STRING)
        return check_text(model, at, &use, first);
    if (meta->type != MF_VALUE_NULL)
        mf_index_note(&model->index, meta->shard, MF_WARNING,
                      MF_RULE_TEMPLATE_SYNTAX, meta->span.offset, no_text,
                      mf_quote(meta->key).text, mf_value_type_name(meta->type));
    return MF_OK;
}

enum mf_status mf_templates_check(struct mf_model *model)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < model->index.meta_count && status == MF_OK; i++)
        status = check_row(model, i);
    return status;
}
