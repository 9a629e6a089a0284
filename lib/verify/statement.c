/* SPDX-License-Identifier: MIT
 *
 * statement.c - an in-toto statement about where a model comes from
 *
 * https://github.com/in-toto/attestation, Statement v1, with a predicate of our
 * own (docs/verify.md).  It has no time and no path, only names of files: the
 * same models give the same bytes.  What is hashed are the files that were
 * compared, through the same descriptors.
 */
#include <string.h>

#include "lib/compare/hash.h"
#include "lib/io/path.h"
#include "lib/verify/verify.h"

#define PREDICATE "urn:modelfile:origin:v1"

struct statement {
    const struct mf_verification *work;
    struct mf_json_out json;
    uint8_t *files;   /* digests: of the model, of the source, of the matrix */
    uint8_t *tensors; /* of the model */
    size_t file_count;
};

#define DIGEST ((size_t)32)

/* ---- JSON ---- */

static void put_text(struct statement *to, const char *key, const char *text)
{
    mf_json_key(&to->json, key);
    mf_json_string(&to->json, text, strlen(text));
}

static void put_str(struct statement *to, const char *key, struct mf_str text)
{
    mf_json_key(&to->json, key);
    mf_json_string(&to->json, text.at, text.size);
}

static void begin(struct statement *to, const char *key, char bracket)
{
    if (key)
        mf_json_key(&to->json, key);
    mf_json_begin(&to->json, bracket);
}

static void put_digest(struct statement *to, const uint8_t *digest)
{
    char text[2 * DIGEST + 1];

    for (size_t i = 0; i < DIGEST; i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    text[2 * DIGEST] = 0;
    begin(to, "digest", '{');
    put_text(to, "sha256", text);
    mf_json_end(&to->json, '}');
}

/* A resource descriptor. */
static void put_file(struct statement *to, const char *path,
                     const uint8_t *digest)
{
    begin(to, NULL, '{');
    put_text(to, "name", mf_base_name(path));
    put_digest(to, digest);
    mf_json_end(&to->json, '}');
}

static void put_model(struct statement *to, const char *key,
                      const struct mf_model *model, const uint8_t *digests)
{
    begin(to, key, '[');
    for (size_t i = 0; i < model->file_count; i++)
        put_file(to, model->file[i].path, digests + i * DIGEST);
    mf_json_end(&to->json, ']');
}

static void put_tensor(struct statement *to, size_t index)
{
    const struct mf_verification *work = to->work;
    const struct mf_record *record = &work->model->index.tensor[index];
    const struct mf_claim *claim = &work->claim[index];

    begin(to, NULL, '{');
    put_str(to, "name", (struct mf_str){ record->name, record->name_size });
    put_text(to, "type",
             record->type < MF_TYPE_COUNT ? mf_types[record->type].name
                                          : "unknown");
    put_digest(to, to->tensors + index * DIGEST);
    if (claim->from && !claim->from->made) {
        const struct mf_record *from =
            &work->source->index.tensor[claim->from->record];

        put_str(to, "from", (struct mf_str){ from->name, from->name_size });
    }
    put_text(to, "verdict", mf_verdict_name(claim->verdict));
    if (claim->version)
        put_text(to, "encoder", claim->version);
    mf_json_key(&to->json, "weighted");
    mf_json_bool(&to->json, claim->weighted);
    mf_json_end(&to->json, '}');
}

static void put_tensors(struct statement *to)
{
    const struct mf_draft_tensor *missing;
    size_t at = 0;

    begin(to, "tensors", '[');
    for (size_t i = 0; i < to->work->count; i++)
        put_tensor(to, i);
    mf_json_end(&to->json, ']');
    begin(to, "missing", '[');
    while ((missing = mf_verify_missing(to->work, &at)) != NULL)
        mf_json_string(&to->json, missing->name.at, missing->name.size);
    mf_json_end(&to->json, ']');
}

static void put_keys(struct statement *to)
{
    begin(to, "metadata", '[');
    for (const struct mf_changed_key *key = to->work->changed; key;
         key = key->next) {
        begin(to, NULL, '{');
        put_str(to, "key", key->key.key);
        put_text(to, "change",
                 key->key.what == MF_ONLY_A   ? "removed"
                 : key->key.what == MF_ONLY_B ? "added"
                                              : "changed");
        mf_json_end(&to->json, '}');
    }
    mf_json_end(&to->json, ']');
}

/* How far the encoders searched, where the model says so. */
static void put_effort(struct statement *to)
{
    begin(to, "effort", '{');
    mf_json_key(&to->json, "level");
    mf_json_u64(&to->json, to->work->result.effort);
    mf_json_key(&to->json, "version");
    mf_json_u64(&to->json, to->work->result.effort_version);
    mf_json_end(&to->json, '}');
}

static void put_predicate(struct statement *to)
{
    const struct mf_verification *work = to->work;
    const uint8_t *source = to->files + work->model->file_count * DIGEST;

    begin(to, "predicate", '{');
    begin(to, "tool", '{');
    put_text(to, "name", "modelfile");
    put_text(to, "version", MF_VERSION_STRING);
    mf_json_end(&to->json, '}');
    begin(to, "options", '{');
    mf_json_key(&to->json, "strict");
    mf_json_bool(&to->json, work->options->strict);
    mf_json_end(&to->json, '}');
    if (work->effort > MF_EFFORT_LEAST)
        put_effort(to);
    put_model(to, "source", work->source, source);
    mf_json_key(&to->json, "imatrix");
    if (work->imatrix)
        put_file(to, work->options->imatrix,
                 source + work->source->file_count * DIGEST);
    else
        mf_json_null(&to->json);
    put_tensors(to);
    put_keys(to);
    mf_json_end(&to->json, '}');
}

static void put_statement(struct statement *to, struct mf_sink *sink)
{
    to->json = mf_draft_json(sink);
    begin(to, NULL, '{');
    put_text(to, "_type", "https://in-toto.io/Statement/v1");
    put_model(to, "subject", to->work->model, to->files);
    put_text(to, "predicateType", PREDICATE);
    put_predicate(to);
    mf_json_end(&to->json, '}');
    mf_put(sink, "\n", 1);
}

/* ---- digests ---- */

static enum mf_status hash_files(struct statement *to)
{
    const struct mf_verification *work = to->work;
    const struct mf_model *const models[] = { work->model, work->source };
    size_t size = to->file_count * sizeof(struct mf_source *), count = 0;
    const struct mf_source **source = mf_alloc(work->env, size);
    enum mf_status status;

    if (!source)
        return work->env->error.status;
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < models[m]->file_count; i++)
            source[count++] = &models[m]->file[i].source;
    if (work->imatrix)
        source[count++] = mf_imatrix_source(work->imatrix);
    status = mf_hash_sources(work->env, source, count, MF_SHA256, to->files);
    mf_release(work->env, source, size);
    return status;
}

