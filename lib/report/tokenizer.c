/* SPDX-License-Identifier: MIT
 *
 * tokenizer.c - section "tokenizer": size, special tokens and samples
 *
 * The vocabulary stays in the file.  One pass over the tokens, their types and
 * their scores keeps the few that are shown.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/heap.h"
#include "lib/report/put.h"
#include "lib/vocab/known.h"

#define EDGE      64  /* samples at the beginning, and at the end */
#define BETWEEN   128 /* evenly spaced */
#define SPECIAL   64
#define TEXT_ROOM 200

static const char prefix[] = "tokenizer.ggml.";

struct token {
    uint64_t id;
    size_t size; /* of the text; SIZE_MAX: there is no such token */
    bool cut, has_kind, has_score;
    int64_t kind;
    double score;
    char text[TEXT_ROOM];
};

struct special {
    struct mf_str name;
    uint64_t id;
};

struct vocabulary {
    struct mf_model *model;
    uint64_t count;
    size_t token_count, special_count, sample_count;
    struct token *token; /* those that are shown, in order of their ids */
    struct special special[SPECIAL];
    size_t special_left; /* that did not fit */
    uint64_t kinds[MF_TOKEN_TYPES], other_kinds;
};

/* "tokenizer.ggml." and the rest; false: there is no such key. */
static bool key_find(const struct mf_model *model, const char *rest,
                     struct mf_meta *out, size_t *at)
{
    char key[96];
    int size = snprintf(key, sizeof(key), "%s%s", prefix, rest);

    return mf_meta_find(model, key, (size_t)size, out, at);
}

static bool array_find(const struct mf_model *model, const char *rest,
                       struct mf_meta *out, size_t *at)
{
    return key_find(model, rest, out, at) && out->type == MF_VALUE_ARRAY;
}

/* ---- which tokens are shown ---- */

static uint64_t sample_id(uint64_t count, size_t i)
{
    uint64_t middle = count - (uint64_t)2 * EDGE;

    if (count <= 2 * EDGE + BETWEEN || i < EDGE)
        return i;
    if (i >= EDGE + BETWEEN)
        return count - (2 * EDGE + BETWEEN - i);
    return EDGE + middle / BETWEEN * (i - EDGE) +
           middle % BETWEEN * (i - EDGE) / BETWEEN;
}

static size_t sample_count(uint64_t count)
{
    return count < 2 * EDGE + BETWEEN ? (size_t)count : 2 * EDGE + BETWEEN;
}

/* "bos_token_id" is the special token "bos". */
static void special_note(struct vocabulary *vocabulary,
                         const struct mf_meta *meta)
{
    static const char end[] = "_token_id";
    size_t begin = sizeof(prefix) - 1, tail = sizeof(end) - 1;
    struct special *special;

    if (meta->type != MF_VALUE_U32 || meta->key.size <= begin + tail ||
        memcmp(meta->key.at, prefix, begin) != 0 ||
        memcmp(meta->key.at + meta->key.size - tail, end, tail) != 0)
        return;
    if (vocabulary->special_count == SPECIAL) {
        vocabulary->special_left++;
        return;
    }
    special = &vocabulary->special[vocabulary->special_count++];
    special->name =
        (struct mf_str){ meta->key.at + begin, meta->key.size - begin - tail };
    special->id = meta->number.u64;
}

static void token_add(struct vocabulary *vocabulary, uint64_t id)
{
    size_t at = vocabulary->token_count;

    while (at > 0 && vocabulary->token[at - 1].id > id)
        at--;
    if (at > 0 && vocabulary->token[at - 1].id == id)
        return;
    memmove(&vocabulary->token[at + 1], &vocabulary->token[at],
            (vocabulary->token_count - at) * sizeof(*vocabulary->token));
    vocabulary->token[at] = (struct token){ .id = id, .size = SIZE_MAX };
    vocabulary->token_count++;
}

