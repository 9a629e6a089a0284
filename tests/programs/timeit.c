/* SPDX-License-Identifier: MIT
 *
 * timeit.c - times whole commands against each other, a run of each by turns
 *
 *     timeit N 'COMMAND ARG...' 'COMMAND ARG...' ...
 *
 * prints one line per command: least, median and 95th percentile of N runs,
 * in microseconds from before the start to after the end, then the command.
 * Taking turns means that a machine which slows down slows all of them alike.
 * A command is split at spaces, nothing else, and is found by PATH; what it
 * prints is thrown away.  One that fails ends the whole with status 1: the
 * time of a failure is not worth having.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX     1000
#define COMMANDS_MAX 16
#define WORDS_MAX    32
#define WARM_UPS     2 /* the first run fills the page cache, one more settles */

extern char **environ;

struct command {
    char *words[WORDS_MAX + 1]; /* for exec, ends with NULL */
    uint64_t took[RUNS_MAX];    /* nanoseconds, one a run */
};

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int split(struct command *command, char *text)
{
    size_t count = 0;

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (count == WORDS_MAX)
            return -1;
        command->words[count++] = word;
    }
    return count ? 0 : -1;
}

static void print_words(FILE *out, const struct command *command)
{
    for (size_t i = 0; command->words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", command->words[i]);
}

static int complain(const struct command *command, const char *what,
                    const char *detail)
{
    fprintf(stderr, "timeit: '");
    print_words(stderr, command);
    fprintf(stderr, "' %s: %s\n", what, detail);
    return -1;
}

static int check(const struct command *command, int status)
{
    char code[16];

    snprintf(code, sizeof(code), "%d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (WIFSIGNALED(status))
        return complain(command, "was killed by signal", code);
    return status ? complain(command, "failed with exit code", code) : 0;
}

/* posix_spawn rather than fork: nothing of ours is copied, so the start is
 * as cheap as the system can make it. */
static int run(const struct command *command,
               const posix_spawn_file_actions_t *quiet, uint64_t *took)
{
    uint64_t start = now();
    int status, error;
    pid_t child;

    error = posix_spawnp(&child, command->words[0], quiet, NULL, command->words,
                         environ);
    if (error)
        return complain(command, "cannot be started", strerror(error));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return complain(command, "cannot be waited for", strerror(errno));
    *took = now() - start;
    return check(command, status);
}

/* Each round begins with another command, so that none always follows the
 * same one and inherits its caches. */
static int measure(struct command *commands, size_t count, size_t runs,
                   const posix_spawn_file_actions_t *quiet)
{
    for (size_t round = 0; round < WARM_UPS + runs; round++) {
        for (size_t i = 0; i < count; i++) {
            struct command *command = &commands[(round + i) % count];
            size_t slot = round < WARM_UPS ? 0 : round - WARM_UPS;

            if (run(command, quiet, &command->took[slot]))
                return -1;
        }
    }
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void report(struct command *command, size_t runs)
{
    uint64_t *took = command->took;
    uint64_t median, p95;

    qsort(took, runs, sizeof(*took), compare_times);
    median = (took[(runs - 1) / 2] + took[runs / 2]) / 2;
    p95 = took[(runs * 95 + 99) / 100 - 1]; /* nearest rank: rounded up */
    printf("%.1f %.1f %.1f ", (double)took[0] / 1e3, (double)median / 1e3,
           (double)p95 / 1e3);
    print_words(stdout, command);
    putchar('\n');
}

/* All three streams of the command become /dev/null. */
static int prepare(posix_spawn_file_actions_t *quiet)
{
    if (posix_spawn_file_actions_init(quiet))
        return -1;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (posix_spawn_file_actions_addopen(quiet, fd, "/dev/null", O_RDWR, 0))
            return -1;
    return 0;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: timeit N COMMAND...  (N from 1 to %d, up to %d commands "
            "of up to %d words)\n",
            RUNS_MAX, COMMANDS_MAX, WORDS_MAX);
    return 2;
}

int main(int argc, char **argv)
{
    static struct command commands[COMMANDS_MAX];
    posix_spawn_file_actions_t quiet;
    size_t count, runs;

    if (argc < 3 || argc - 2 > COMMANDS_MAX)
        return usage();
    count = (size_t)argc - 2;
    runs = strtoul(argv[1], NULL, 10);
    if (runs < 1 || runs > RUNS_MAX)
        return usage();
    for (size_t i = 0; i < count; i++)
        if (split(&commands[i], argv[i + 2]))
            return usage();
    if (prepare(&quiet) || measure(commands, count, runs, &quiet))
        return 1;
    for (size_t i = 0; i < count; i++)
        report(&commands[i], runs);
    return 0;
}
