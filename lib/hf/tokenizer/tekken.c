/* SPDX-License-Identifier: MIT
 *
 * tekken.c - the vocabulary of tekken.json as metadata of GGUF
 */
#include "lib/hf/tokenizer/tekken.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/parts.h"

struct pass { /* over tokens or merges */
    const struct mf_tekken *tekken;
    mf_each_event *each; /* NULL: they are only counted */
    void *user;
};

/* ---- events ---- */

static enum mf_status send(const struct pass *pass, struct mf_str text,
                           bool more)
{
    return mf_send_text(pass->each, pass->user, text, more);
}

/* Each byte as the character that stands for it. */
static enum mf_status send_bytes(const struct pass *pass, struct mf_str bytes,
                                 bool more)
{
    char piece[512];
    size_t size = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        if (sizeof(piece) - size < 4) {
            enum mf_status status =
                send(pass, (struct mf_str){ piece, size }, true);

            if (status != MF_OK)
                return status;
            size = 0;
        }
        size += mf_utf8_put(mf_byte_char((uint8_t)bytes.at[i]), piece + size);
    }
    return send(pass, (struct mf_str){ piece, size }, more);
}

/* ---- arrays ---- */

static enum mf_status send_token(const struct pass *pass, uint64_t id)
{
    const struct mf_tekken *tekken = pass->tekken;
    char text[40];

    if (id < tekken->special_named)
        return send(pass, tekken->special[id], false);
    if (id >= tekken->special_count)
        return send_bytes(
            pass, mf_tekken_bytes(tekken, id - tekken->special_count), false);
    snprintf(text, sizeof(text), "<SPECIAL_%" PRIu64 ">", id);
    return send(pass, (struct mf_str){ text, strlen(text) }, false);
}

static enum mf_status stream_tokens(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    const struct pass pass = { entry->elements, each, user };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);

    (void)env;
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++)
        status = send_token(&pass, id);
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* Numbers: what the first special_count tokens have, and what the others. */
static enum mf_status stream_two(const struct mf_entry *entry,
                                 mf_each_event *each, void *user,
                                 const int64_t two[2])
{
    const struct pass pass = { entry->elements, each, user };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);

    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++) {
        struct mf_value value = { .event = MF_EVENT_ITEM,
                                  .type = MF_VALUE_I32 };

        value.number.i64 = two[id >= pass.tekken->special_count];
        status = each(user, &value);
    }
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

static enum mf_status stream_types(struct mf_env *env,
                                   const struct mf_entry *entry,
                                   mf_each_event *each, void *user)
{
    static const int64_t types[] = { MF_TOKEN_CONTROL, MF_TOKEN_NORMAL };

    (void)env;
    return stream_two(entry, each, user, types);
}

static enum mf_status stream_scores(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    static const int64_t scores[] = { 0, 0 };

    (void)env;
    return stream_two(entry, each, user, scores);
}

/* ---- merges ---- */

#define SPLITS 1024 /* one less than the bytes of a token */

struct splits { /* ways of making a token of two, by the first one's rank */
    size_t count;
    struct {
        uint64_t rank;
        size_t size; /* of the first one */
    } split[SPLITS];
};

static void find_splits(const struct mf_tekken *tekken, struct mf_str token,
                        struct splits *splits)
{
    splits->count = 0;
    for (size_t size = 1; size < token.size; size++) {
        struct mf_str left = { token.at, size };
        struct mf_str right = { token.at + size, token.size - size };
        uint64_t rank = mf_tekken_rank(tekken, left);
        size_t at = splits->count;

        if (rank == UINT64_MAX || mf_tekken_rank(tekken, right) == UINT64_MAX)
            continue;
        for (; at > 0 && splits->split[at - 1].rank > rank; at--)
            splits->split[at] = splits->split[at - 1];
        splits->split[at].rank = rank;
        splits->split[at].size = size;
        splits->count++;
    }
}

static enum mf_status send_merge(const struct pass *pass, struct mf_str token,
                                 size_t size)
{
    enum mf_status status =
        send_bytes(pass, (struct mf_str){ token.at, size }, true);

    if (status == MF_OK)
        status = send(pass, (struct mf_str){ " ", 1 }, true);
    return status == MF_OK ? send_bytes(pass,
                                        (struct mf_str){ token.at + size,
                                                         token.size - size },
                                        false)
                           : status;
}