static struct token *token_find(const struct vocabulary *vocabulary,
                                uint64_t id)
{
    for (size_t i = 0; i < vocabulary->token_count; i++)
        if (vocabulary->token[i].id == id)
            return &vocabulary->token[i];
    return NULL;
}

static void choose(struct vocabulary *vocabulary)
{
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(vocabulary->model, i, &meta); i++)
        special_note(vocabulary, &meta);
    vocabulary->sample_count = sample_count(vocabulary->count);
    for (size_t i = 0; i < vocabulary->sample_count; i++)
        token_add(vocabulary, sample_id(vocabulary->count, i));
    for (size_t i = 0; i < vocabulary->special_count; i++)
        token_add(vocabulary, vocabulary->special[i].id);
}

/* ---- what they are ---- */

static void text_note(struct token *token, const struct mf_value *value)
{
    struct mf_str front = mf_report_front(value->text, TEXT_ROOM);

    token->size = front.size;
    token->cut = value->more || front.size < value->text.size;
    if (front.size > 0)
        memcpy(token->text, front.at, front.size);
}

static void kind_note(struct vocabulary *vocabulary, struct token *token,
                      const struct mf_value *value)
{
    int64_t kind = value->number.i64;

    if (kind >= 0 && kind < MF_TOKEN_TYPES)
        vocabulary->kinds[kind]++;
    else
        vocabulary->other_kinds++;
    if (token) {
        token->kind = kind;
        token->has_kind = true;
    }
}

enum column { TEXTS, KINDS, SCORES };

static void note(struct vocabulary *vocabulary, enum column column,
                 struct token *token, const struct mf_value *value)
{
    if (column == KINDS)
        kind_note(vocabulary, token, value);
    else if (column == TEXTS && token)
        text_note(token, value);
    else if (column == SCORES && token) {
        token->score = value->number.f64;
        token->has_score = true;
    }
}

/* The elements of an array of one value for each token. */
static enum mf_status column_read(struct vocabulary *vocabulary, size_t index,
                                  enum column column)
{
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status = mf_values_open(vocabulary->model, index, &values);
    size_t next = 0;
    uint64_t id = 0;
    bool within = false;

    if (status != MF_OK)
        return status;
    for (;;) {
        struct token *token =
            next < vocabulary->token_count ? &vocabulary->token[next] : NULL;
        bool shown = token && token->id == id;

        status = mf_values_next(values, &value);
        if (status != MF_OK || value.event == MF_EVENT_END)
            break;
        if (value.event != MF_EVENT_ITEM)
            continue;
        if (!within)
            note(vocabulary, column, shown ? token : NULL, &value);
        within = value.type == MF_VALUE_STRING && value.more;
        id += !within;
        next += shown && !within;
    }
    mf_values_close(values);
    return status;
}

/* Whether elements of that type are for the column: others, of which a file
 * can have as many as it has bytes, are not gone over. */
static bool suits(enum column column, enum mf_value_type of)
{
    if (column == KINDS)
        return of == MF_VALUE_I32 || of == MF_VALUE_U32;
    return of == (column == TEXTS ? MF_VALUE_STRING : MF_VALUE_F32);
}

static enum mf_status read_all(struct vocabulary *vocabulary)
{
    static const char *const keys[] = {
        [TEXTS] = "tokens", [KINDS] = "token_type", [SCORES] = "scores"
    };
    enum mf_status status = MF_OK;
    struct mf_meta meta;
    size_t at;

    for (int i = TEXTS; i <= SCORES && status == MF_OK; i++)
        if (array_find(vocabulary->model, keys[i], &meta, &at) &&
            suits((enum column)i, meta.of))
            status = column_read(vocabulary, at, (enum column)i);
    return status;
}

/* ---- the section ---- */

static const char *const kind_names[MF_TOKEN_TYPES] = {
    "undefined",    "normal", "unknown", "control",
    "user defined", "unused", "byte"
};

