/* SPDX-License-Identifier: MIT
 *
 * test_journal_trust.c - journals that another user could have put there are
 * neither read nor applied
 */
#include "tests/io/journal_image.h"

static void must_not_edit(const uint8_t *bytes, const char *reason)
{
    struct mf_edit edit = { .key = "a", .type = MF_VALUE_U32 };

    assert_int_equal(mf_file_edit(env, pair.path, &edit, 1, NULL, NULL),
                     MF_ERR_OUTPUT);
    assert_non_null(strstr(mf_env_error(env)->message, reason));
    assert_true(has_bytes(&pair, bytes));
    assert_true(has_journal(&pair));
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

    (void)state;
    begin("gguf");
    for (size_t i = 0; i < COUNT(rows); i++) {
        leave(pair.torn);
        assert_int_equal(chmod(pair.path, rows[i].file), 0);
        assert_int_equal(chmod(pair.journal_path, rows[i].journal), 0);
        if (rows[i].reason) {
            must_ignore(pair.torn, rows[i].reason);
            must_not_recover(pair.torn, false, rows[i].reason);
            must_not_edit(pair.torn, rows[i].reason);
        }
        must_recover(rows[i].reason != NULL, MF_RECOVERY_FINISHED, pair.new);
    }
    free_pair(&pair);
}

/* Never forced, never followed. */
static void other_kinds(void **state)
{
    const char *away = scratch_path("away");

    (void)state;
    begin("gguf");
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
        must_ignore(pair.torn, reason);
        must_not_recover(pair.torn, true, reason);
        must_not_edit(pair.torn, reason);
        if (kind != 0) /* a dangling link is not written through */
            assert_int_equal(access(away, F_OK), -1);
        if (kind == 3)
            assert_int_equal(rmdir(pair.journal_path), 0);
    }
    save_journal(&pair, &journal);
    unlink(away);
    assert_int_equal(link(pair.journal_path, away), 0);
    must_ignore(pair.torn, "more than one name");
    must_not_recover(pair.torn, false, "more than one name");
    must_recover(true, MF_RECOVERY_FINISHED, pair.new);
    free_pair(&pair);
}

static void owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root may give files away */
    begin("gguf");
    for (int trusted = 0; trusted < 2; trusted++) {
        leave(pair.torn);
        assert_int_equal(chown(pair.journal_path, 12345, 0), 0);
        assert_int_equal(chown(pair.path, trusted ? 12345 : 0, 0), 0);
        if (!trusted) {
            must_ignore(pair.torn, "belongs to another user");
            must_not_recover(pair.torn, false, "another user");
            must_not_edit(pair.torn, "another user");
        }
        must_recover(!trusted, MF_RECOVERY_FINISHED, pair.new);
    }
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(owners),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
