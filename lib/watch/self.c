/* SPDX-License-Identifier: MIT
 *
 * self.c - what the system says about this process, and what it allows
 */
#include "lib/watch/watch.h"

#include <string.h>

#include "lib/io/system.h"

/* /proc/self/status: usually 1.5 KB, of lines "RssAnon:\t     152 kB".  False
 * if it cannot be read, or does not fit. */
static bool read_status(char *text, size_t size)
{
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    size_t filled = 0;
    ssize_t got = 1;

    if (file < 0)
        return false;
    while (got > 0 && filled < size - 1) {
        got = read(file, text + filled, size - 1 - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    close(file);
    text[filled] = 0;
    return got == 0;
}

/* The number of a line; name is "\nRssAnon:". */
static bool find_number(const char *text, const char *name, uint64_t *out)
{
    const char *at = strstr(text, name);
    uint64_t number = 0;

    if (!at)
        return false;
    at += strlen(name);
    at += strspn(at, " \t");
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    *out = number;
    return true;
}

/* Numbers of pages: "2574 1180 950 ...", of which the second is resident. */
bool mf_self_resident(uint64_t *out)
{
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    long page = sysconf(_SC_PAGESIZE);
    char text[128];
    const char *at;
    uint64_t pages = 0;
    ssize_t got;

    if (file < 0)
        return false;
    got = read(file, text, sizeof(text) - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    at = strchr(text, ' ');
    if (!at || at[1] < '0' || at[1] > '9' || page <= 0)
        return false;
    for (at++; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(pages, 10, &pages) ||
            __builtin_add_overflow(pages, (uint64_t)(*at - '0'), &pages))
            return false;
    return !__builtin_mul_overflow(pages, (uint64_t)page, out);
}

/* Without the one that reads the list, and without "." and "..". */
static bool count_files(uint64_t *out)
{
    struct mf_entries entries;
    const char *name;
    uint64_t count = 0;
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return false;
    mf_entries_begin(&entries, folder);
    while ((name = mf_entries_next(&entries)) != NULL)
        count += name[0] != '.';
    mf_entries_end(&entries);
    *out = count > 0 ? count - 1 : 0;
    return true;
}

bool mf_self_look(struct mf_self *out)
{
    char status[8192];
    struct mf_self self;

    if (!read_status(status, sizeof(status)) ||
        !find_number(status, "\nRssAnon:", &self.resident) ||
        __builtin_mul_overflow(self.resident, 1024, &self.resident) ||
        !find_number(status, "\nThreads:", &self.threads) ||
        !count_files(&self.files))
        return false;
    *out = self;
    return true;
}

static uint64_t limit_of(int resource)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t mf_self_memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t machine = UINT64_MAX;

    if (pages > 0 && size > 0)
        machine = (uint64_t)pages * (uint64_t)size;
    return least(machine, least(limit_of(RLIMIT_DATA), limit_of(RLIMIT_AS)));
}

uint64_t mf_self_file_limit(void)
{
    return limit_of(RLIMIT_NOFILE);
}

uint64_t mf_self_thread_limit(void)
{
    return limit_of(RLIMIT_NPROC);
}