/* ---- the file ---- */

static enum mf_status write_bytes(void *user, uint64_t offset,
                                  const void *bytes, size_t size)
{
    struct mf_target *target = user;

    return mf_target_write(target->env, target, offset, bytes, size);
}

/* Twice: once to count, so that a pipe can be written to as well. */
static enum mf_status write_file(struct statement *to)
{
    const struct mf_verify_options *options = to->work->options;
    struct mf_env *env = to->work->env;
    struct mf_target target = MF_TARGET_NONE;
    struct mf_sink sink;
    enum mf_status status;

    mf_sink_init(&sink, env);
    put_statement(to, &sink);
    status = mf_target_open(env, options->statement, sink.offset,
                            options->replace, &target);
    if (status == MF_OK) {
        mf_sink_init(&sink, env);
        sink.write = write_bytes;
        sink.user = &target;
        put_statement(to, &sink);
        status = mf_sink_finish(&sink);
    }
    return mf_target_finish(&target, status);
}

/* The statement as an output that is made of one of the models. */
static enum mf_status check_output(const struct mf_verification *work,
                                   struct mf_model *model)
{
    struct mf_output output = { .path = work->options->statement,
                                .target = MF_TARGET_NONE };
    struct mf_outputs outputs = {
        .env = work->env,
        .model = model,
        .output = &output,
        .count = 1,
        .index = MF_TARGET_NONE,
        .imatrix = work->imatrix ? mf_imatrix_source(work->imatrix) : NULL,
    };

    return mf_outputs_check(&outputs, work->options->replace);
}

enum mf_status mf_verify_check_statement(const struct mf_verification *work)
{
    if (!work->options->statement)
        return MF_OK;
    return check_output(work, work->model) == MF_OK
               ? check_output(work, work->source)
               : work->env->error.status;
}

enum mf_status mf_verify_write_statement(struct mf_verification *work)
{
    size_t files = work->model->file_count + work->source->file_count +
                   (work->imatrix != NULL);
    struct statement statement = { .work = work, .file_count = files };
    enum mf_status status = work->env->error.status;

    statement.files = mf_alloc(work->env, files * DIGEST);
    statement.tensors = mf_alloc(work->env, (work->count + 1) * DIGEST);
    if (statement.files && statement.tensors)
        status =
            mf_model_hash_tensors(work->model, MF_SHA256, statement.tensors);
    else
        status = work->env->error.status;
    /* Last, because this fails if a file was changed since it was opened. */
    if (status == MF_OK)
        status = hash_files(&statement);
    if (status == MF_OK)
        status = write_file(&statement);
    mf_release(work->env, statement.files, files * DIGEST);
    mf_release(work->env, statement.tensors, (work->count + 1) * DIGEST);
    return status;
}
