/* SPDX-License-Identifier: MIT
 *
 * test_journal.c - edits that were cut short: what readers see, what is
 * trusted, and what finishes them
 *
 * The journals are made here, byte by byte.
 */
#include <sys/stat.h>
#include <time.h>

#include "lib/io/digest.h"
#include "tests/scratch.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

#define SUFFIX ".modelfile-edit"

/* ---- what the library tells ---- */

static struct mf_env *env;
static size_t told_count;
static enum mf_pending_use told_use;
static char told_reason[128];

static void told(void *user, const struct mf_pending_edit *edit)
{
    (void)user;
    assert_non_null(strstr(edit->journal, SUFFIX));
    told_count++;
    told_use = edit->use;
    snprintf(told_reason, sizeof(told_reason), "%s", edit->reason);
}

static int start(void **state)
{
    struct mf_options options = { .pending_edit = told };

    env = mf_env_new(&options);
    return env ? make_scratch(state) : -1;
}

static int stop(void **state)
{
    mf_env_free(env);
    return remove_scratch(state);
}

/* ---- journals ---- */

struct journal {
    uint8_t bytes[1 << 17];
    size_t size;
};

static void put(struct journal *journal, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(journal->bytes) - journal->size);
    memcpy(journal->bytes + journal->size, bytes, size);
    journal->size += size;
}

static void put_u64(struct journal *journal, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        put(journal, &(uint8_t){ (uint8_t)(value >> 8 * i) }, 1);
}

static void put_digest(struct journal *journal)
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

static void find_parts(struct pair *pair)
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

static void make_journal_of(const struct pair *pair, const struct span *part,
                            size_t parts, struct journal *out)
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

static void make_journal(const struct pair *pair, struct journal *out)
{
    make_journal_of(pair, pair->part, pair->parts, out);
}

