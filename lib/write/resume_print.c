/* SPDX-License-Identifier: MIT
 *
 * resume_print.c - what work is, so that no other work goes on with its files
 *
 * Options are not listed: a new one would be forgotten some day.  What counts
 * is what they lead to, and nearly all of that is in the headers of the
 * outputs, as they will be written, and in where each tensor comes from.  So
 * these are digested: names, types, metadata, tokenizers made of a
 * tokenizer.json, all of it.  Only what shows nowhere there is added: the
 * importance matrix, and whether NaN is refused and the error is measured.
 *
 * Tensors that are derived from others have a print that says how.
 *
 * Of the inputs it is size, time and header, as digesting all their data would
 * take as long as the work; what is kept of copied data is compared with them
 * anyway.  A program's source may have numbers that tell it from all others.
 * Where there is no time, in memory, everything is digested.
 */
#include <stdio.h>
#include <string.h>

#include "lib/derive/derive.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/write/resume_parts.h"

/* "MFWORK2\n" in the file. */
#define KIND_HEAD UINT64_C(0x0a324b524f57464d)

/* The words of the first record. */
enum word {
    VERSION = 0, /* text */
    VERSION_WORDS = 4,
    INPUTS = VERSION + VERSION_WORDS, /* digests have two words each */
    IMATRIX = INPUTS + 2,
    PLAN = IMATRIX + 2,
    OUTPUTS = PLAN + 2,
    OLD_FILES = OUTPUTS + 2,
    TOUCHED = OLD_FILES + 2, /* not a part of what has to be the same */
    REPLACE = TOUCHED + 2,
    WORDS
};

static void add_word(struct mf_digest *digest, uint64_t value)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    mf_digest_add(digest, bytes, sizeof(bytes));
}

static void add_text(struct mf_digest *digest, const char *text)
{
    add_word(digest, strlen(text));
    mf_digest_add(digest, text, strlen(text));
}

/* The next two words of the record, and a new digest. */
static void take(struct mf_digest *digest, uint64_t word[2])
{
    uint8_t bytes[MF_DIGEST_MAX];

    mf_digest_finish(digest, bytes);
    for (size_t i = 0; i < 2; i++) {
        word[i] = 0;
        for (size_t k = 0; k < 8; k++)
            word[i] = word[i] << 8 | bytes[8 * i + k];
    }
    mf_digest_restart(digest);
}

/* ---- inputs ---- */

/* Its size, time and first bytes. */
static enum mf_status add_source(struct mf_digest *digest, struct mf_env *env,
                                 const struct mf_source *source, uint64_t size)
{
    uint8_t bytes[4096];

    add_word(digest, source->size);
    add_word(digest, (uint64_t)source->times.written);
    add_word(digest, source->version[0]);
    add_word(digest, source->version[1]);
    if (mf_source_is_known(source))
        return MF_OK;
    size = source->fd < 0 || size > source->size ? source->size : size;
    for (uint64_t at = 0; at < size;) {
        size_t some = mf_next_part(env, size - at, sizeof(bytes));

        if (mf_source_read(env, source, at, bytes, some) != MF_OK)
            return env->error.status;
        mf_digest_add(digest, bytes, some);
        at += some;
    }
    return MF_OK;
}

static enum mf_status add_inputs(struct mf_digest *digest,
                                 const struct mf_outputs *outputs)
{
    const struct mf_model *model = outputs->model;
    enum mf_status status = MF_OK;

    add_word(digest, model->file_count);
    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = add_source(digest, outputs->env, &model->file[i].source,
                            model->part[i].data_offset);
    return status;
}

static enum mf_status add_imatrix(struct mf_digest *digest,
                                  const struct mf_outputs *outputs)
{
    const struct mf_source *source = outputs->imatrix;

    return source ? add_source(digest, outputs->env, source, source->size)
                  : MF_OK;
}

/* ---- the plan ---- */

static enum mf_status digest_bytes(void *user, uint64_t offset,
                                   const void *bytes, size_t size)
{
    (void)offset;
    mf_digest_add(user, bytes, size);
    return MF_OK;
}

static enum mf_status add_header(struct mf_digest *digest,
                                 const struct mf_draft *draft)
{
    struct mf_sink sink;

    mf_sink_init(&sink, draft->env);
    sink.write = digest_bytes;
    sink.user = digest;
    return mf_draft_head(draft, &sink);
}

