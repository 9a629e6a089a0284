/* SPDX-License-Identifier: MIT
 *
 * with_env.h - tests that each get an env of their own, and what they open
 * with it
 */
#ifndef TESTS_WITH_ENV_H
#define TESTS_WITH_ENV_H

#include "tests/support.h"

static struct mf_env *env;
static struct test_heap env_heap;

static inline int env_setup(void **state)
{
    (void)state;
    env_heap = (struct test_heap){ 0 };
    env = test_env(&env_heap);
    return env ? 0 : -1;
}

/* If a block is left on its heap, or something is open, so is the env. */
static inline int env_teardown(void **state)
{
    (void)state;
    mf_env_free(env);
    if (env_heap.live > 0)
        fprintf(stderr, "%zu bytes of the env's heap are left\n",
                env_heap.live);
    return env_heap.live > 0 ? -1 : 0;
}

#define WITH_ENV(test)                                                         \
    cmocka_unit_test_setup_teardown(test, env_setup, env_teardown)

/* ---- models that must open; close them ---- */

static inline struct mf_model *open_as(const char *path,
                                       const struct mf_open_options *options)
{
    struct mf_model *model;

    if (mf_model_open(env, path, options, &model) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    return model;
}

static inline struct mf_model *open_model(const char *path)
{
    return open_as(path, NULL);
}

static inline struct mf_model *open_fixture(const char *name)
{
    return open_model(fixture_path(name));
}

/* ---- what they must contain ---- */

static inline struct mf_meta meta_of(const struct mf_model *model,
                                     const char *key)
{
    struct mf_meta meta;

    if (!mf_meta_find(model, key, strlen(key), &meta, NULL))
        fail_msg("missing metadata key '%s'", key);
    return meta;
}

static inline struct mf_tensor tensor_of(const struct mf_model *model,
                                         const char *name)
{
    struct mf_tensor tensor;

    if (!mf_tensor_find(model, name, strlen(name), &tensor, NULL))
        fail_msg("missing tensor '%s'", name);
    return tensor;
}

#endif