/* An edit of the metadata that moves most of the header. */
static void edit_name(const char *path, const char *text)
{
    struct mf_edit edit = { .key = "general.name",
                            .type = MF_VALUE_STRING,
                            .text = { text, strlen(text) } };
    struct mf_edit_result result;

    if (mf_file_edit(env, path, &edit, 1, NULL, &result) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    assert_true(result.in_place);
}

static void make_pair(const char *format, struct pair *pair)
{
    struct mf_convert_options roomy = { .format = format,
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

static void free_pair(struct pair *pair)
{
    free(pair->old);
    free(pair->new);
    free(pair->torn);
}

static void save_journal(const struct pair *pair, const struct journal *journal)
{
    struct stat status;

    unlink(pair->journal_path);
    save(pair->journal_path, journal->bytes, journal->size);
    assert_int_equal(stat(pair->path, &status), 0);
    assert_int_equal(chmod(pair->journal_path, 0600), 0);
}

static bool holds(const struct pair *pair, const uint8_t *bytes)
{
    size_t size;
    uint8_t *now = load(pair->path, &size);
    bool same = size == pair->size && memcmp(now, bytes, size) == 0;

    free(now);
    return same;
}

static bool journal_is_there(const struct pair *pair)
{
    struct stat status;

    return lstat(pair->journal_path, &status) == 0;
}

/* ---- readers ---- */

/* Opens the file to read: what is told, and that it is not touched. */
static enum mf_status look(const struct pair *pair, const uint8_t *bytes,
                           char *name, size_t size)
{
    struct mf_model *model;
    struct mf_meta meta;
    enum mf_status status = mf_model_open(env, pair->path, NULL, &model);

    *name = 0;
    if (status == MF_OK) {
        assert_int_equal(mf_model_info(model)->pending_edit,
                         told_use == MF_PENDING_READ_THROUGH && told_count > 0);
        if (mf_meta_find(model, "general.name", 12, &meta, NULL) ||
            mf_meta_find(model, "name", 4, &meta, NULL))
            snprintf(name, size, "%.*s", (int)meta.text.size, meta.text.at);
        mf_model_close(model);
    }
    if (!holds(pair, bytes))
        fail_msg("%s was changed by a reader", pair->path);
    return status;
}

static void must_ignore(const struct pair *pair, const uint8_t *bytes,
                        const char *reason)
{
    char name[64];

    told_count = 0;
    look(pair, bytes, name, sizeof(name));
    if (told_count == 0 || told_use != MF_PENDING_IGNORED ||
        !strstr(told_reason, reason))
        fail_msg("told %zu times: use %d, reason '%s', not '%s'", told_count,
                 (int)told_use, told_reason, reason);
    assert_true(journal_is_there(pair));
}

static void must_not_recover(const struct pair *pair, const uint8_t *bytes,
                             bool force, const char *reason)
{
    struct mf_recover_options options = { .force = force };

    if (mf_file_recover(env, pair->path, &options, NULL) != MF_ERR_OUTPUT ||
        !strstr(mf_env_error(env)->message, reason))
        fail_msg("'%s', not '%s'", mf_env_error(env)->message, reason);
    if (!holds(pair, bytes))
        fail_msg("%s was changed", pair->path);
    assert_true(journal_is_there(pair));
}

static void must_recover(const struct pair *pair, bool force,
                         enum mf_recovery found, const uint8_t *bytes)
{
    struct mf_recover_options options = { .force = force };
    struct mf_recover_result result;

    if (mf_file_recover(env, pair->path, &options, &result) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_equal(result.found, found);
    assert_int_equal(result.changed > 0, found == MF_RECOVERY_FINISHED);
    if (!holds(pair, bytes))
        fail_msg("%s has other bytes", pair->path);
    assert_false(journal_is_there(pair));
}

/* ---- tests ---- */

static const char *const formats[] = { "gguf", "apr", "safetensors" };

/* Whatever part of it was written, in whatever pieces: a reader sees all of it
 * and changes nothing, and then it is finished. */
static void any_part(void **state)
{
    static struct journal journal;

    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++) {
        struct pair pair;
        char name[64];

        make_pair(formats[f], &pair);
        make_journal(&pair, &journal);
        for (unsigned way = 0; way < 40; way++) {
            for (size_t i = 0; i < pair.size; i++)
                pair.torn[i] = (i * 2654435761u >> 7) % 40 < way ? pair.new[i]
                                                                 : pair.old[i];
            if (memcmp(pair.torn, pair.old, pair.size) == 0 ||
                memcmp(pair.torn, pair.new, pair.size) == 0)
                continue;
            save(pair.path, pair.torn, pair.size);
            save_journal(&pair, &journal);
            told_count = 0;
            assert_int_equal(look(&pair, pair.torn, name, sizeof(name)), MF_OK);
            assert_int_equal(told_count, 1);
            assert_int_equal(told_use, MF_PENDING_READ_THROUGH);
            assert_non_null(strstr(name, "a name that was not"));
            must_recover(&pair, false, MF_RECOVERY_FINISHED, pair.new);
        }
        free_pair(&pair);
    }
}

/* Nothing to say where the file is whole; what is left goes. */
static void all_or_nothing(void **state)
{
    static struct journal journal;
    struct pair pair;
    char name[64];

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    for (int made = 0; made < 2; made++) {
        const uint8_t *bytes = made ? pair.new : pair.old;

        save(pair.path, bytes, pair.size);
        save_journal(&pair, &journal);
        told_count = 0;
        assert_int_equal(look(&pair, bytes, name, sizeof(name)), MF_OK);
        assert_int_equal(told_count, 0);
        assert_int_equal(strstr(name, "a name") != NULL, made);
        must_recover(&pair, false,
                     made ? MF_RECOVERY_COMPLETE : MF_RECOVERY_UNBEGUN, bytes);
        must_recover(&pair, false, MF_RECOVERY_NONE, bytes);
    }
    free_pair(&pair);
}

/* The next edit finishes it first. */
static void next_edit(void **state)
{
    static struct journal journal;
    struct pair pair, after;

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    save(pair.path, pair.new, pair.size);
    edit_name(pair.path, "another");
    after = pair;
    after.new = load(pair.path, &after.size);
    save(pair.path, pair.torn, pair.size);
    save_journal(&pair, &journal);
    told_count = 0;
    edit_name(pair.path, "another");
    assert_int_equal(told_count, 1);
    assert_int_equal(told_use, MF_PENDING_FINISHED);
    assert_true(holds(&after, after.new));
    assert_false(journal_is_there(&pair));
    free(after.new);
    free_pair(&pair);
}

/* No damage is applied, however small. */
static void every_byte(void **state)
{
    static struct journal journal;
    struct pair pair;

    (void)state;
    make_pair("apr", &pair);
    make_journal(&pair, &journal);
    save(pair.path, pair.torn, pair.size);
    for (size_t i = 0; i < journal.size; i++) {
        journal.bytes[i] ^= (uint8_t)(1u << i % 8);
        save_journal(&pair, &journal);
        journal.bytes[i] ^= (uint8_t)(1u << i % 8);
        must_ignore(&pair, pair.torn,
                    i < 8 ? "is not a journal" : "is damaged");
        must_not_recover(&pair, pair.torn, true,
                         i < 8 ? "is not a journal" : "is damaged");
    }
    free_pair(&pair);
}

static void every_prefix(void **state)
{
    static struct journal journal;
    struct pair pair;
    size_t whole;

    (void)state;
    make_pair("apr", &pair);
    make_journal(&pair, &journal);
    save(pair.path, pair.torn, pair.size);
    whole = journal.size;
    for (journal.size = 0; journal.size < whole; journal.size++) {
        save_journal(&pair, &journal);
        must_ignore(&pair, pair.torn, "is ");
        must_not_recover(&pair, pair.torn, true, "is ");
    }
    put(&journal, "", 1);
    save_journal(&pair, &journal);
    must_ignore(&pair, pair.torn, "is damaged");
    free_pair(&pair);
}

/* Numbers of any size, with a checksum that fits. */
static void hostile_numbers(void **state)
{
    static const uint64_t numbers[] = { 0,
                                        1,
                                        2,
                                        3,
                                        1 << 16,
                                        UINT32_MAX,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX / 2,
                                        UINT64_MAX - 40 };
    static struct journal journal, whole;
    struct pair pair;

    (void)state;
    make_pair("apr", &pair);
    make_journal(&pair, &whole);
    save(pair.path, pair.torn, pair.size);
    for (size_t at = 8; at < 56; at += 8)
        for (size_t i = 0; i < COUNT(numbers); i++) {
            struct journal number = { .size = 0 };

            journal = whole;
            put_u64(&number, numbers[i]);
            if (memcmp(journal.bytes + at, number.bytes, 8) == 0)
                continue;
            memcpy(journal.bytes + at, number.bytes, 8);
            journal.size -= 16;
            put_digest(&journal);
            save_journal(&pair, &journal);
            must_ignore(&pair, pair.torn, "");
            /* Of another size or place it is another file's. */
            if (at % 16 == 0 || (at > 8 && numbers[i] > pair.size))
                must_not_recover(&pair, pair.torn, true, "is damaged");
        }
    free_pair(&pair);
}

/* A journal that is sound and changes tensor data. */
static void tensor_data(void **state)
{
    static struct journal journal;

    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++) {
        struct pair pair;
        struct span part[2];
        struct mf_model *model;
        uint64_t start;

        make_pair(formats[f], &pair);
        save(pair.path, pair.old, pair.size);
        assert_int_equal(mf_model_open(env, pair.path, NULL, &model), MF_OK);
        start = mf_model_info(model)->data_offset;
        mf_model_close(model);
        part[0] = pair.part[0];
        part[1] = (struct span){ start, start + 4 };
        for (size_t i = part[1].from; i < part[1].to; i++)
            pair.new[i] ^= 0x55;
        save(pair.path, pair.torn, pair.size);
        /* As a patch of its own, and at the end of the header's. */
        make_journal_of(&pair, part, 2, &journal);
        save_journal(&pair, &journal);
        must_ignore(&pair, pair.torn, "more than the file's header");
        must_not_recover(&pair, pair.torn, true, "more than the file's header");
        part[0].to = part[1].to;
        make_journal_of(&pair, part, 1, &journal);
        save_journal(&pair, &journal);
        must_ignore(&pair, pair.torn, "more than the file's header");
        must_not_recover(&pair, pair.torn, true, "more than the file's header");
        free_pair(&pair);
    }
}

/* Of another file that had the name: passed over, and taken away by an edit. */
static void foreign(void **state)
{
    static struct journal journal;
    struct pair pair;
    char name[64];

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    pair.torn[pair.part[0].from + 3] ^= 0x20;
    save(pair.path, pair.old, pair.size);
    edit_name(pair.path, "something else of another length");
    free(pair.new);
    pair.new = load(pair.path, &pair.size);
    save_journal(&pair, &journal);
    must_ignore(&pair, pair.new, "belongs to another file");
    look(&pair, pair.new, name, sizeof(name));
    assert_non_null(strstr(name, "something else"));
    edit_name(pair.path, "third");
    assert_false(journal_is_there(&pair));
    save(pair.path, pair.new, pair.size);
    save_journal(&pair, &journal);
    must_recover(&pair, false, MF_RECOVERY_FOREIGN, pair.new);
    free_pair(&pair);
}

/* ---- trust ---- */

static void must_not_edit(const struct pair *pair, const uint8_t *bytes,
                          const char *reason)
{
    struct mf_edit edit = { .key = "a", .type = MF_VALUE_U32 };

    assert_int_equal(mf_file_edit(env, pair->path, &edit, 1, NULL, NULL),
                     MF_ERR_OUTPUT);
    assert_non_null(strstr(mf_env_error(env)->message, reason));
    assert_true(holds(pair, bytes));
    assert_true(journal_is_there(pair));
}

static void modes(void **state)
{
    static const struct {
        mode_t file, journal;
        const char *reason; /* NULL: trusted */
    } rows[] = {
        { 0644, 0600, NULL },
        { 0644, 0644, NULL },
        { 0664, 0660, NULL },
        { 0666, 0666, NULL },
        { 0600, 0640, "can be read" },
        { 0600, 0604, "can be read" },
        { 0640, 0604, "can be read" },
        { 0644, 0664, "can be written" },
        { 0644, 0646, "can be written" },
        { 0664, 0602, "can be written" },
    };
    static struct journal journal;
    struct pair pair;

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    for (size_t i = 0; i < COUNT(rows); i++) {
        save(pair.path, pair.torn, pair.size);
        save_journal(&pair, &journal);
        assert_int_equal(chmod(pair.path, rows[i].file), 0);
        assert_int_equal(chmod(pair.journal_path, rows[i].journal), 0);
        if (rows[i].reason) {
            must_ignore(&pair, pair.torn, rows[i].reason);
            must_not_recover(&pair, pair.torn, false, rows[i].reason);
            must_not_edit(&pair, pair.torn, rows[i].reason);
        }
        must_recover(&pair, rows[i].reason != NULL, MF_RECOVERY_FINISHED,
                     pair.new);
    }
    free_pair(&pair);
}

/* Never forced, never followed. */
static void other_kinds(void **state)
{
    static struct journal journal;
    struct pair pair;
    const char *away = scratch_path("away");

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    save(pair.path, pair.torn, pair.size);
    for (int kind = 0; kind < 4; kind++) {
        const char *reason =
            kind < 2 ? "is a symbolic link" : "is not a regular file";

        unlink(pair.journal_path);
        unlink(away);
        if (kind == 0)
            save(away, journal.bytes, journal.size);
        if (kind < 2)
            assert_int_equal(symlink(away, pair.journal_path), 0);
        if (kind == 2)
            assert_int_equal(mkfifo(pair.journal_path, 0600), 0);
        if (kind == 3)
            assert_int_equal(mkdir(pair.journal_path, 0700), 0);
        must_ignore(&pair, pair.torn, reason);
        must_not_recover(&pair, pair.torn, true, reason);
        must_not_edit(&pair, pair.torn, reason);
        if (kind != 0) /* a dangling link is not written through */
            assert_int_equal(access(away, F_OK), -1);
        if (kind == 3)
            assert_int_equal(rmdir(pair.journal_path), 0);
    }
    save_journal(&pair, &journal);
    unlink(away);
    assert_int_equal(link(pair.journal_path, away), 0);
    must_ignore(&pair, pair.torn, "more than one name");
    must_not_recover(&pair, pair.torn, false, "more than one name");
    must_recover(&pair, true, MF_RECOVERY_FINISHED, pair.new);
    free_pair(&pair);
}

static void owners(void **state)
{
    static struct journal journal;
    struct pair pair;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root may give files away */
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    for (int trusted = 0; trusted < 2; trusted++) {
        save(pair.path, pair.torn, pair.size);
        save_journal(&pair, &journal);
        assert_int_equal(chown(pair.journal_path, 12345, 0), 0);
        assert_int_equal(chown(pair.path, trusted ? 12345 : 0, 0), 0);
        if (!trusted) {
            must_ignore(&pair, pair.torn, "belongs to another user");
            must_not_recover(&pair, pair.torn, false, "another user");
            must_not_edit(&pair, pair.torn, "another user");
        }
        must_recover(&pair, !trusted, MF_RECOVERY_FINISHED, pair.new);
    }
    free_pair(&pair);
}

/* A hole costs no time, and detection never looks. */
static void sparse(void **state)
{
    struct mf_io_stats before, after;
    struct mf_detection found;
    struct pair pair;
    struct timespec from, to;

    (void)state;
    make_pair("gguf", &pair);
    save(pair.path, pair.torn, pair.size);
    unlink(pair.journal_path);
    save(pair.journal_path, "MFEDIT\2\n", 8);
    assert_int_equal(chmod(pair.journal_path, 0600), 0);
    for (int shift = 20; shift <= 40; shift += 4) {
        assert_int_equal(truncate(pair.journal_path, (off_t)1 << shift), 0);
        clock_gettime(CLOCK_MONOTONIC, &from);
        must_ignore(&pair, pair.torn, shift < 29 ? "is damaged" : "is larger");
        clock_gettime(CLOCK_MONOTONIC, &to);
        assert_true(to.tv_sec - from.tv_sec < 3);
        told_count = 0;
        mf_env_io(env, &before);
        assert_int_equal(mf_file_detect(env, pair.path, &found), MF_OK);
        mf_env_io(env, &after);
        assert_true(after.bytes_read - before.bytes_read <= 128);
        assert_int_equal(told_count, 0);
    }
    free_pair(&pair);
}

/* Whichever allocation fails, nothing is lost. */
static void every_allocation_fails(void **state)
{
    static struct journal journal;
    struct pair pair;
    enum mf_status status = MF_ERR_MEMORY;

    (void)state;
    make_pair("gguf", &pair);
    make_journal(&pair, &journal);
    save_journal(&pair, &journal);
    save(pair.path, pair.torn, pair.size);
    for (uint64_t k = 1; status != MF_OK; k++) {
        struct test_heap heap = { .fail_at = k };
        struct mf_env *own = test_env(&heap);
        struct mf_model *model;

        if (!own)
            continue;
        status = mf_model_open(own, pair.path, NULL, &model);
        if (status == MF_OK)
            mf_model_close(model);
        assert_true(holds(&pair, pair.torn));
        if (mf_file_recover(own, pair.path, NULL, NULL) != MF_OK)
            status = mf_env_error(own)->status;
        assert_true(status == MF_OK || status == MF_ERR_MEMORY);
        if (!journal_is_there(&pair)) {
            assert_true(holds(&pair, pair.new));
            save_journal(&pair, &journal);
            save(pair.path, pair.torn, pair.size);
        }
        assert_true(holds(&pair, pair.torn));
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
        assert_true(k < 1000);
    }
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part),
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(next_edit),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(hostile_numbers),
        cmocka_unit_test(tensor_data),
        cmocka_unit_test(foreign),
        cmocka_unit_test(modes),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(owners),
        cmocka_unit_test(sparse),
        cmocka_unit_test(every_allocation_fails),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
