/* SPDX-License-Identifier: MIT
 *
 * with_models.h - every good model among the fixtures, files and folders
 */
#ifndef TESTS_WITH_MODELS_H
#define TESTS_WITH_MODELS_H

#include "tests/with_env.h"

static void (*use_model)(const char *path);

static inline void use_fixture(const char *name, const uint8_t *bytes,
                               size_t size)
{
    (void)bytes, (void)size;
    use_model(fixture_path(name));
}

static inline enum mf_status use_folder(void *user, const char *path, bool link)
{
    (void)user, (void)link;
    if (strstr(path, "/good-"))
        use_model(path);
    return MF_OK;
}

static inline void each_good_model(void (*use)(const char *path))
{
    use_model = use;
    assert_true(each_fixture("good-", use_fixture) > 50);
    assert_int_equal(
        mf_folder_subfolders(env, fixture_folder(), use_folder, NULL), MF_OK);
}

#endif
