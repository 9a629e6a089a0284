/* SPDX-License-Identifier: MIT
 *
 * tokenizer.c - what a tokenizer.json says
 */
#include "lib/hub/tokenizer.h"

#include <stdio.h>

#include "lib/json/json_walk.h"

static const struct rule {
    const char *path, *allowed;
    bool needed;
} rules[] = {
#define RULE(path, allowed, needed) { path, allowed, needed },
#define SPLIT(name, whole, bos, pattern)
#include "lib/hub/tokenizer.def"
#undef SPLIT
#undef RULE
};

static const struct split {
    const char *name;
    bool whole, bos;
    const char *pattern;
} splits[] = {
#define RULE(path, allowed, needed)
#define SPLIT(name, whole, bos, pattern) { name, whole, bos, pattern },
#include "lib/hub/tokenizer.def"
#undef SPLIT
#undef RULE
};

#define RULE_COUNT (sizeof(rules) / sizeof(*rules))

struct reading {
    struct mf_tokenizer *tokenizer;
    struct mf_env *env;
    struct mf_json *json;
    char text[MF_TOKEN_MAX + 1]; /* of the string that was announced */
    bool met[RULE_COUNT];
    bool whole;                     /* model.ignore_merges */
    char pattern[MF_TOKEN_MAX + 1]; /* "": none was given */
    struct mf_added **last;         /* where the next one is linked */
    unsigned sequences;             /* of the template */
    bool template;
};

static enum mf_status failed(const struct reading *reading)
{
    return reading->env->error.status;
}

/* ---- scalars ---- */

static enum mf_status refuse(const struct reading *reading, const char *path)
{
    struct mf_str name = { path, strlen(path) };
    struct mf_str text = { reading->text, strlen(reading->text) };

    return mf_fail(reading->env, MF_ERR_UNSUPPORTED,
                   reading->json->token_offset,
                   "it is not certain what '%s' %s would be in GGUF",
                   mf_quote(name).text, mf_quote(text).text);
}

static enum mf_status not_scalar(const struct reading *reading,
                                 const char *path)
{
    struct mf_str name = { path, strlen(path) };

    return mf_fail(reading->env, MF_ERR_CORRUPT, reading->json->token_offset,
                   "'%s' must be a string, a number, true, false or null",
                   mf_quote(name).text);
}

/* A scalar as tokenizer.def writes it, into reading->text: null, 12, 'NFC'. */
static enum mf_status take_scalar(struct reading *reading, const char *path,
                                  enum mf_json_token token)
{
    static const char *const words[MF_JSON_END + 1] = {
        [MF_JSON_TRUE] = "true",
        [MF_JSON_FALSE] = "false",
        [MF_JSON_NULL] = "null",
    };
    uint64_t size;
    bool more;

    if (token != MF_JSON_STRING) {
        const char *word =
            token == MF_JSON_NUMBER ? reading->json->digits : words[token];

        strcpy(reading->text, word ? word : "");
        return word ? MF_OK : not_scalar(reading, path);
    }
    reading->text[0] = '\'';
    if (mf_json_text(reading->json, reading->text + 1, MF_TOKEN_MAX - 2, &size,
                     &more) != MF_OK)
        return failed(reading);
    strcpy(reading->text + 1 + size, "'");
    return more || strlen(reading->text) != size + 2 ? refuse(reading, path)
                                                     : MF_OK;
}

/* The same, without the quotes. */
static enum mf_status take_text(struct reading *reading, const char *path,
                                enum mf_json_token token)
{
    size_t size;

    if (take_scalar(reading, path, token) != MF_OK)
        return failed(reading);
    if (token != MF_JSON_STRING)
        return refuse(reading, path);
    size = strlen(reading->text) - 2;
    memmove(reading->text, reading->text + 1, size);
    reading->text[size] = 0;
    return MF_OK;
}

static bool is_allowed(const char *allowed, const char *text)
{
    size_t size = strlen(text);

    if (!*allowed)
        return true;
    for (const char *at = allowed; *at; at += strcspn(at, " "), at += *at != 0)
        if (strcspn(at, " ") == size && memcmp(at, text, size) == 0)
            return true;
    return false;
}

/* A value that takes part in cutting and merging. */
static enum mf_status visit_rule(struct reading *reading, const char *path,
                                 enum mf_json_token token)
{
    size_t i = 0;