/* Where its bytes come from, which the header does not say. */
static enum mf_status add_tensor(struct mf_digest *digest, struct mf_env *env,
                                 const struct mf_draft_tensor *tensor)
{
    const uint64_t words[] = {
        tensor->from, tensor->type,   tensor->offset,
        tensor->size, tensor->record, tensor->weights.size,
    };
    uint64_t print;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        add_word(digest, words[i]);
    if (tensor->weights.at)
        mf_digest_add(digest, tensor->weights.at, tensor->weights.size);
    if (tensor->made && mf_derived_print(tensor->made, &print)) {
        add_word(digest, print);
        return MF_OK;
    }
    return tensor->made
               ? add_source(digest, env, tensor->made, tensor->made->size)
               : MF_OK;
}

static enum mf_status add_plan(struct mf_digest *digest,
                               const struct mf_outputs *outputs)
{
    enum mf_status status = MF_OK;

    add_word(digest, outputs->verbatim);
    add_word(digest, outputs->finite_only);
    add_word(digest, outputs->deviation != NULL);
    add_word(digest, outputs->choice);
    for (size_t i = 0; i < outputs->count; i++)
        add_word(digest, outputs->output[i].draft.file_size);
    for (size_t i = 0; i < outputs->count && !outputs->verbatim; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        add_word(digest, draft->only_floats);
        status = add_header(digest, draft);
        for (size_t t = 0; t < draft->tensor_count && status == MF_OK; t++)
            status =
                add_tensor(digest, outputs->env, mf_draft_in_order(draft, t));
        if (status != MF_OK)
            break;
    }
    return status;
}

/* ---- outputs ---- */

enum mf_status mf_resume_check_files(const struct mf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const char *path = outputs->output[i].path;
        struct stat status;

        if (strcmp(path, "-") == 0 ||
            (stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
             !S_ISDIR(status.st_mode)))
            return mf_fail(
                outputs->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                "'%s' is not a regular file: it can neither be resumed nor "
                "written in parts",
                mf_quote((struct mf_str){ path, strlen(path) }).text);
    }
    return MF_OK;
}

static enum mf_status add_outputs(struct mf_digest *digest,
                                  const struct mf_outputs *outputs)
{
    add_word(digest, outputs->count);
    for (size_t i = 0; i < outputs->count; i++)
        add_text(digest, mf_base_name(outputs->output[i].path));
    if (outputs->index_path)
        add_text(digest, mf_base_name(outputs->index_path));
    return MF_OK;
}

/* The files that the outputs replace: which they are, not what is in them. */
static enum mf_status add_old_files(struct mf_digest *digest,
                                    const struct mf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        struct stat status;

        if (stat(outputs->output[i].path, &status) != 0) {
            add_word(digest, 0);
            continue;
        }
        add_word(digest, status.st_ino);
        add_word(digest, (uint64_t)status.st_size);
        add_word(digest, (uint64_t)status.st_mtim.tv_sec);
    }
    return MF_OK;
}

/* ---- when inputs were touched ---- */

static void add_touched(struct mf_digest *digest, const struct mf_model *model)
{
    for (size_t i = 0; model && i < model->file_count; i++)
        add_word(digest, (uint64_t)model->file[i].source.times.changed);
}

static enum mf_status add_all_touched(struct mf_digest *digest,
                                      const struct mf_outputs *outputs)
{
    add_touched(digest, outputs->model);
    add_touched(digest, outputs->of_base);
    add_touched(digest, outputs->lora.model);
    if (outputs->imatrix)
        add_word(digest, (uint64_t)outputs->imatrix->times.changed);
    return MF_OK;
}

/* ---- the record ---- */

static enum mf_status (*const parts[])(struct mf_digest *digest,
                                       const struct mf_outputs *outputs) = {
    add_inputs,  add_imatrix,   add_plan,
    add_outputs, add_old_files, add_all_touched,
};
_Static_assert(sizeof(parts) / sizeof(*parts) == (REPLACE - INPUTS) / 2,
               "each digest has its words");

