/* SPDX-License-Identifier: MIT
 *
 * record_memory.c - the lines of memory.csv, and samples of the power
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/malloc_count.h"
#include "cli/measure/record_parts.h"

/* Above the size of /proc/self/status. */
#define STATUS_SIZE 8192

static uint64_t resident(void)
{
    static const char key[] = "\nVmRSS:";
    char text[STATUS_SIZE], *at;
    ssize_t got;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    do
        got = read(fd, text, sizeof(text) - 1);
    while (got < 0 && errno == EINTR);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    at = strstr(text, key);
    return at ? strtoull(at + sizeof(key) - 1, NULL, 10) * 1024 : 0;
}

/* kv_cache_bytes is 0: nothing here keeps one.  activation_bytes is the heap of
 * the library's env (tables, windows, buffers of all threads),
 * temp_buffer_bytes what else the process has on its heap. */
void record_snapshot(const struct mf_env *env)
{
    struct record *record = &the_record;
    struct mf_heap_stats library = { 0 };
    struct process_heap process = { 0 };
    struct mf_energy *const sums[] = { &record->energy, record->setting };
    uint64_t rss = resident(), other;

    mf_env_heap(env ? env : record->env, &library);
    process_heap(&process);
    other = process.live > library.live ? process.live - library.live : 0;
    out_format(&record->memory.out,
               "%" PRIu64 ",%" PRIu64 ",0,%zu,%" PRIu64 "\n",
               record_wall_clock(), rss, library.live, other);
    out_flush(&record->memory.out); /* so that a crash leaves it */
    record->rss.samples++;
    record->rss.sum += rss;
    record->rss.peak = rss > record->rss.peak ? rss : record->rss.peak;
    record->rss.next = record_clock() + 100000000;
    mf_power_sample(&record->power, record_clock() / 1000, sums,
                    record->setting ? 2 : 1);
}

void record_tick(const struct mf_env *env)
{
    if (the_record.on && record_clock() >= the_record.rss.next)
        record_snapshot(env);
}

void record_energy(struct mf_energy *energy)
{
    if (!the_record.on)
        return;
    record_snapshot(NULL); /* here the sum before ends, and this one begins */
    the_record.setting = energy;
    if (energy && the_record.power.kind == MF_POWER_MOCK)
        mf_power_sample(&the_record.power, record_clock() / 1000, &energy, 1);
}
