/* SPDX-License-Identifier: MIT
 *
 * recorded_document.c - a JSON file: a heap profile, or what a command printed
 *
 * One pass finds out which it is, and reads the sites of a profile; what else
 * is large in either is passed over.
 */
#include "lib/base/str.h"
#include "lib/report/recorded.h"

/* "run" of a command: 17 phases, and what is to come. */
#define RUN_MAX ((uint64_t)64 << 10)

#define VERSION     2 /* of the format of profiles */
#define COMMAND_MAX 4096

struct short_text {
    char at[32];
    uint64_t size;
};

struct document {
    struct mf_recorded *recorded;
    struct mf_reader reader;
    struct mf_json json;
    unsigned seen;              /* bit i: member i */
    struct mf_sites *sites;     /* NULL: no "pps" */
    struct mf_span frames, run; /* of the file; size 0: there is none */
    uint64_t frame_count, version;
    uint64_t end, peak_time;
    struct short_text mode, unit;
    uint64_t command_size;
    size_t command_kept;
    char *command; /* NULL: it is not wanted */
};

enum mf_status mf_take_number(struct mf_json *json, enum mf_json_token token,
                              const char *what, uint64_t *out)
{
    struct mf_env *env = json->reader->env;

    if (token == MF_JSON_ERROR)
        return env->error.status;
    if (token == MF_JSON_NUMBER && mf_json_plain_u64(json, out))
        return MF_OK;
    return mf_fail(env, MF_ERR_CORRUPT, json->token_offset,
                   "a value of '%s' is not an integer from 0 to 2^64 - 1",
                   what);
}

/* ---- members ---- */

static enum mf_status take_version(struct document *document,
                                   enum mf_json_token token)
{
    struct mf_env *env = document->recorded->env;
    uint64_t *version = &document->version;

    if (mf_take_number(&document->json, token, "dhatFileVersion", version) !=
        MF_OK)
        return env->error.status;
    return *version == VERSION
               ? MF_OK
               : mf_fail(env, MF_ERR_UNSUPPORTED, document->json.token_offset,
                         "version %" PRIu64
                         " of heap profiles, only %d is supported",
                         *version, VERSION);
}

static enum mf_status take_end(struct document *document,
                               enum mf_json_token token)
{
    return mf_take_number(&document->json, token, "te", &document->end);
}

static enum mf_status take_peak_time(struct document *document,
                                     enum mf_json_token token)
{
    return mf_take_number(&document->json, token, "tg", &document->peak_time);
}

static enum mf_status take_short(struct document *document, const char *what,
                                 enum mf_json_token token,
                                 struct short_text *out)
{
    struct mf_json *json = &document->json;
    bool more;

    if (token != MF_JSON_STRING)
        return mf_json_skip(json, token);
    if (mf_json_text(json, out->at, sizeof(out->at), &out->size, &more) !=
            MF_OK ||
        !more)
        return document->recorded->env->error.status;
    return mf_fail(document->recorded->env, MF_ERR_CORRUPT, json->token_offset,
                   "'%s' has more than %zu bytes", what, sizeof(out->at));
}

static enum mf_status take_mode(struct document *document,
                                enum mf_json_token token)
{
    return take_short(document, "mode", token, &document->mode);
}

static enum mf_status take_unit(struct document *document,
                                enum mf_json_token token)
{
    return take_short(document, "tu", token, &document->unit);
}

/* It names files. */
static enum mf_status take_command(struct document *document,
                                   enum mf_json_token token)
{
    struct mf_recorded *recorded = document->recorded;
    struct mf_json *json = &document->json;
    uint64_t size;
    bool more;

    if (token != MF_JSON_STRING || !recorded->options->paths)
        return mf_json_skip(json, token);
    document->command = mf_arena_text(&recorded->arena, COMMAND_MAX);
    if (!document->command || mf_json_text(json, document->command, COMMAND_MAX,
                                           &size, &more) != MF_OK)
        return recorded->env->error.status;
    document->command_kept = (size_t)size;
    document->command_size = size;
    if (more && mf_json_text(json, NULL, 0, &size, &more) == MF_OK)
        document->command_size += size;
    return recorded->env->error.status;
}

static enum mf_status take_sites(struct document *document,
                                 enum mf_json_token token)
{
    document->sites = mf_sites_new(document->recorded);
    return document->sites
               ? mf_sites_read(document->sites, &document->json, token)
               : document->recorded->env->error.status;
}

static enum mf_status take_table(struct document *document,
                                 enum mf_json_token token)
{
    struct mf_env *env = document->recorded->env;
    struct mf_json *json = &document->json;
    uint64_t start = json->token_offset;

    if (token != MF_JSON_BEGIN_ARRAY)
        return mf_fail(env, MF_ERR_CORRUPT, start, "'ftbl' is not an array");
    while ((token = mf_json_next(json)) == MF_JSON_STRING)
        document->frame_count++;
    if (token != MF_JSON_END_ARRAY)
        return mf_fail(env, MF_ERR_CORRUPT, json->token_offset,
                       "frame %" PRIu64 " is not a string",
                       document->frame_count);
    document->frames =
        (struct mf_span){ start, mf_reader_offset(json->reader) - start };
    return MF_OK;
}

static enum mf_status take_run(struct document *document,
                               enum mf_json_token token)
{
    struct mf_json *json = &document->json;
    uint64_t start = json->token_offset;
    enum mf_status status = mf_json_skip(json, token);