/* Of all tokens that are more than a byte, in their order. */
static enum mf_status go_over_merges(const struct pass *pass, uint64_t *count)
{
    const struct mf_tekken *tekken = pass->tekken;
    struct splits splits;

    *count = 0;
    for (uint64_t rank = 256; rank < tekken->count; rank++) {
        struct mf_str token = mf_tekken_bytes(tekken, rank);

        find_splits(tekken, token, &splits);
        if (splits.count == 0)
            return mf_fail(tekken->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "'tekken.json': token %" PRIu64
                           " of 'vocab' does not consist of two others",
                           rank);
        *count += splits.count;
        for (size_t i = 0; pass->each && i < splits.count; i++) {
            enum mf_status status =
                send_merge(pass, token, splits.split[i].size);

            if (status != MF_OK)
                return status;
        }
    }
    return MF_OK;
}

static enum mf_status stream_merges(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    const struct pass pass = { entry->elements, each, user };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    uint64_t count;

    (void)env;
    if (status == MF_OK)
        status = go_over_merges(&pass, &count);
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- adding to the draft ---- */

static enum mf_status put_special(struct mf_draft *draft,
                                  const struct mf_tekken *tekken)
{
    static const struct {
        const char *text, *key;
    } rows[] = {
        { "<s>", "tokenizer.ggml.bos_token_id" },
        { "</s>", "tokenizer.ggml.eos_token_id" },
        { "<unk>", "tokenizer.ggml.unknown_token_id" },
        { "<pad>", "tokenizer.ggml.padding_token_id" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t id = 0;

        while (id < tekken->special_named &&
               !mf_str_is(tekken->special[id], rows[i].text))
            id++;
        if (id == tekken->special_named)
            return mf_fail(tekken->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "'tekken.json' has no special token '%s'",
                           rows[i].text);
        if (mf_set_u32(draft, rows[i].key, id) != MF_OK)
            return draft->env->error.status;
    }
    return MF_OK;
}

static enum mf_status put_arrays(struct mf_draft *draft,
                                 const struct mf_tekken *tekken)
{
    if (mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING,
                      tekken->size, stream_tokens, tekken) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.scores", MF_VALUE_I32,
                      tekken->size, stream_scores, tekken) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                      tekken->size, stream_types, tekken) != MF_OK ||
        mf_set_u32(draft, "*.vocab_size", tekken->size) != MF_OK ||
        mf_set_bool(draft, "tokenizer.ggml.add_bos_token", true) != MF_OK)
        return draft->env->error.status;
    return mf_set_bool(draft, "tokenizer.ggml.add_eos_token", false);
}

static enum mf_status put(struct mf_draft *draft,
                          const struct mf_tekken *tekken)
{
    if (mf_set_text(draft, "tokenizer.ggml.model",
                    (struct mf_str){ "gpt2", 4 }) != MF_OK ||
        mf_set_text(draft, "tokenizer.ggml.pre",
                    (struct mf_str){ "tekken", 6 }) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.merges", MF_VALUE_STRING,
                      tekken->merge_count, stream_merges, tekken) != MF_OK ||
        put_special(draft, tekken) != MF_OK ||
        put_arrays(draft, tekken) != MF_OK)
        return draft->env->error.status;
    return mf_mistral_put_template(draft, tekken->request,
                                   mf_node_text(tekken->json, "config.version"),
                                   false);
}

enum mf_status mf_tekken_put(struct mf_draft *draft,
                             const struct mf_tokenizer_request *request,
                             const struct mf_special_options *options,
                             bool *missing)
{
    struct mf_tekken *tekken = mf_arena_take(request->arena, sizeof(*tekken));
    const struct pass pass = { .tekken = tekken };

    (void)options;
    *missing =
        !mf_sidecar_exists(request->model, request->arena, "tekken.json");
    if (!tekken || *missing)
        return request->env->error.status;
    *tekken = (struct mf_tekken){ .env = request->env, .request = request };
    if (mf_tekken_read(tekken) != MF_OK ||
        go_over_merges(&pass, &tekken->merge_count) != MF_OK)
        return request->env->error.status;
    return put(draft, tekken);
}
