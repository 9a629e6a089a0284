/* SPDX-License-Identifier: MIT
 *
 * leaky.c - a program that keeps something each time that it opens a model
 *
 * Linked with --wrap, so that mf_model_open comes here first.  LEAKY says what
 * is kept: of the heap, of the env's heap, of the system; or what only looks
 * like a leak.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/program.h"

enum mf_status __real_mf_model_open(struct mf_env *env, const char *path,
                                    const struct mf_open_options *options,
                                    struct mf_model **out);
enum mf_status __wrap_mf_model_open(struct mf_env *env, const char *path,
                                    const struct mf_open_options *options,
                                    struct mf_model **out);

/* In a list: what nothing points at would be found by other means, too. */
struct kept {
    struct kept *before;
    char more[16 - sizeof(struct kept *)];
};
_Static_assert(sizeof(struct kept) == 16, "16 bytes are kept each time");

static struct kept *kept;

static void keep(struct kept *block)
{
    if (!block)
        abort();
    block->before = kept;
    kept = block;
}

static void *wait_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void keep_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        abort();
}

/* Of the system, behind malloc's back. */
static void keep_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        abort();
    memset(page, 1, 4096);
}

/* Grows for six rounds, and is dropped in the seventh. */
static void grow_cache(unsigned long call)
{
    static char *cache;

    cache = realloc(cache, 10000 * (call % 7 + 1));
    if (!cache)
        abort();
}

static void leak(struct mf_env *env, const char *what, unsigned long call)
{
    if (strcmp(what, "malloc") == 0)
        keep(malloc(sizeof(struct kept)));
    else if (strcmp(what, "env") == 0)
        keep(mf_env_resize(env, NULL, 0, sizeof(struct kept)));
    else if (strcmp(what, "rare") == 0 && call % 9 == 0)
        keep(malloc(sizeof(struct kept)));
    else if (strcmp(what, "file") == 0 && open("/dev/null", O_RDONLY) < 0)
        abort();
    else if (strcmp(what, "thread") == 0)
        keep_thread();
    else if (strcmp(what, "page") == 0)
        keep_page();
    else if (strcmp(what, "cache") == 0)
        grow_cache(call);
    else if (strcmp(what, "warm-up") == 0 && call <= 4)
        keep(malloc(sizeof(struct kept)));
    else if (strcmp(what, "step") == 0 && call == 20)
        keep(malloc(sizeof(struct kept)));
}

enum mf_status __wrap_mf_model_open(struct mf_env *env, const char *path,
                                    const struct mf_open_options *options,
                                    struct mf_model **out)
{
    static unsigned long calls;
    const char *what = getenv("LEAKY");

    if (what)
        leak(env, what, ++calls);
    return __real_mf_model_open(env, path, options, out);
}
