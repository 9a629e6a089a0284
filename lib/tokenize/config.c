/* SPDX-License-Identifier: MIT
 *
 * config.c - what tokenizer_config.json says
 */
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/json/json_walk.h"
#include "lib/tokenize/class.h"

static const char *const special_keys[MF_SPECIAL_COUNT] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"
};

static enum mf_status failed(const struct mf_reading *reading)
{
    return reading->env->error.status;
}

static enum mf_status wrong(struct mf_reading *reading, const char *path,
                            const char *expected)
{
    const struct mf_str name = { path, strlen(path) };

    return mf_fail(reading->env, MF_ERR_CORRUPT,
                   reading->file.json.token_offset, "'%s' must be %s",
                   mf_quote(name).text, expected);
}

/* ---- tokens ---- */

static struct mf_given *add_given(struct mf_reading *reading,
                                  struct mf_given ***last)
{
    struct mf_given *given =
        mf_arena_take(reading->tokenizer->arena, sizeof(*given));

    if (!given)
        return NULL;
    *given = (struct mf_given){ .next = NULL };
    **last = given;
    *last = &given->next;
    return given;
}

/* A string, or an object with its flags. */
static enum mf_status read_given(struct mf_reading *reading, const char *path,
                                 enum mf_json_token token,
                                 struct mf_given *given)
{
    struct mf_json *json = &reading->file.json;

    given->object = token == MF_JSON_BEGIN_OBJECT;
    if (given->object)
        return mf_tokenize_added_read(reading->tokenizer, json, &given->token);
    given->token = (struct mf_tokenize_added){ .special = true };
    if (token != MF_JSON_STRING)
        return wrong(reading, path, "a string or an added token");
    return mf_load_text(reading->tokenizer, json, MF_ADDED_TEXT,
                        &given->token.text);
}

static enum mf_status read_list(struct mf_reading *reading, const char *path,
                                enum mf_json_token token)
{
    struct mf_json *json = &reading->file.json;
    bool object = token == MF_JSON_BEGIN_OBJECT;

    if (token == MF_JSON_NULL)
        return MF_OK;
    if (object != (strcmp(path, "extra_special_tokens") == 0) ||
        (!object && token != MF_JSON_BEGIN_ARRAY))
        return wrong(reading, path, object ? "a list" : "of another kind");
    for (;;) {
        struct mf_given *given;

        token = mf_json_next(json);
        if (token == MF_JSON_KEY)
            token = mf_json_next(json);
        if (token == MF_JSON_ERROR || token == MF_JSON_END_ARRAY ||
            token == MF_JSON_END_OBJECT)
            return failed(reading);
        given = add_given(reading, &reading->last_extra);
        if (!given || read_given(reading, path, token, given) != MF_OK)
            return failed(reading);
    }
}

/* added_tokens_decoder: {"5": {"content": ...}}. */
static enum mf_status read_decoder(struct mf_reading *reading, const char *path,
                                   enum mf_json_token token)
{
    struct mf_json *json = &reading->file.json;

    reading->tokenizer->config.has_decoder = true;
    if (token != MF_JSON_BEGIN_OBJECT)
        return wrong(reading, path, "an object");
    for (size_t count = 0;; count++) {
        struct mf_given *given;
        char key[24];
        uint64_t size;
        bool more;

        token = mf_json_next(json);
        if (token == MF_JSON_ERROR || token == MF_JSON_END_OBJECT)
            return failed(reading);
        if (mf_json_text(json, key, sizeof(key) - 1, &size, &more) != MF_OK)
            return failed(reading);
        key[size] = 0;
        if (more || size == 0 || strspn(key, "0123456789") != size || size > 18)
            return wrong(reading, path, "an object whose keys are ids");
        if (count == MF_ADDED_MAX)
            return mf_fail(reading->env, MF_ERR_LIMIT, json->token_offset,
                           "more than %d added tokens", MF_ADDED_MAX);
        given = add_given(reading, &reading->last_decoder);
        if (!given)
            return failed(reading);
        given->id = strtoull(key, NULL, 10);
        if (mf_json_next(json) != MF_JSON_BEGIN_OBJECT)
            return failed(reading)
                       ? failed(reading)
                       : wrong(reading, path, "an object of objects");
        if (mf_tokenize_added_read(reading->tokenizer, json, &given->token) !=
            MF_OK)
            return failed(reading);
    }
}

