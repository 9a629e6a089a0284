/* SPDX-License-Identifier: MIT
 *
 * former.c - tokenizer.json: what it says apart from vocabulary and merges
 *
 * transformers and llama.cpp are two programs that must cut the same text into
 * the same tokens.  tokenizer.json describes each step of the one as data;
 * llama.cpp has the steps built in and knows them by a name,
 * tokenizer.ggml.pre.  So a file is accepted only where every value that takes
 * part in cutting is one that a built-in step does (RULE of former.def), and
 * where the regular expression is, byte for byte, that of a known name (SPLIT).
 * Two expressions that mean the same and are written in different ways are
 * different here: to show that they are equal would take more than a
 * comparison.
 *
 * There is no default: with a wrong name the model would load, and answer worse
 * without anybody noticing.
 */
#include "lib/tokenizer/former.h"

#include <stdio.h>

#include "lib/json/json_walk.h"

static const struct rule {
    const char *path, *allowed;
    bool needed;
} rules[] = {
#define RULE(path, allowed, needed) { path, allowed, needed },
#define SPLIT(name, ignore_merges, bos, pattern)
#include "lib/tokenizer/former.def"
#undef SPLIT
#undef RULE
};

static const struct split {
    const char *name;
    bool ignore_merges, bos;
    const char *pattern;
} splits[] = {
#define RULE(path, allowed, needed)
#define SPLIT(name, ignore_merges, bos, pattern)                               \
    { name, ignore_merges, bos, pattern },
#include "lib/tokenizer/former.def"
#undef SPLIT
#undef RULE
};

#define RULE_COUNT (sizeof(rules) / sizeof(*rules))