    if (token == MF_JSON_BEGIN_OBJECT || token == MF_JSON_BEGIN_ARRAY)
        return MF_OK;
    if (take_scalar(reading, path, token) != MF_OK)
        return failed(reading);
    while (i < RULE_COUNT && strcmp(rules[i].path, path) != 0)
        i++;
    if (i == RULE_COUNT || reading->met[i] ||
        !is_allowed(rules[i].allowed, reading->text))
        return refuse(reading, path);
    reading->met[i] = true;
    if (strcmp(path, "model.ignore_merges") == 0)
        reading->whole = token == MF_JSON_TRUE;
    if (strcmp(path, "pre_tokenizer.pretokenizers.0.pattern.Regex") == 0)
        strcpy(reading->pattern, reading->text);
    return MF_OK;
}

/* ---- added tokens ---- */

static enum mf_status begin_added(struct reading *reading)
{
    struct mf_added *added =
        mf_arena_take(reading->tokenizer->arena, sizeof(*added));

    if (!added)
        return failed(reading);
    *added = (struct mf_added){ 0 };
    if (*reading->last)
        reading->last = &(*reading->last)->next;
    *reading->last = added;
    return MF_OK;
}

/* path: "added_tokens.3" or "added_tokens.3.content". */
static enum mf_status visit_added(struct reading *reading, const char *path,
                                  enum mf_json_token token)
{
    const char *dot = strchr(path + strlen("added_tokens."), '.');
    const char *name = dot ? dot + 1 : "";
    struct mf_added *added = *reading->last;

    if (!dot && token == MF_JSON_BEGIN_OBJECT)
        return begin_added(reading);
    if (dot && strcmp(name, "id") == 0 && token == MF_JSON_NUMBER &&
        mf_json_plain_u64(reading->json, &added->id) && !added->id_said) {
        added->id_said = true;
        return MF_OK;
    }
    if (strcmp(name, "special") == 0 &&
        (token == MF_JSON_TRUE || token == MF_JSON_FALSE)) {
        added->special = token == MF_JSON_TRUE;
        return MF_OK;
    }
    if (strcmp(name, "content") == 0) {
        struct mf_str text;

        if (take_text(reading, path, token) != MF_OK)
            return failed(reading);
        text = (struct mf_str){ reading->text, strlen(reading->text) };
        added->text.at = mf_arena_text(reading->tokenizer->arena, text.size);
        if (!added->text.at)
            return failed(reading);
        memcpy((char *)added->text.at, text.at, text.size);
        added->text.size = text.size;
        return MF_OK;
    }
    if (!dot || strcmp(name, "id") == 0 || strcmp(name, "special") == 0)
        return refuse(reading, "added_tokens");
    return mf_json_skip(reading->json, token);
}

/* ---- what stands before and behind a text ---- */

/* path: within the template, "0.SpecialToken.id" or "1.Sequence.id".  What may
 * stand there: one token, the text, one token. */
static enum mf_status visit_template(struct reading *reading, const char *path,
                                     enum mf_json_token token)
{
    struct mf_tokenizer *tokenizer = reading->tokenizer;
    const char *name = strchr(path, '.');
    bool special = name && strcmp(name, ".SpecialToken.id") == 0;
    char *place =
        reading->sequences > 0 ? tokenizer->behind : tokenizer->before;

    if (token == MF_JSON_BEGIN_OBJECT || token == MF_JSON_BEGIN_ARRAY ||
        (name && (strcmp(name, ".SpecialToken.type_id") == 0 ||
                  strcmp(name, ".Sequence.type_id") == 0)))
        return MF_OK;
    if (take_text(reading, path, token) != MF_OK)
        return failed(reading);
    if (name && strcmp(name, ".Sequence.id") == 0 && reading->sequences == 0) {
        reading->sequences++;
        return MF_OK;
    }
    if (!special || *place)
        return refuse(reading, "post_processor");
    strcpy(place, reading->text);
    return MF_OK;
}

/* path: what follows "post_processor". */
static enum mf_status visit_after(struct reading *reading, const char *path,
                                  enum mf_json_token token)
{
    while (strncmp(path, ".processors.", 12) == 0)
        path += 12 + strcspn(path + 12, ".");
    if (!*path || strcmp(path, ".processors") == 0)
        return MF_OK;
    if (strncmp(path, ".single.", 8) == 0)
        return visit_template(reading, path + 8, token);
    if (strcmp(path, ".single") == 0) {
        bool again = reading->template;

        reading->template = true;
        return again ? refuse(reading, "post_processor") : MF_OK;
    }
    if (strcmp(path, ".type") != 0)
        return mf_json_skip(reading->json, token);
    if (take_scalar(reading, "post_processor.type", token) != MF_OK)
        return failed(reading);
    return is_allowed("'Sequence' 'ByteLevel' 'TemplateProcessing'",
                      reading->text)
               ? MF_OK
               : refuse(reading, "post_processor.type");
}

