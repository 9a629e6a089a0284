/* SPDX-License-Identifier: MIT
 *
 * dhat.c - --dhat: a profile of the heap of the whole process
 */
#include "cli/dhat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/held.h"
#include "cli/malloc_count.h"
#include "cli/report.h"
#include "cli/say.h"

#define FILE_DEFAULT "dhat-heap.json"
#define LARGEST      5 /* points that are listed */
#define CALLS        3 /* for each of them */

static struct mf_profile *profile; /* NULL: not requested, or not possible */
static struct run *profile_of;     /* NULL: the option was not one after all */
static char command[4096];         /* the command line */
static size_t env_blocks;          /* those that an env has for itself */

/* Cut where it is too long. */
static void keep_command(int count, char **arguments)
{
    size_t size = 0;

    for (int i = 0; i < count && size < sizeof(command); i++)
        size += (size_t)snprintf(command + size, sizeof(command) - size, "%s%s",
                                 i > 0 ? " " : "", arguments[i]);
}

static bool is_requested(int count, char **arguments)
{
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--dhat") == 0 ||
            strncmp(arguments[i], "--dhat=", strlen("--dhat=")) == 0)
            return true;
    return false;
}

static void at_exit(void);

/* After the constructor of malloc_count.c and before all others.  glibc gives
 * constructors the command line; where malloc is not counted it is unknown. */
static void begin(int count, char **arguments)
{
    static struct malloc_watch watch;
    struct mf_profile_options options = { .size = sizeof(options),
                                          .command = command };

    if (!malloc_watch(NULL) || !is_requested(count, arguments))
        return;
    keep_command(count, arguments);
    options.allocator.resize = malloc_uncounted;
    profile = mf_profile_new(&options);
    watch = (struct malloc_watch){ mf_profile_change, profile };
    if (profile && atexit(at_exit) == 0)
        malloc_watch(&watch);
}

__attribute__((constructor(102))) static void constructor(int count,
                                                          char **arguments)
{
    begin(count, arguments);
}

static const char *path_of(const struct run *run)
{
    return *run->options->dhat ? run->options->dhat : FILE_DEFAULT;
}

/* Unlike "--dhat" alone. */
static bool is_without_name(const struct run *run)
{
    struct mf_str rest = run->command_line;

    while (rest.size > 0 && strcmp(rest.at, "--") != 0) {
        size_t size = strlen(rest.at) + 1;

        if (strcmp(rest.at, "--dhat=") == 0)
            return true;
        rest = (struct mf_str){ rest.at + size, rest.size - size };
    }
    return false;
}

/* The profile would replace an empty file, or another profile. */
static bool is_operand(const struct run *run)
{
    struct stat file, operand;

    if (stat(path_of(run), &file) != 0)
        return false;
    for (size_t i = 0; i < run->operand_count; i++)
        if (stat(run->operand[i], &operand) == 0 &&
            operand.st_dev == file.st_dev && operand.st_ino == file.st_ino)
            return true;
    return false;
}

static bool check_path(struct run *run)
{
    if (strcmp(run->options->dhat, "-") == 0 || is_without_name(run))
        report_usage(run, "'--dhat' needs the name of a file");
    else if (is_operand(run))
        report_usage(run,
                     "'--dhat' would replace '%.200s', which is a file of the "
                     "command",
                     path_of(run));
    else
        return true;
    return false;
}

bool dhat_check(struct run *run)
{
    if (!run->options->dhat)
        return true;
    if (!check_path(run))
        return false;
    profile_of = profile ? run : NULL;
    if (profile)
        return true;
    if (malloc_watch(NULL))
        report_no_env(run);
    else
        report_usage(run, "'--dhat' is not possible in this build, which does "
                          "not count memory");
    return false;
}

/* What is neither missing nor a file is refused in the end. */
void dhat_allow(struct run *run)
{
    struct stat old;

    if (run->options->dhat &&
        (lstat(path_of(run), &old) != 0 || S_ISREG(old.st_mode)))
        sandbox_allow_file(&run->sandbox, path_of(run));
}

/* ---- the sums ---- */

static void say_blocks(struct run *run, const char *label, uint64_t bytes,
                       uint64_t blocks)
{
    say(run, "%s%s bytes in %s blocks\n", label, number_text(bytes).at,
        number_text(blocks).at);
}