    if (token == MF_JSON_BEGIN_OBJECT)
        document->run =
            (struct mf_span){ start, mf_reader_offset(json->reader) - start };
    return status;
}

/* ---- the first pass ---- */

static const struct {
    const char *key;
    enum mf_status (*take)(struct document *document, enum mf_json_token token);
} members[] = {
    { "dhatFileVersion", take_version },
    { "mode", take_mode },
    { "tu", take_unit },
    { "cmd", take_command },
    { "te", take_end },
    { "tg", take_peak_time },
    { "pps", take_sites },
    { "ftbl", take_table },
    { "run", take_run },
};

#define MEMBERS (sizeof(members) / sizeof(*members))

static enum mf_status take_member(struct document *document)
{
    struct mf_env *env = document->recorded->env;
    struct mf_json *json = &document->json;
    uint64_t offset = json->token_offset, size;
    enum mf_json_token token;
    size_t i = 0;
    char key[24];
    bool more;

    if (mf_json_text(json, key, sizeof(key) - 1, &size, &more) != MF_OK)
        return env->error.status;
    key[size] = 0;
    while (i < MEMBERS && (more || strcmp(key, members[i].key) != 0))
        i++;
    token = mf_json_next(json);
    if (token == MF_JSON_ERROR)
        return env->error.status;
    if (i == MEMBERS)
        return mf_json_skip(json, token);
    if (document->seen & 1u << i)
        return mf_fail(env, MF_ERR_CORRUPT, offset,
                       "the document has '%s' twice", key);
    document->seen |= 1u << i;
    return members[i].take(document, token);
}

static enum mf_status scan(struct document *document)
{
    struct mf_env *env = document->recorded->env;
    struct mf_json *json = &document->json;
    enum mf_json_token token = mf_json_next(json);

    if (token != MF_JSON_BEGIN_OBJECT)
        return token == MF_JSON_ERROR
                   ? env->error.status
                   : mf_fail(env, MF_ERR_FORMAT, json->token_offset,
                             "the document is not an object");
    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (take_member(document) != MF_OK)
            return env->error.status;
    if (token == MF_JSON_END_OBJECT)
        mf_json_next(json); /* nothing may follow it */
    return env->error.status;
}

/* ---- a heap profile ---- */

static void put_short(struct mf_json_out *json, const char *key,
                      const struct short_text *text)
{
    if (text->size > 0)
        mf_put_text(json, key, (struct mf_str){ text->at, (size_t)text->size });
}

static void put_command(const struct document *document)
{
    struct mf_json_out *json = document->recorded->json;

    if (!document->command)
        return;
    mf_put_text(json, "command_text",
                (struct mf_str){ document->command, document->command_kept });
    if (document->command_kept == document->command_size)
        return;
    mf_put_number(json, "command_bytes", document->command_size);
}

static enum mf_status put_profile(struct document *document)
{
    struct mf_json_out *json = document->recorded->json;
    enum mf_status status;

    mf_json_key(json, "recorded");
    mf_json_begin(json, '{');
    mf_put_string(json, "kind", "heap");
    put_command(document);
    mf_json_key(json, "heap");
    mf_json_begin(json, '{');
    put_short(json, "mode", &document->mode);
    put_short(json, "unit", &document->unit);
    mf_put_number(json, "at", document->peak_time);
    mf_put_number(json, "end", document->end);
    status = mf_sites_write(document->sites, &document->reader);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    return status;
}

static enum mf_status read_profile(struct document *document)
{
    struct mf_env *env = document->recorded->env;
    uint64_t start = document->frames.offset;

    if (!document->sites || document->frames.size == 0)
        return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "the heap profile lacks '%s'",
                       document->sites ? "ftbl" : "pps");
    if (mf_sites_check(document->sites, document->frame_count) != MF_OK)
        return env->error.status;
    mf_reader_seek(&document->reader, start);
    mf_reader_limit(&document->reader, start + document->frames.size);
    return put_profile(document);
}

/* ---- what a command printed ---- */

static enum mf_status read_answer(struct document *document)
{
    struct mf_recorded *recorded = document->recorded;
    uint64_t start = document->run.offset;
    struct mf_node *run = NULL;
    struct mf_json json;

    mf_reader_seek(&document->reader, start);
    mf_reader_limit(&document->reader, start + document->run.size);
    mf_json_init(&json, &document->reader);
    if (mf_tree_read(&json, &recorded->arena, RUN_MAX, &run) != MF_OK)
        return recorded->env->error.status;
    mf_answer_write(recorded, run);
    return MF_OK;
}

static enum mf_status read_any(struct document *document)
{
    struct mf_env *env = document->recorded->env;

    mf_json_init(&document->json, &document->reader);
    if (scan(document) != MF_OK)
        return env->error.status;
    if (document->version > 0)
        return read_profile(document);
    if (document->run.size > 0)
        return read_answer(document);
    return mf_fail(env, MF_ERR_FORMAT, MF_NO_OFFSET,
                   "neither a heap profile (it has no 'dhatFileVersion') nor "
                   "what a command printed (it has no 'run')");
}

enum mf_status mf_recorded_document(struct mf_recorded *recorded,
                                    const struct mf_source *source)
{
    struct document document = { .recorded = recorded };
    enum mf_status status =
        mf_reader_init(&document.reader, recorded->env, source, NULL, 0);

    if (status == MF_OK)
        status = read_any(&document);
    mf_reader_release(&document.reader);
    return status;
}
