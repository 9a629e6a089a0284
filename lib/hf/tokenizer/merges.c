/* SPDX-License-Identifier: MIT
 *
 * merges.c - the merges of a byte-pair encoding, streamed from their file
 *
 * They are checked and counted once, before anything is written; a later pass
 * relies on that, and a file of another size is an error.
 */

#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/encode/text_vocab.h"
#include "lib/hf/tokenizer/parts.h"

struct merges {
    const struct mf_model *model;
    struct mf_arena *arena;
    const char *file;
    uint64_t size;   /* of the file */
    uint64_t offset; /* of the list in tokenizer.json */
    uint64_t count;
    bool pairs; /* ["a", "b"] */
};

struct pass { /* over the merges */
    struct mf_env *env;
    const struct merges *merges;
    struct mf_sidecar file;
    mf_each_event *each; /* NULL: they are only counted */
    void *user;
    uint64_t count;
    char piece[4096];
};

static enum mf_status failed(const struct pass *pass)
{
    return pass->env->error.status;
}

static enum mf_status send(struct pass *pass, struct mf_str text, bool more)
{
    return pass->each ? mf_send_text(pass->each, pass->user, text, more)
                      : MF_OK;
}

/* ---- tokenizer.json ---- */

static enum mf_status wrong(struct pass *pass)
{
    return failed(pass)
               ? failed(pass)
               : mf_fail(pass->env, MF_ERR_CORRUPT,
                         pass->file.json.token_offset,
                         "merge %" PRIu64 " is not %s", pass->count,
                         pass->merges->pairs ? "a pair of texts" : "a text");
}

/* A space within a half separates nothing: it becomes the character that stands
 * for it. */
static enum mf_status send_half(struct pass *pass, struct mf_str text,
                                bool more)
{
    static const struct mf_str instead = { "\u0120", 2 };
    size_t from = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] != ' ')
            continue;
        if (i > from && send(pass, (struct mf_str){ text.at + from, i - from },
                             true) != MF_OK)
            return failed(pass);
        from = i + 1;
        if (send(pass, instead, more || from < text.size) != MF_OK)
            return failed(pass);
    }
    if (from == text.size && from > 0)
        return MF_OK;
    return send(pass, (struct mf_str){ text.at + from, text.size - from },
                more);
}

/* The string just announced; and_more: its merge goes on after it. */
static enum mf_status send_string(struct pass *pass, bool and_more)
{
    enum mf_status status;
    uint64_t size;
    bool more;

    do {
        if (mf_json_text(&pass->file.json, pass->piece, sizeof(pass->piece),
                         &size, &more) != MF_OK)
            return failed(pass);
        status = (pass->merges->pairs ? send_half : send)(
            pass, (struct mf_str){ pass->piece, (size_t)size },
            more || and_more);
    } while (more && status == MF_OK);
    return status;
}

static enum mf_status send_pair(struct pass *pass)
{
    struct mf_json *json = &pass->file.json;
    const struct mf_str space = { " ", 1 };

    if (mf_json_next(json) != MF_JSON_STRING)
        return wrong(pass);
    if (send_string(pass, true) != MF_OK || send(pass, space, true) != MF_OK)
        return failed(pass);
    if (mf_json_next(json) != MF_JSON_STRING)
        return wrong(pass);
    if (send_string(pass, false) != MF_OK)
        return failed(pass);
    return mf_json_next(json) == MF_JSON_END_ARRAY ? MF_OK : wrong(pass);
}

static enum mf_status send_list(struct pass *pass)
{
    struct mf_json *json = &pass->file.json;
    enum mf_json_token token,
        expected = pass->merges->pairs ? MF_JSON_BEGIN_ARRAY : MF_JSON_STRING;

    mf_reader_seek(&pass->file.reader, pass->merges->offset);
    mf_json_init(json, &pass->file.reader);
    token = mf_json_next(json); /* the bracket */
    while ((token = mf_json_next(json)) != MF_JSON_END_ARRAY) {
        enum mf_status status = token != expected ? wrong(pass)
                                : pass->merges->pairs
                                    ? send_pair(pass)
                                    : send_string(pass, false);

        if (status != MF_OK)
            return status;
        pass->count++;
    }
    return MF_OK;
}

/* ---- merges.txt ---- */

/* A line of two words is a merge, any other is not. */
static enum mf_status send_line(struct pass *pass, struct mf_str line)
{
    const struct mf_str space = { " ", 1 };
    struct mf_str a, b, c;

