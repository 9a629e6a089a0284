/* SPDX-License-Identifier: MIT
 *
 * fast_vocab.c - the vocabulary of a tokenizer.json, which stays in its file
 *
 * It is gone over twice before anything is written: to count it and to find the
 * added tokens in it, and to note for each id where its text is.  Each entry
 * costs the file at least six bytes, so a table of four bytes for each id is
 * paid for by what was read, but for holes between ids, which are bounded.
 */
#include "lib/tokenizer/fast.h"

static enum mf_status failed(const struct mf_fast *fast)
{
    return fast->env->error.status;
}

/* Calls each with the offset of a token's text and its id; added: the added
 * token of that text. */
typedef enum mf_status each_token(struct mf_fast *fast, uint64_t offset,
                                  uint64_t id, struct mf_added *added);

static enum mf_status bad_token(struct mf_fast *fast,
                                const struct mf_json *json)
{
    return failed(fast)
               ? failed(fast)
               : mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                         "the id of a token of 'model.vocab' is not a number "
                         "from 0 to %" PRIu64,
                         MF_VOCAB_MAX - 1);
}

static enum mf_status bad_pair(struct mf_fast *fast, const struct mf_json *json)
{
    return failed(fast)
               ? failed(fast)
               : mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                         "a token of 'model.vocab' is not a pair of a text "
                         "and a score");
}

/* What is longer is no added token: those of real models have up to 100. */
#define FOUND_MAX 4096

/* The text just announced may be an added token. */
static enum mf_status find_added(struct mf_fast *fast, struct mf_json *json,
                                 struct mf_added **added)
{
    char text[FOUND_MAX];
    uint64_t size;
    bool more;

    if (mf_json_text(json, text, sizeof(text), &size, &more) != MF_OK)
        return failed(fast);
    *added = more ? NULL
                  : mf_added_find(&fast->added,
                                  (struct mf_str){ text, (size_t)size });
    return MF_OK;
}

/* Unigram has [["text", score], ...]: ids are places. */
static enum mf_status each_scored(struct mf_fast *fast, struct mf_json *json,
                                  each_token *each, bool find)
{
    enum mf_json_token token = mf_json_next(json);
    uint64_t id = 0;

    for (; token == MF_JSON_BEGIN_ARRAY; token = mf_json_next(json)) {
        struct mf_added *added = NULL;
        bool text = mf_json_next(json) == MF_JSON_STRING;
        uint64_t offset = json->token_offset;

        if (text && find && find_added(fast, json, &added) != MF_OK)
            return failed(fast);
        if (!text || mf_json_next(json) != MF_JSON_NUMBER ||
            mf_json_next(json) != MF_JSON_END_ARRAY || id >= MF_VOCAB_MAX)
            return bad_pair(fast, json);
        if (each(fast, offset, id++, added) != MF_OK)
            return failed(fast);
    }
    return token == MF_JSON_END_ARRAY ? MF_OK : bad_pair(fast, json);
}

static enum mf_status each_of(struct mf_fast *fast, struct mf_json *json,
                              each_token *each, bool find)
{
    enum mf_json_token token = mf_json_next(json); /* the bracket */

    if (token == MF_JSON_BEGIN_ARRAY)
        return each_scored(fast, json, each, find);
    while ((token = mf_json_next(json)) == MF_JSON_KEY) {
        uint64_t offset = json->token_offset, id;
        struct mf_added *added = NULL;

        if (find && find_added(fast, json, &added) != MF_OK)
            return failed(fast);
        if (mf_json_next(json) != MF_JSON_NUMBER ||
            !mf_json_plain_u64(json, &id) || id >= MF_VOCAB_MAX)
            return bad_token(fast, json);
        if (each(fast, offset, id, added) != MF_OK)
            return failed(fast);
    }
    return token == MF_JSON_ERROR ? failed(fast) : MF_OK;
}

static enum mf_status go_over(struct mf_fast *fast, each_token *each, bool find)
{
    struct mf_sidecar file;
    enum mf_status status =
        mf_fast_open(fast, fast->env, &file, fast->vocab_offset);

    if (status == MF_OK)
        status = each_of(fast, &file.json, each, find);
    return mf_sidecar_close(&file, status);
}

/* ---- the first time ---- */

static enum mf_status count_token(struct mf_fast *fast, uint64_t offset,
                                  uint64_t id, struct mf_added *added)
{
    (void)offset;
    fast->vocab_count++;
    if (id >= fast->id_end)
        fast->id_end = id + 1;
    if (added)
        added->model_id = id;
    return MF_OK;
}

enum mf_status mf_fast_scan(struct mf_fast *fast)
{
    fast->vocab_count = 0;
    fast->id_end = 0;
    return go_over(fast, count_token, true);
}

/* ---- the second time ---- */

static enum mf_status place_token(struct mf_fast *fast, uint64_t offset,
                                  uint64_t id, struct mf_added *added)
{
    uint64_t place = offset - fast->vocab_offset;

    (void)added;
    if (id >= fast->place_count)
        return mf_fail(fast->env, MF_ERR_IO, MF_NO_OFFSET,
                       "changed while it was read");
    if (fast->place[id] != 0)
        return mf_fail(fast->env, MF_ERR_CORRUPT, offset,
                       "two tokens of 'model.vocab' have the id %" PRIu64, id);
    if (place > UINT32_MAX)
        return mf_fail(fast->env, MF_ERR_LIMIT, offset,
                       "'model.vocab' has more than 4 GiB");
    if (fast->last_id > id)
        fast->ordered = false;
    fast->last_id = id;
    fast->place[id] = (uint32_t)place;
    fast->token_count++;
    return MF_OK;
}

enum mf_status mf_fast_place(struct mf_fast *fast)
{
    const struct mf_added_list *list = &fast->added;
    size_t count = list->by_id_count;

    fast->place_count = fast->id_end;
    fast->place = mf_arena_take(fast->arena, (size_t)(fast->place_count + 1) *
                                                 sizeof(*fast->place));
    if (!fast->place)
        return failed(fast);
    memset(fast->place, 0, (size_t)fast->place_count * sizeof(*fast->place));
    fast->ordered = true;
    if (go_over(fast, place_token, false) != MF_OK)
        return failed(fast);
    for (size_t i = 0; i < count; i++)
        if (list->by_id[i]->id >= fast->place_count ||
            fast->place[list->by_id[i]->id] == 0)
            fast->token_count++;
    if (count > 0 && list->by_id[count - 1]->id >= fast->id_end)
        fast->id_end = list->by_id[count - 1]->id + 1;
    return MF_OK;
}
