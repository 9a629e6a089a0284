/* SPDX-License-Identifier: MIT
 *
 * keep_input.c - which file a program has read, for the env to remember
 */
#include "lib/base/kept.h"
#include "lib/base/options.h"
#include "lib/io/system.h"
#include "lib/program.h"

enum mf_status mf_env_keep_input(struct mf_env *env, int fd)
{
    MF_NEED(NULL, env);

    struct stat status;

    mf_clear_error(env);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return MF_OK;
    return mf_inputs_add(env, status.st_dev, status.st_ino);
}