struct reading {
    struct mf_tokenizer *tokenizer;
    struct mf_env *env;
    struct mf_json *json;
    char text[MF_TOKEN_MAX + 1]; /* the last scalar, see read_scalar */
    bool seen[RULE_COUNT];
    bool ignore_merges;
    char pattern[MF_TOKEN_MAX + 1]; /* with its quotes; "": missing */
    struct mf_added_token **last;   /* link to the last added token */
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
                   "'%s' %s has no known equivalent in GGUF",
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

/* A scalar as former.def writes it, into reading->text: null, 12, 'NFC'. */
static enum mf_status read_scalar(struct reading *reading, const char *path,
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

/* A string, without the quotes. */
static enum mf_status read_string(struct reading *reading, const char *path,
                                  enum mf_json_token token)
{
    size_t size;

    if (read_scalar(reading, path, token) != MF_OK)
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

/* A value that takes part in cutting text or merging. */
static enum mf_status visit_rule(struct reading *reading, const char *path,
                                 enum mf_json_token token)
{
    size_t i = 0;

    if (token == MF_JSON_BEGIN_OBJECT || token == MF_JSON_BEGIN_ARRAY)
        return MF_OK;
    if (read_scalar(reading, path, token) != MF_OK)
        return failed(reading);
    while (i < RULE_COUNT && strcmp(rules[i].path, path) != 0)
        i++;
    if (i == RULE_COUNT || reading->seen[i] ||
        !is_allowed(rules[i].allowed, reading->text))
        return refuse(reading, path);
    reading->seen[i] = true;
    if (strcmp(path, "model.ignore_merges") == 0)
        reading->ignore_merges = token == MF_JSON_TRUE;
    if (strcmp(path, "pre_tokenizer.pretokenizers.0.pattern.Regex") == 0)
        strcpy(reading->pattern, reading->text);
    return MF_OK;
}

/* ---- added tokens ---- */

static enum mf_status begin_added(struct reading *reading)
{
    struct mf_added_token *added =
        mf_arena_take(reading->tokenizer->arena, sizeof(*added));

    if (!added)
        return failed(reading);
    *added = (struct mf_added_token){ 0 };
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
    struct mf_added_token *added = *reading->last;

    if (!dot && token == MF_JSON_BEGIN_OBJECT)
        return begin_added(reading);
    if (dot && strcmp(name, "id") == 0 && token == MF_JSON_NUMBER &&
        mf_json_plain_u64(reading->json, &added->id) && !added->has_id) {
        added->has_id = true;
        return MF_OK;
    }
    if (strcmp(name, "special") == 0 &&
        (token == MF_JSON_TRUE || token == MF_JSON_FALSE)) {
        added->special = token == MF_JSON_TRUE;
        return MF_OK;
    }
    if (strcmp(name, "content") == 0) {
        struct mf_str text;

        if (read_string(reading, path, token) != MF_OK)
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

/* ---- tokens before and after each text ---- */

/* path: within the template, "0.SpecialToken.id" or "1.Sequence.id".  Known are
 * the text alone, and one token before it, after it, or both. */
static enum mf_status visit_template(struct reading *reading, const char *path,
                                     enum mf_json_token token)
{
    struct mf_tokenizer *tokenizer = reading->tokenizer;
    const char *name = strchr(path, '.');
    bool special = name && strcmp(name, ".SpecialToken.id") == 0;
    char *token_text =
        reading->sequences > 0 ? tokenizer->suffix : tokenizer->prefix;

    if (token == MF_JSON_BEGIN_OBJECT || token == MF_JSON_BEGIN_ARRAY ||
        (name && (strcmp(name, ".SpecialToken.type_id") == 0 ||
                  strcmp(name, ".Sequence.type_id") == 0)))
        return MF_OK;
    if (read_string(reading, path, token) != MF_OK)
        return failed(reading);
    if (name && strcmp(name, ".Sequence.id") == 0 && reading->sequences == 0) {
        reading->sequences++;
        return MF_OK;
    }
    if (!special || *token_text)
        return refuse(reading, "post_processor");
    strcpy(token_text, reading->text);
    return MF_OK;
}

/* path: after "post_processor". */
static enum mf_status visit_post_processor(struct reading *reading,
                                           const char *path,
                                           enum mf_json_token token)
{
    while (strncmp(path, ".processors.", 12) == 0)
        path += 12 + strcspn(path + 12, ".");
    if (!*path || strcmp(path, ".processors") == 0)
        return MF_OK;
    if (strncmp(path, ".single.", 8) == 0)
        return visit_template(reading, path + 8, token);
    if (strcmp(path, ".single") == 0) {
        bool second = reading->template;

        reading->template = true;
        return second ? refuse(reading, "post_processor") : MF_OK;
    }
    if (strcmp(path, ".type") != 0)
        return mf_json_skip(reading->json, token);
    if (read_scalar(reading, "post_processor.type", token) != MF_OK)
        return failed(reading);
    return is_allowed("'Sequence' 'ByteLevel' 'TemplateProcessing'",
                      reading->text)
               ? MF_OK
               : refuse(reading, "post_processor.type");
}

/* ---- the file ---- */

/* Keeps where a container begins, and skips it: it is read later. */
static enum mf_status note_offset(struct reading *reading, const char *path,
                                  enum mf_json_token token, uint64_t *offset)
{
    enum mf_json_token expected = offset == &reading->tokenizer->merges_offset
                                      ? MF_JSON_BEGIN_ARRAY
                                      : MF_JSON_BEGIN_OBJECT;

    strcpy(reading->text, "");
    if (token != expected || *offset != 0)
        return refuse(reading, path);
    *offset = reading->json->token_offset;
    return mf_json_skip(reading->json, token);
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct reading *reading = user;
    size_t area = strcspn(path, ".");

    if (strcmp(path, "model.vocab") == 0)
        return note_offset(reading, path, token,
                           &reading->tokenizer->vocabulary_offset);
    if (strcmp(path, "model.merges") == 0)
        return note_offset(reading, path, token,
                           &reading->tokenizer->merges_offset);
    if (strncmp(path, "added_tokens.", 13) == 0)
        return visit_added(reading, path, token);
    if (strncmp(path, "post_processor", area) == 0 && area == 14)
        return visit_post_processor(reading, path + 14, token);
    if ((area == 10 && strncmp(path, "normalizer", area) == 0) ||
        (area == 13 && strncmp(path, "pre_tokenizer", area) == 0) ||
        (area == 7 && strncmp(path, "decoder", area) == 0) ||
        (area == 5 && strncmp(path, "model", area) == 0))
        return visit_rule(reading, path, token);
    return !*path || strcmp(path, "added_tokens") == 0
               ? MF_OK
               : mf_json_skip(reading->json, token);
}

static enum mf_status missing_key(const struct reading *reading,
                                  const char *key)
{
    return mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "missing key '%s'", key);
}

/* llama.cpp's name for the pre-tokenizer. */
static enum mf_status find_pre(struct reading *reading)
{
    size_t size = strlen(reading->pattern);

    for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
        /* -2: reading->pattern has its quotes. */
        bool same = size == 0 ? !*splits[i].pattern
                              : strlen(splits[i].pattern) == size - 2 &&
                                    memcmp(splits[i].pattern,
                                           reading->pattern + 1, size - 2) == 0;

        if (same && splits[i].ignore_merges == reading->ignore_merges) {
            reading->tokenizer->pre = splits[i].name;
            reading->tokenizer->adds_bos = splits[i].bos;
        }
    }
    return reading->tokenizer->pre
               ? MF_OK
               : mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "llama.cpp has no known name for this "
                         "'pre_tokenizer'");
}

static enum mf_status check_reading(struct reading *reading)
{
    const struct mf_tokenizer *tokenizer = reading->tokenizer;
    bool sequence = false;

    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (rules[i].needed && !reading->seen[i])
            return missing_key(reading, rules[i].path);
        sequence = sequence || (reading->seen[i] &&
                                strstr(rules[i].path, ".pretokenizers."));
    }
    /* A sequence needs all that say how it cuts; offsets do not matter. */
    for (size_t i = 0; i < RULE_COUNT && sequence; i++)
        if (strstr(rules[i].path, ".pretokenizers.") && !reading->seen[i] &&
            !strstr(rules[i].path, ".trim_offsets"))
            return missing_key(reading, rules[i].path);
    if (tokenizer->vocabulary_offset == 0)
        return missing_key(reading, "model.vocab");
    if (tokenizer->merges_offset == 0)
        return missing_key(reading, "model.merges");
    if (reading->template && reading->sequences == 0)
        return missing_key(reading, "post_processor.single");
    return find_pre(reading);
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
