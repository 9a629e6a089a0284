/* SPDX-License-Identifier: MIT
 *
 * journal_image.h - edits that were cut short: files in between, their
 * journals made byte by byte, and what readers and recovery make of them
 */
#ifndef TESTS_JOURNAL_IMAGE_H
#define TESTS_JOURNAL_IMAGE_H

#include <sys/stat.h>

#include "lib/io/digest.h"
#include "tests/with_scratch.h"

#define SUFFIX ".modelfile-edit"

/* ---- notices of edits that were cut short ---- */

static size_t notice_count;
static enum mf_pending_use notice_use;
static char notice_reason[128];

static inline void on_notice(void *user, const struct mf_pending_edit *edit)
{
    (void)user;
    assert_non_null(strstr(edit->journal, SUFFIX));
    notice_count++;
    notice_use = edit->use;
    snprintf(notice_reason, sizeof(notice_reason), "%s", edit->reason);
}

static inline int start(void **state)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .pending_edit = on_notice };

    env = mf_env_new(&options);
    return env ? make_scratch(state) : -1;
}

static inline int stop(void **state)
{
    mf_env_free(env);
    return remove_scratch(state);
}

/* ---- journals ---- */

struct journal {
    uint8_t bytes[1 << 17];
    size_t size;
};

static inline void put(struct journal *journal, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(journal->bytes) - journal->size);
    memcpy(journal->bytes + journal->size, bytes, size);
    journal->size += size;
}

static inline void put_u64(struct journal *journal, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        put(journal, &(uint8_t){ (uint8_t)(value >> 8 * i) }, 1);
}

static inline void put_digest(struct journal *journal)
{
    struct mf_digest *digest = mf_digest_new(env, MF_XXH3_128);
    uint8_t bytes[MF_DIGEST_MAX];

    mf_digest_add(digest, journal->bytes, journal->size);
    mf_digest_finish(digest, bytes);
    mf_digest_free(digest);
    put(journal, bytes, 16);
}

struct span {
    size_t from, to;
};

/* ---- a file, the file after an edit, and one in between ---- */

struct pair {
    uint8_t *old, *new, *torn;
    size_t size;
    struct span part[2]; /* that differ: in the header, and at the end */
    size_t parts;
    char path[400], journal_path[512];
};

static inline void find_parts(struct pair *pair)
{
    size_t end = pair->size;

    pair->parts = 0;
    if (has_suffix(pair->path, ".apr"))
        end -= 4;
    pair->part[0] = (struct span){ end, 0 };
    for (size_t i = 0; i < end; i++)
        if (pair->old[i] != pair->new[i]) {
            if (pair->part[0].from > i)
                pair->part[0].from = i;
            pair->part[0].to = i + 1;
        }
    assert_true(pair->part[0].to > pair->part[0].from + 64);
    pair->parts = 1;
    if (end < pair->size)
        pair->part[pair->parts++] = (struct span){ end, pair->size };
}

static inline void make_journal_of(const struct pair *pair,
                                   const struct span *part, size_t parts,
                                   struct journal *out)
{
    out->size = 0;
    put(out, "MFEDIT\2\n", 8);
    put_u64(out, pair->size);
    put_u64(out, parts);
    for (size_t i = 0; i < parts; i++) {
        put_u64(out, part[i].from);
        put_u64(out, part[i].to - part[i].from);
    }
    for (size_t i = 0; i < parts; i++) {
        put(out, pair->old + part[i].from, part[i].to - part[i].from);
        put(out, pair->new + part[i].from, part[i].to - part[i].from);
    }
    put_digest(out);
}

static inline void make_journal(const struct pair *pair, struct journal *out)
{
    make_journal_of(pair, pair->part, pair->parts, out);
}

