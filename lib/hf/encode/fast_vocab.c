/* SPDX-License-Identifier: MIT
 *
 * fast_vocab.c - the vocabulary of a tokenizer.json, which stays in its file
 *
 * It is gone over once before anything is written: to find the added tokens in
 * it, to note for each id where its text is, and to show it to who runs the
 * tokenizer.  Each entry costs the file at least six bytes, so a table of four
 * bytes for each id is paid for by what was read; holes between ids cost what a
 * block of the table does.
 */
#include "lib/hf/encode/fast.h"

static enum mf_status failed(const struct mf_fast *fast)
{
    return fast->env->error.status;
}

struct pass { /* over the vocabulary */
    struct mf_fast *fast;
    struct mf_json *json;
    mf_fast_each *each; /* or NULL */
    void *user;
    bool first;  /* the places are noted */
    size_t size; /* of the text; SIZE_MAX: it is longer */
    char text[MF_VOCAB_TEXT];
};

static enum mf_status bad_token(const struct pass *pass)
{
    const struct mf_str text = { pass->text, pass->size == SIZE_MAX
                                                 ? sizeof(pass->text)
                                                 : pass->size };

    return failed(pass->fast)
               ? failed(pass->fast)
               : mf_fail(pass->fast->env, MF_ERR_CORRUPT,
                         pass->json->token_offset,
                         "the id of token '%s' of 'model.vocab' is not a "
                         "number from 0 to %" PRIu64,
                         mf_quote(text).text, MF_VOCAB_MAX - 1);
}

static enum mf_status bad_pair(struct mf_fast *fast, const struct mf_json *json)
{
    return failed(fast)
               ? failed(fast)
               : mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                         "a token of 'model.vocab' is not a pair of a text "
                         "and a score");
}

/* ---- a token ---- */

static enum mf_status note_place(struct mf_fast *fast, uint64_t offset,
                                 uint64_t id)
{
    uint32_t **part = &fast->part[id / MF_VOCAB_PART];
    uint64_t place = offset - fast->vocab_offset;
    size_t size = MF_VOCAB_PART * sizeof(**part);

    if (!*part) {
        *part = mf_arena_take(fast->arena, size);
        if (!*part)
            return failed(fast);
        memset(*part, 0, size);
    }
    if ((*part)[id % MF_VOCAB_PART] != 0)
        return mf_fail(fast->env, MF_ERR_CORRUPT, offset,
                       "two tokens of 'model.vocab' have the id %" PRIu64, id);
    if (place > UINT32_MAX)
        return mf_fail(fast->env, MF_ERR_LIMIT, offset,
                       "'model.vocab' has more than 4 GiB");
    (*part)[id % MF_VOCAB_PART] = (uint32_t)place;
    return MF_OK;
}

static enum mf_status note_token(struct pass *pass, uint64_t offset,
                                 uint64_t id)
{
    struct mf_fast *fast = pass->fast;
    struct mf_added *added =
        pass->size == SIZE_MAX
            ? NULL
            : mf_added_find(&fast->added,
                            (struct mf_str){ pass->text, pass->size });

    if (added)
        added->model_id = id;
    if (fast->last_id > id)
        fast->ordered = false;
    fast->last_id = id;
    fast->vocab_count++;
    if (id >= fast->id_end)
        fast->id_end = id + 1;
    return note_place(fast, offset, id);
}

static enum mf_status take_token(struct pass *pass, uint64_t offset,
                                 uint64_t id)
{
    if (pass->first && note_token(pass, offset, id) != MF_OK)
        return failed(pass->fast);
    return pass->each && pass->size != SIZE_MAX
               ? pass->each(pass->user,
                            (struct mf_str){ pass->text, pass->size }, id)
               : MF_OK;
}

/* The text just announced. */
static enum mf_status take_text(struct pass *pass)
{
    uint64_t size;
    bool more;

    if (mf_json_text(pass->json, pass->text, sizeof(pass->text), &size,
                     &more) != MF_OK)
        return failed(pass->fast);
    pass->size = more ? SIZE_MAX : (size_t)size;
    return MF_OK;
}

/* ---- all of them ---- */

/* Unigram has [["text", score], ...]: ids are places. */
static enum mf_status each_scored(struct pass *pass)
{
    struct mf_json *json = pass->json;
    enum mf_json_token token = mf_json_next(json);
    uint64_t id = 0;

    for (; token == MF_JSON_BEGIN_ARRAY; token = mf_json_next(json)) {
        bool text = mf_json_next(json) == MF_JSON_STRING;
        uint64_t offset = json->token_offset;

        if (text && take_text(pass) != MF_OK)
            return failed(pass->fast);
        if (!text || mf_json_next(json) != MF_JSON_NUMBER ||
            mf_json_next(json) != MF_JSON_END_ARRAY || id >= MF_VOCAB_MAX)
            return bad_pair(pass->fast, json);
        if (take_token(pass, offset, id++) != MF_OK)
            return failed(pass->fast);
    }
    return token == MF_JSON_END_ARRAY ? MF_OK : bad_pair(pass->fast, json);
}

static enum mf_status each_token(struct pass *pass)
{
    struct mf_json *json = pass->json;
    enum mf_json_token token = mf_json_next(json); /* the bracket */

    if (token == MF_JSON_BEGIN_ARRAY && !pass->fast->slow)
        return each_scored(pass);
    if (token != MF_JSON_BEGIN_OBJECT)
        return failed(pass->fast)
                   ? failed(pass->fast)
                   : mf_fail(pass->fast->env, MF_ERR_CORRUPT,
                             json->token_offset, "expected an object");
    while ((token = mf_json_next(json)) == MF_JSON_KEY) {
        uint64_t offset = json->token_offset, id;

        if (take_text(pass) != MF_OK)
            return failed(pass->fast);
        if (mf_json_next(json) != MF_JSON_NUMBER ||
            !mf_json_plain_u64(json, &id) || id >= MF_VOCAB_MAX)
            return bad_token(pass);
        if (take_token(pass, offset, id) != MF_OK)
            return failed(pass->fast);
    }
    if (token != MF_JSON_ERROR && pass->fast->slow)
        token = mf_json_next(json); /* nothing follows in a vocab.json */
    return token == MF_JSON_ERROR ? failed(pass->fast) : MF_OK;
}

/* What follows from the whole vocabulary. */
static enum mf_status number(struct mf_fast *fast)
{
    const struct mf_added_list *list = &fast->added;

    mf_added_number(&fast->added, fast->vocab_count);
    if (mf_added_sort(&fast->added) != MF_OK)
        return failed(fast);
    fast->token_count = fast->vocab_count;
    for (size_t i = 0; i < list->by_id_count; i++) {
        uint64_t id = list->by_id[i]->id;

        fast->token_count += mf_fast_place(fast, id) == 0;
        if (id >= fast->id_end)
            fast->id_end = id + 1;
    }
    fast->is_read = true;
    return MF_OK;
}

enum mf_status mf_fast_read(struct mf_fast *fast, mf_fast_each *each,
                            void *user)
{
    struct mf_sidecar file;
    struct pass pass = { .fast = fast,
                         .json = &file.json,
                         .each = each,
                         .user = user,
                         .first = !fast->is_read };
    enum mf_status status;

    if (fast->is_read && !each)
        return MF_OK;
    if (pass.first)
        fast->ordered = true;
    status = mf_fast_file(fast, fast->env, &file, fast->vocab_offset);
    if (status == MF_OK)
        status = each_token(&pass);
    if (status == MF_OK && pass.first)
        status = number(fast);
    return mf_sidecar_close(&file, status);
}
