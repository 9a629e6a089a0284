/* SPDX-License-Identifier: MIT
 *
 * endless.c - a program that never gets on: after some reads or writes
 *
 * Linked with --wrap, so that the library's calls come here first.  The call
 * whose number ENDLESS_READ, ENDLESS_WRITE or ENDLESS_SYNC has says so on
 * standard error and goes on for ever; or, with ENDLESS_RUN, runs that command
 * of the shell first and then goes on as if nothing had been.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io/target.h"

static void count(const char *name, atomic_ulong *calls)
{
    const char *which = getenv(name);

    if (!which || atomic_fetch_add(calls, 1) + 1 != strtoul(which, NULL, 10))
        return;
    if (getenv("ENDLESS_RUN")) {
        if (system(getenv("ENDLESS_RUN")) != 0)
            abort();
        return;
    }
    for (volatile bool said = false; true;)
        if (!said)
            said = write(STDERR_FILENO, "endless\n", 8) == 8;
}

enum mf_status __real_mf_source_read(struct mf_env *env,
                                     const struct mf_source *source,
                                     uint64_t offset, void *buffer,
                                     size_t size);
enum mf_status __wrap_mf_source_read(struct mf_env *env,
                                     const struct mf_source *source,
                                     uint64_t offset, void *buffer,
                                     size_t size);
enum mf_status __real_mf_target_write(struct mf_env *env,
                                      struct mf_target *target, uint64_t offset,
                                      const void *bytes, size_t size);
enum mf_status __wrap_mf_target_write(struct mf_env *env,
                                      struct mf_target *target, uint64_t offset,
                                      const void *bytes, size_t size);

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    static atomic_ulong calls;

    count("ENDLESS_SYNC", &calls);
    return __real_fsync(fd);
}

enum mf_status __wrap_mf_source_read(struct mf_env *env,
                                     const struct mf_source *source,
                                     uint64_t offset, void *buffer, size_t size)
{
    static atomic_ulong calls;

    count("ENDLESS_READ", &calls);
    return __real_mf_source_read(env, source, offset, buffer, size);
}

enum mf_status __wrap_mf_target_write(struct mf_env *env,
                                      struct mf_target *target, uint64_t offset,
                                      const void *bytes, size_t size)
{
    static atomic_ulong calls;

    count("ENDLESS_WRITE", &calls);
    return __real_mf_target_write(env, target, offset, bytes, size);
}