static void kinds_put(const struct vocabulary *vocabulary,
                      struct mf_json_out *json)
{
    mf_json_key(json, "kinds");
    mf_json_begin(json, '{');
    for (size_t i = 0; i < MF_TOKEN_TYPES; i++)
        if (vocabulary->kinds[i] > 0)
            mf_put_number(json, kind_names[i], vocabulary->kinds[i]);
    if (vocabulary->other_kinds > 0)
        mf_put_number(json, "other", vocabulary->other_kinds);
    mf_json_end(json, '}');
}

static void token_put(const struct token *token, struct mf_json_out *json)
{
    mf_put_number(json, "id", token->id);
    if (token->size == SIZE_MAX)
        return;
    mf_put_text(json, "text", (struct mf_str){ token->text, token->size });
    if (token->cut)
        mf_put_bool(json, "cut", true);
    if (token->has_kind)
        mf_put_string(json, "kind",
                      token->kind >= 0 && token->kind < MF_TOKEN_TYPES
                          ? kind_names[token->kind]
                          : "other");
    if (token->has_score) {
        mf_json_key(json, "score");
        mf_json_f32(json, (float)token->score);
    }
}

static void special_put(const struct vocabulary *vocabulary,
                        struct mf_json_out *json)
{
    mf_json_key(json, "special");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < vocabulary->special_count; i++) {
        const struct special *special = &vocabulary->special[i];

        mf_json_begin(json, '{');
        mf_put_text(json, "name", special->name);
        token_put(token_find(vocabulary, special->id), json);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    if (vocabulary->special_left > 0)
        mf_put_number(json, "special_left", vocabulary->special_left);
}

static void samples_put(const struct vocabulary *vocabulary,
                        struct mf_json_out *json)
{
    mf_json_key(json, "samples");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < vocabulary->sample_count; i++) {
        mf_json_begin(json, '{');
        token_put(token_find(vocabulary, sample_id(vocabulary->count, i)),
                  json);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void name_put(const struct vocabulary *vocabulary, const char *key,
                     struct mf_json_out *json)
{
    struct mf_meta meta;
    size_t at;

    if (key_find(vocabulary->model, key, &meta, &at) &&
        meta.type == MF_VALUE_STRING && meta.text.at)
        mf_put_text(json, key, meta.text);
}

static void tokenizer_put(const struct vocabulary *vocabulary,
                          struct mf_json_out *json)
{
    struct mf_meta merges;
    size_t at;

    mf_json_key(json, "tokenizer");
    mf_json_begin(json, '{');
    name_put(vocabulary, "model", json);
    name_put(vocabulary, "pre", json);
    mf_put_number(json, "count", vocabulary->count);
    if (array_find(vocabulary->model, "merges", &merges, &at))
        mf_put_number(json, "merges", merges.count);
    kinds_put(vocabulary, json);
    special_put(vocabulary, json);
    samples_put(vocabulary, json);
    mf_json_end(json, '}');
}

enum mf_status mf_report_tokenizer(struct mf_model *model,
                                   const struct mf_report_options *options,
                                   struct mf_json_out *json)
{
    size_t room = (2 * EDGE + BETWEEN + SPECIAL) * sizeof(struct token), at;
    struct mf_env *env = mf_report_env(model);
    struct vocabulary *vocabulary;
    enum mf_status status;
    struct mf_meta tokens;

    (void)options;
    if (!array_find(model, "tokens", &tokens, &at))
        return MF_OK;
    vocabulary = mf_alloc(env, sizeof(*vocabulary));
    if (!vocabulary)
        return MF_ERR_MEMORY;
    memset(vocabulary, 0, sizeof(*vocabulary));
    vocabulary->model = model;
    vocabulary->count = tokens.count;
    vocabulary->token = mf_alloc(env, room);
    status = vocabulary->token ? MF_OK : MF_ERR_MEMORY;
    if (status == MF_OK) {
        choose(vocabulary);
        status = read_all(vocabulary);
    }
    if (status == MF_OK)
        tokenizer_put(vocabulary, json);
    mf_release(env, vocabulary->token, room);
    mf_release(env, vocabulary, sizeof(*vocabulary));
    return status;
}