/* The function and line of a frame, without its address. */
static const char *place_of(const char *frame)
{
    const char *colon = strstr(frame, ": ");

    return colon ? colon + 2 : frame;
}

/* All memory of the library goes through one file. */
static bool is_of_heap(const char *frame)
{
    return strstr(frame, " (heap.c:") || strstr(frame, " (heap.h:");
}

static void say_point(struct run *run, const struct mf_profile_point *point)
{
    char text[512];
    size_t size = 0, first = 0;

    while (first + 1 < point->call_count && is_of_heap(point->call[first]))
        first++;
    for (size_t i = first;
         i < point->call_count && i < first + CALLS && size < sizeof(text); i++)
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size, "%s%s",
                             i > first ? " < " : "", place_of(point->call[i]));
    say(run, "    %s\n", text);
}

/* The points with most bytes, at the peak or now. */
static void say_largest(struct run *run, enum mf_profile_order order)
{
    bool at_peak = order == MF_PROFILE_PEAK;
    struct mf_profile_point point;

    say(run, at_peak ? "largest at t-gmax:\n" : "largest blocks left:\n");
    for (size_t i = 0;
         i < LARGEST && mf_profile_point_at(profile, order, i, &point); i++) {
        size_t bytes = at_peak ? point.peak_bytes : point.live_bytes;

        if (bytes == 0)
            return;
        say_blocks(run, "  ", bytes,
                   at_peak ? point.peak_blocks : point.live_blocks);
        say_point(run, &point);
    }
}

static void say_sums(struct run *run, const struct mf_heap_stats *sum)
{
    say_blocks(run, "Total:     ", sum->total_bytes, sum->allocations);
    say_blocks(run, "At t-gmax: ", sum->peak, sum->peak_blocks);
    say_blocks(run, "At t-end:  ", sum->live, sum->live_blocks);
}

/* The library's message names the file where that is at fault. */
static void report_error(struct run *run)
{
    const struct mf_error *error = mf_profile_error(profile);

    if (error->status != MF_ERR_OUTPUT) {
        report_unwritten(run, path_of(run), error->message);
        return;
    }
    report_code(run, EXIT_OUTPUT);
    say_error(run, "%s", error->message);
}

/* leaks: what is left is an error, and named with --quiet as well. */
static void write_profile(struct run *run, bool leaks)
{
    struct mf_heap_stats sum;

    mf_profile_stats(profile, &sum);
    if (sum.allocations == 0) {
        report_unwritten(
            run, path_of(run),
            "nothing was counted: the program's own heap is not in use");
        return;
    }
    if (!run->options->quiet)
        say_sums(run, &sum);
    if (leaks)
        say_largest(run, MF_PROFILE_LIVE);
    if (!run->options->quiet)
        say_largest(run, MF_PROFILE_PEAK);
    if (mf_profile_write(profile, path_of(run)) != MF_OK)
        report_error(run);
    else if (!run->options->quiet)
        say(run, "heap profile: %s (for dh_view.html of valgrind)\n",
            path_of(run));
}

void dhat_env_begins(const struct mf_env *env)
{
    struct mf_heap_stats heap;

    mf_env_heap(env, &heap);
    env_blocks = heap.live_blocks;
}

/* Where something is left, the profile that shows where it comes from is
 * written before the env is freed: a build with asserts ends there. */
void dhat_env_ends(const struct mf_env *env)
{
    struct run *run = profile_of;
    struct mf_heap_stats heap;

    mf_env_heap(env, &heap);
    if (!run || heap.live_blocks <= env_blocks)
        return;
    malloc_watch(NULL);
    write_profile(run, true);
    profile_of = NULL;
}

/* Gives back what the C library keeps for itself until the process ends.  It is
 * there for programs such as valgrind, which calls it before it counts what is
 * left. */
extern void __libc_freeres(void) __attribute__((weak));

/* The first one that is registered is the last one that runs: blocks that
 * others give back at the end are not left. */
static void at_exit(void)
{
    if (__libc_freeres)
        __libc_freeres();
    malloc_watch(NULL);
    if (profile_of) {
        int code = profile_of->code;

        write_profile(profile_of, false);
        mf_profile_free(profile);
        held_print();
        if (profile_of->code != code)
            _exit(profile_of->code);
    }
}