enum mf_status mf_resume_describe(const struct mf_outputs *outputs,
                                  bool replace, struct mf_work_record *out)
{
    struct mf_digest *digest = mf_digest_new(outputs->env, MF_XXH3_128);
    enum mf_status status = digest ? MF_OK : outputs->env->error.status;
    char version[8 * VERSION_WORDS] = { 0 };

    *out = (struct mf_work_record){ .kind = KIND_HEAD, .count = WORDS };
    strncpy(version, mf_version(), sizeof(version) - 1);
    for (size_t i = 0; i < sizeof(version); i++)
        out->word[VERSION + i / 8] |= (uint64_t)(uint8_t)version[i]
                                      << i % 8 * 8;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && status == MF_OK;
         i++) {
        status = parts[i](digest, outputs);
        take(digest, &out->word[INPUTS + 2 * i]);
    }
    out->word[REPLACE] = replace;
    mf_digest_free(digest);
    return status;
}

enum mf_status mf_resume_describe_old(const struct mf_outputs *outputs,
                                      struct mf_work_record *out)
{
    struct mf_digest *digest = mf_digest_new(outputs->env, MF_XXH3_128);

    if (!digest)
        return outputs->env->error.status;
    add_old_files(digest, outputs);
    take(digest, &out->word[OLD_FILES]);
    mf_digest_free(digest);
    return MF_OK;
}

bool mf_resume_same_leave(const struct mf_work_record *a,
                          const struct mf_work_record *b)
{
    return a->word[REPLACE] == b->word[REPLACE];
}

static bool same(const struct mf_work_record *a, const struct mf_work_record *b,
                 enum word first, size_t count)
{
    return memcmp(&a->word[first], &b->word[first],
                  count * sizeof(a->word[0])) == 0;
}

/* A program that cannot read the version need not read on. */
static const char *other_version(const struct mf_work_record *begun,
                                 char room[static 128])
{
    char version[8 * VERSION_WORDS + 1] = { 0 };

    for (size_t i = 0; i < sizeof(version) - 1; i++)
        version[i] = (char)(begun->word[VERSION + i / 8] >> i % 8 * 8);
    snprintf(room, 128, "it was begun by version %.24s, this is %s",
             mf_quote((struct mf_str){ version, strlen(version) }).text,
             mf_version());
    return room;
}

const char *mf_resume_difference(const struct mf_work_record *begun,
                                 const struct mf_work_record *now,
                                 char room[static 128])
{
    if (begun->kind != now->kind || begun->count < VERSION_WORDS)
        return "its work log was not made by this program";
    if (!same(begun, now, VERSION, VERSION_WORDS))
        return other_version(begun, room);
    if (begun->count != now->count)
        return "its work log is damaged";
    if (!same(begun, now, INPUTS, 2))
        return "the input is not the one it was begun with";
    if (!same(begun, now, IMATRIX, 2))
        return "the importance matrix is not the one it was begun with";
    if (!same(begun, now, OUTPUTS, 2))
        return "it was begun with other names of the output files";
    if (!same(begun, now, PLAN, 2))
        return "it was begun with other options, or with another version of a "
               "file that is read with the model";
    return NULL;
}

static enum mf_status refuse(const struct mf_worklog *log, const char *what)
{
    return mf_worklog_refuse(log->env, log->path, "%s", what);
}

/* A log whose first record is incomplete belongs to work that had not begun;
 * but another file of that name is not overwritten. */
static enum mf_status check_beginning(const struct mf_worklog *log,
                                      const struct mf_work_record *now)
{
    size_t size = log->size < 8 ? (size_t)log->size : 8;
    uint8_t bytes[8], zeros[8] = { 0 };
    bool fits = mf_fd_read(log->fd, 0, bytes, size);

    for (size_t i = 0; i < size && fits; i++)
        fits = bytes[i] == (uint8_t)(now->kind >> 8 * i);
    return fits || memcmp(bytes, zeros, size) == 0
               ? MF_OK
               : refuse(log, "its work log was not made by this program");
}

enum mf_status mf_resume_same(struct mf_worklog *log,
                              const struct mf_work_record *now,
                              struct mf_work_record *begun, bool *found)
{
    char room[128];
    const char *differs;

    if (mf_worklog_read(log, begun, found) != MF_OK)
        return log->env->error.status;
    if (!*found)
        return check_beginning(log, now);
    differs = mf_resume_difference(begun, now, room);
    return differs ? refuse(log, differs) : MF_OK;
}

bool mf_resume_touched(const struct mf_work_record *begun,
                       const struct mf_work_record *now)
{
    return !same(begun, now, TOUCHED, 2);
}

bool mf_resume_replaces(const struct mf_work_record *begun,
                        const struct mf_work_record *now, bool naming)
{
    return begun->word[REPLACE] && (naming || same(begun, now, OLD_FILES, 2));
}