/* An edit of the metadata that moves most of the header. */
static inline void edit_name(const char *path, const char *text)
{
    struct mf_edit edit = { .key = "general.name",
                            .type = MF_VALUE_STRING,
                            .text = { text, strlen(text) } };
    struct mf_edit_result result;

    if (mf_file_edit(env, path, &edit, 1, NULL, &result) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    assert_true(result.in_place);
}

static inline void make_pair(const char *format, struct pair *pair)
{
    struct mf_convert_options roomy = { .size =
                                            sizeof(struct mf_convert_options),
                                        .format = format,
                                        .reserve = 300,
                                        .replace = true };

    snprintf(pair->path, sizeof(pair->path), "%s/model.%s", scratch_folder,
             format);
    snprintf(pair->journal_path, sizeof(pair->journal_path), "%s%s", pair->path,
             SUFFIX);
    must_convert(env, fixture_path("good-base.gguf"), pair->path, &roomy);
    pair->old = load(pair->path, &pair->size);
    edit_name(pair->path, "a name that was not there before, and quite long");
    pair->new = load(pair->path, &pair->size);
    find_parts(pair);
    pair->torn = malloc(pair->size);
    assert_non_null(pair->torn);
    memcpy(pair->torn, pair->old, pair->size);
    memcpy(pair->torn + pair->part[0].from, pair->new + pair->part[0].from,
           (pair->part[0].to - pair->part[0].from) / 2);
}

static inline void free_pair(struct pair *pair)
{
    free(pair->old);
    free(pair->new);
    free(pair->torn);
}

static inline void save_journal(const struct pair *pair,
                                const struct journal *journal)
{
    struct stat status;

    unlink(pair->journal_path);
    save(pair->journal_path, journal->bytes, journal->size);
    assert_int_equal(stat(pair->path, &status), 0);
    assert_int_equal(chmod(pair->journal_path, 0600), 0);
}

static inline bool has_bytes(const struct pair *pair, const uint8_t *bytes)
{
    size_t size;
    uint8_t *now = load(pair->path, &size);
    bool same = size == pair->size && memcmp(now, bytes, size) == 0;

    free(now);
    return same;
}

static inline bool has_journal(const struct pair *pair)
{
    struct stat status;

    return lstat(pair->journal_path, &status) == 0;
}

/* The edit that most tests cut short, and its journal. */
static struct pair pair;
static struct journal journal;

static inline void begin(const char *format)
{
    make_pair(format, &pair);
    make_journal(&pair, &journal);
}

/* The file as it was left, with the journal next to it. */
static inline void leave(const uint8_t *bytes)
{
    save(pair.path, bytes, pair.size);
    save_journal(&pair, &journal);
}

/* ---- readers ---- */

/* Opens the file to read, which must not change it; the name that a reader
 * gets. */
static inline enum mf_status read_name(const uint8_t *bytes, char *name,
                                       size_t size)
{
    struct mf_model *model;
    struct mf_meta meta;
    enum mf_status status = mf_model_open(env, pair.path, NULL, &model);

    *name = 0;
    if (status == MF_OK) {
        assert_int_equal(mf_model_info(model)->pending_edit,
                         notice_use == MF_PENDING_READ_THROUGH &&
                             notice_count > 0);
        if (mf_meta_find(model, "general.name", 12, &meta, NULL) ||
            mf_meta_find(model, "name", 4, &meta, NULL))
            snprintf(name, size, "%.*s", (int)meta.text.size, meta.text.at);
        mf_model_close(model);
    }
    if (!has_bytes(&pair, bytes))
        fail_msg("%s was changed by a reader", pair.path);
    return status;
}

static inline void must_ignore(const uint8_t *bytes, const char *reason)
{
    char name[64];

    notice_count = 0;
    read_name(bytes, name, sizeof(name));
    if (notice_count == 0 || notice_use != MF_PENDING_IGNORED ||
        !strstr(notice_reason, reason))
        fail_msg("%zu notices: use %d, reason '%s', not '%s'", notice_count,
                 (int)notice_use, notice_reason, reason);
    assert_true(has_journal(&pair));
}

static inline void must_not_recover(const uint8_t *bytes, bool force,
                                    const char *reason)
{
    struct mf_recover_options options = { .size =
                                              sizeof(struct mf_recover_options),
                                          .force = force };

    if (mf_file_recover(env, pair.path, &options, NULL) != MF_ERR_OUTPUT ||
        !strstr(mf_env_error(env)->message, reason))
        fail_msg("'%s', not '%s'", mf_env_error(env)->message, reason);
    if (!has_bytes(&pair, bytes))
        fail_msg("%s was changed", pair.path);
    assert_true(has_journal(&pair));
}

static inline void must_recover(bool force, enum mf_recovery found,
                                const uint8_t *bytes)
{
    struct mf_recover_options options = { .size =
                                              sizeof(struct mf_recover_options),
                                          .force = force };
    struct mf_recover_result result;

    if (mf_file_recover(env, pair.path, &options, &result) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_equal(result.found, found);
    assert_int_equal(result.changed > 0, found == MF_RECOVERY_FINISHED);
    if (!has_bytes(&pair, bytes))
        fail_msg("%s has other bytes", pair.path);
    assert_false(has_journal(&pair));
}

#endif