/* ---- the file ---- */

/* Where it begins; what is in it is looked at later. */
static enum mf_status note_place(struct reading *reading, const char *path,
                                 enum mf_json_token token, uint64_t *place)
{
    enum mf_json_token wanted = place == &reading->tokenizer->merges_at
                                    ? MF_JSON_BEGIN_ARRAY
                                    : MF_JSON_BEGIN_OBJECT;

    strcpy(reading->text, "");
    if (token != wanted || *place != 0)
        return refuse(reading, path);
    *place = reading->json->token_offset;
    return mf_json_skip(reading->json, token);
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct reading *reading = user;
    size_t area = strcspn(path, ".");

    if (strcmp(path, "model.vocab") == 0)
        return note_place(reading, path, token,
                          &reading->tokenizer->vocabulary_at);
    if (strcmp(path, "model.merges") == 0)
        return note_place(reading, path, token, &reading->tokenizer->merges_at);
    if (strncmp(path, "added_tokens.", 13) == 0)
        return visit_added(reading, path, token);
    if (strncmp(path, "post_processor", area) == 0 && area == 14)
        return visit_after(reading, path + 14, token);
    if ((area == 10 && strncmp(path, "normalizer", area) == 0) ||
        (area == 13 && strncmp(path, "pre_tokenizer", area) == 0) ||
        (area == 7 && strncmp(path, "decoder", area) == 0) ||
        (area == 5 && strncmp(path, "model", area) == 0))
        return visit_rule(reading, path, token);
    return !*path || strcmp(path, "added_tokens") == 0
               ? MF_OK
               : mf_json_skip(reading->json, token);
}

static enum mf_status lacks(const struct reading *reading, const char *what)
{
    return mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "missing key '%s'", what);
}

/* llama.cpp's name for the way that texts are cut. */
static enum mf_status find_split(struct reading *reading)
{
    size_t size = strlen(reading->pattern);

    for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
        /* The text came with its quotes. */
        bool same = size == 0 ? !*splits[i].pattern
                              : strlen(splits[i].pattern) == size - 2 &&
                                    memcmp(splits[i].pattern,
                                           reading->pattern + 1, size - 2) == 0;

        if (same && splits[i].whole == reading->whole) {
            reading->tokenizer->split = splits[i].name;
            reading->tokenizer->adds_bos = splits[i].bos;
        }
    }
    return reading->tokenizer->split
               ? MF_OK
               : mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "llama.cpp has no certain name for how its "
                         "pre_tokenizer cuts a text");
}

static enum mf_status check_reading(struct reading *reading)
{
    const struct mf_tokenizer *tokenizer = reading->tokenizer;
    bool sequence = false;

    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (rules[i].needed && !reading->met[i])
            return lacks(reading, rules[i].path);
        sequence = sequence || (reading->met[i] &&
                                strstr(rules[i].path, ".pretokenizers."));
    }
    /* In a sequence all four are there that say how it cuts. */
    for (size_t i = 0; i < RULE_COUNT && sequence; i++)
        if (strstr(rules[i].path, ".pretokenizers.") && !reading->met[i] &&
            !strstr(rules[i].path, ".trim_offsets"))
            return lacks(reading, rules[i].path);
    if (tokenizer->vocabulary_at == 0)
        return lacks(reading, "model.vocab");
    if (tokenizer->merges_at == 0)
        return lacks(reading, "model.merges");
    if (reading->template && reading->sequences == 0)
        return lacks(reading, "post_processor.single");
    return find_split(reading);
}

enum mf_status mf_tokenizer_read(struct mf_tokenizer *tokenizer)
{
    struct mf_sidecar file;
    struct reading reading = { .tokenizer = tokenizer,
                               .env = tokenizer->env,
                               .json = &file.json,
                               .last = &tokenizer->added };
    enum mf_status status = mf_sidecar_open(&file, tokenizer->model,
                                            tokenizer->arena, "tokenizer.json");

    tokenizer->file_size = file.source.size;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, &reading);
    if (status == MF_OK)
        status = check_reading(&reading);
    return mf_sidecar_close(&file, status);
}