/* Merges lists of 1, 2, 4, ... tokens: equal ids keep their order, as Python's
 * sorted has it. */
static struct mf_given *sort_by_id(struct mf_given *list)
{
    for (size_t width = 1;; width *= 2) {
        struct mf_given *rest = list, **last = &list;
        size_t merges = 0;

        while (rest) {
            struct mf_given *a = rest, *b = rest;
            size_t a_left = 0, b_left = width;

            for (; b && a_left < width; a_left++)
                b = b->next;
            rest = b;
            for (size_t i = 0; rest && i < width; i++)
                rest = rest->next;
            while (a_left > 0 || (b_left > 0 && b)) {
                bool first =
                    a_left > 0 && (b_left == 0 || !b || a->id <= b->id);
                struct mf_given **from = first ? &a : &b;

                *last = *from;
                last = &(*from)->next;
                *from = (*from)->next;
                *(first ? &a_left : &b_left) -= 1;
            }
            merges++;
        }
        *last = NULL;
        if (merges <= 1)
            return list;
    }
}

/* ---- the file ---- */

static enum mf_status visit_special(struct mf_reading *reading, size_t i,
                                    enum mf_json_token token)
{
    struct mf_class_config *config = &reading->tokenizer->config;

    config->special_given[i] = true;
    config->special[i] = (struct mf_str){ NULL, 0 };
    if (token == MF_JSON_NULL)
        return MF_OK;
    if (read_given(reading, special_keys[i], token, &reading->special[i]) !=
        MF_OK)
        return failed(reading);
    config->special[i] = reading->special[i].token.text;
    return MF_OK;
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct mf_reading *reading = user;
    struct mf_class_config *config = &reading->tokenizer->config;
    const struct {
        const char *name;
        enum mf_tristate *value;
    } flags[] = {
        { "add_bos_token", &config->add_bos },
        { "add_eos_token", &config->add_eos },
        { "add_prefix_space", &config->prefix_space },
        { "do_lower_case", &config->lower },
        { "strip_accents", &config->accents },
        { "tokenize_chinese_chars", &config->chinese },
        { "fix_mistral_regex", &config->fix_regex },
        { "split_special_tokens", &config->split_special },
    };

    if (!*path)
        return MF_OK;
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        if (strcmp(path, flags[i].name) != 0)
            continue;
        *flags[i].value = token == MF_JSON_TRUE    ? MF_TRUE
                          : token == MF_JSON_FALSE ? MF_FALSE
                                                   : MF_NULL;
        return token == MF_JSON_TRUE || token == MF_JSON_FALSE ||
                       token == MF_JSON_NULL
                   ? MF_OK
                   : wrong(reading, path, "true or false");
    }
    for (size_t i = 0; i < MF_SPECIAL_COUNT; i++)
        if (strcmp(path, special_keys[i]) == 0)
            return visit_special(reading, i, token);
    if (strcmp(path, "additional_special_tokens") == 0 ||
        strcmp(path, "extra_special_tokens") == 0)
        return read_list(reading, path, token);
    if (strcmp(path, "added_tokens_decoder") == 0)
        return read_decoder(reading, path, token);
    if (strcmp(path, "tokenizer_class") != 0 || token == MF_JSON_NULL)
        return mf_json_skip(&reading->file.json, token);
    if (token != MF_JSON_STRING)
        return wrong(reading, path, "a string");
    return mf_load_text(reading->tokenizer, &reading->file.json, 100,
                        &config->class_name);
}

static enum mf_status read_file(struct mf_reading *reading, const char *name)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;
    enum mf_status status;

    if (!mf_sidecar_exists(tokenizer->model, tokenizer->arena, name))
        return failed(reading);
    status = mf_sidecar_open(&reading->file, tokenizer->model, tokenizer->arena,
                             name);
    if (status == MF_OK)
        status = mf_json_walk(&reading->file.json, visit, reading);
    return mf_sidecar_close(&reading->file, status);
}

enum mf_status mf_reading_files(struct mf_reading *reading)
{
    reading->last_decoder = &reading->decoder;
    reading->last_extra = &reading->extra;
    if (read_file(reading, "tokenizer_config.json") != MF_OK ||
        (!reading->tokenizer->config.has_decoder &&
         read_file(reading, "special_tokens_map.json") != MF_OK))
        return failed(reading);
    reading->decoder = sort_by_id(reading->decoder);
    return MF_OK;
}