    a = mf_line_word(&line);
    b = mf_line_word(&line);
    c = mf_line_word(&line);
    if (b.size == 0 || c.size > 0)
        return MF_OK;
    pass->count++;
    if (send(pass, a, true) != MF_OK || send(pass, space, true) != MF_OK)
        return failed(pass);
    return send(pass, b, false);
}

static enum mf_status send_lines(struct pass *pass)
{
    struct mf_lines lines = { .reader = &pass->file.reader };
    struct mf_str line, first;
    bool at_start = true;

    while (mf_lines_next(&lines, &line)) {
        struct mf_str all = line;

        first = mf_line_word(&line);
        if (!(at_start && first.size > 0 && first.at[0] == '#') &&
            send_line(pass, all) != MF_OK)
            return failed(pass);
        at_start = false;
    }
    return failed(pass);
}

/* ---- both ---- */

static enum mf_status go_over(struct pass *pass)
{
    const struct merges *merges = pass->merges;
    enum mf_status status = mf_sidecar_open(&pass->file, merges->model,
                                            merges->arena, merges->file);

    if (status == MF_OK && pass->each && pass->file.source.size != merges->size)
        status = mf_fail(pass->env, MF_ERR_IO, MF_NO_OFFSET,
                         "changed while it was read");
    if (status == MF_OK)
        status = merges->offset > 0 ? send_list(pass) : send_lines(pass);
    return mf_sidecar_close(&pass->file, status);
}

static enum mf_status stream(struct mf_env *env, const struct mf_entry *entry,
                             mf_each_event *each, void *user)
{
    struct mf_value bracket = { .event = MF_EVENT_BEGIN,
                                .type = MF_VALUE_ARRAY,
                                .of = MF_VALUE_STRING,
                                .count = entry->count };
    struct pass pass = {
        .env = env, .merges = entry->elements, .each = each, .user = user
    };
    enum mf_status status = each(user, &bracket);

    if (status == MF_OK)
        status = go_over(&pass);
    if (status == MF_OK && pass.count != entry->count)
        status = mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                         "'%s': changed while it was read", pass.merges->file);
    bracket.event = MF_EVENT_END;
    return status == MF_OK ? each(user, &bracket) : status;
}

/* Whether the first merge is a pair; *empty: there is none. */
static enum mf_status look(struct merges *merges, struct mf_env *env,
                           bool *empty)
{
    struct mf_sidecar file;
    enum mf_json_token token = MF_JSON_ERROR;
    enum mf_status status =
        mf_sidecar_open(&file, merges->model, merges->arena, merges->file);

    merges->size = file.source.size;
    if (status == MF_OK && merges->offset > 0) {
        mf_reader_seek(&file.reader, merges->offset);
        mf_json_init(&file.json, &file.reader);
        token = mf_json_next(&file.json);
        token = mf_json_next(&file.json);
        status = token == MF_JSON_ERROR ? env->error.status : MF_OK;
    }
    merges->pairs = token == MF_JSON_BEGIN_ARRAY;
    *empty = token == MF_JSON_END_ARRAY;
    return mf_sidecar_close(&file, status);
}

enum mf_status mf_merges_put(struct mf_draft *draft,
                             const struct mf_model *model,
                             const struct mf_node *json)
{
    const struct mf_node *list = mf_node_at(json, "model.merges");
    struct merges *merges = mf_arena_take(&draft->arena, sizeof(*merges));
    struct pass pass = { .env = draft->env, .merges = merges };
    bool empty = true;

    if (!merges)
        return draft->env->error.status;
    *merges = (struct merges){ .model = model,
                               .arena = &draft->arena,
                               .file = "tokenizer.json" };
    if (list && list->kind == MF_NODE_ARRAY) {
        merges->offset = list->offset;
        if (look(merges, draft->env, &empty) != MF_OK)
            return failed(&pass);
    }
    if (empty) {
        merges->offset = 0;
        merges->file = "merges.txt";
        if (!mf_sidecar_exists(model, &draft->arena, merges->file) ||
            look(merges, draft->env, &empty) != MF_OK)
            return failed(&pass);
    }
    if (go_over(&pass) != MF_OK || pass.count == 0)
        return failed(&pass);
    merges->count = pass.count;
    return mf_set_stream(draft, "tokenizer.ggml.merges", MF_VALUE_STRING,
                         merges->count, stream, merges);
}
