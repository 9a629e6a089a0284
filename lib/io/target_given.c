/* SPDX-License-Identifier: MIT
 *
 * target_given.c - an output file: bytes that a program takes
 *
 * It has no name in a folder, no space to reserve and nothing to sync.  One
 * that cannot give back what was written is a stream.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/io/target_parts.h"

enum mf_status mf_target_check_given(struct mf_env *env,
                                     const struct mf_output_ops *given,
                                     struct mf_output_ops *out)
{
    if (mf_options_take(env, out, sizeof(*out), given) != MF_OK)
        return env->error.status;
    return out->write ? MF_OK
                      : mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                                "the output has no function to write with");
}

/* result: what a function of the program returned. */
static enum mf_status check(struct mf_env *env, const struct mf_target *target,
                            int result, uint64_t offset, const char *what)
{
    result = abs(result);
    if (result == 0)
        return MF_OK;
    if (result == ECANCELED)
        return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET,
                       "the output was cancelled");
    errno = result;
    return mf_target_fail(env, target, offset, what);
}

enum mf_status mf_target_open_for(struct mf_env *env, const char *path,
                                  uint64_t size, bool replace,
                                  const struct mf_output_ops *given,
                                  struct mf_target *out)
{
    void *file = NULL;
    int result = 0;

    if (!given->write)
        return mf_target_open(env, path, size, replace, out);
    *out = (struct mf_target){ .env = env,
                               .path = path,
                               .size = size,
                               .folder = -1,
                               .fd = -1,
                               .stream = !given->read };
    if (given->begin)
        result = given->begin(given->user, path, size, &file);
    if (check(env, out, result, MF_NO_OFFSET, "begun") != MF_OK)
        return env->error.status;
    out->given = given;
    out->given_file = file;
    return MF_OK;
}

enum mf_status mf_target_put_given(struct mf_env *env,
                                   const struct mf_target *target,
                                   uint64_t offset, const void *bytes,
                                   size_t size)
{
    const struct mf_output_ops *given = target->given;
    int result = size > 0 ? given->write(given->user, target->given_file,
                                         offset, bytes, size)
                          : 0;

    env->io.bytes_written += result == 0 ? size : 0;
    return check(env, target, result, offset, "written");
}

enum mf_status mf_target_get_given(struct mf_env *env,
                                   const struct mf_target *target,
                                   uint64_t offset, void *bytes, size_t size)
{
    const struct mf_output_ops *given = target->given;
    int result = size > 0 ? given->read(given->user, target->given_file, offset,
                                        bytes, size)
                          : 0;

    return check(env, target, result, offset, "read back");
}

enum mf_status mf_target_end_given(struct mf_target *target, bool complete)
{
    const struct mf_output_ops *given = target->given;
    int result = 0;

    target->given = NULL; /* never again, whatever it answers */
    if (given->end)
        result = given->end(given->user, target->given_file, complete);
    return check(target->env, target, result, MF_NO_OFFSET, "ended");
}
