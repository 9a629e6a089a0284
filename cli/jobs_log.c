/* SPDX-License-Identifier: MIT
 *
 * jobs_log.c - --log FILE: which files are finished
 *
 * The log is read and locked before the sandbox, and stays open.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* F_OFD_SETLK */
#endif
#include "cli/jobs_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/given.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/room.h"

#define LOG_SIZE_MAX ((off_t)1024 * 1024 * 1024)

/* "0 SIZE SECONDS.NANOSECONDS PATH" */
#define LINE_MAX_SIZE (2 * PATH_MAX + 80)

static struct {
    int fd;     /* 0: there is none */
    char *text; /* lines that it had, each terminated */
    uint32_t *line;
    size_t count;
} jobs_log;

/* ---- the first line ---- */

struct head {
    char at[4096];
    size_t size;
};

static void add(struct head *head, const char *text)
{
    size_t size = strlen(text);

    if (size < sizeof(head->at) - head->size) {
        memcpy(head->at + head->size, text, size + 1);
        head->size += size;
    } else {
        head->size = sizeof(head->at); /* too long */
    }
}

/* What says how a run goes, and not what it does. */
static bool is_about_the_run(const char *name)
{
    static const char *const names[] = { "--jobs",    "--part",
                                         "--log",     "--files-from",
                                         "--threads", "--progress" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A word in which nothing can be taken for the next one. */
static void add_word(struct head *head, const char *word)
{
    char one[8];

    for (; *word; word++) {
        snprintf(one, sizeof(one),
                 *word == ' ' || *word == '\\' || *word == '\n' ? "\\x%02x"
                                                                : "%c",
                 (unsigned char)*word);
        add(head, one);
    }
}

static void add_option(void *user, const char *name, const char *value)
{
    struct head *head = user;

    add(head, " ");
    add(head, name);
    if (value) {
        add(head, "=");
        add_word(head, value);
    }
}

/* Where not all operands are files, those after the first are not. */
static void add_operands(struct head *head, const struct run *run)
{
    bool all = run->command->operands_max == SIZE_MAX;

    for (size_t i = 1; i < run->operand_count && !all; i++) {
        add(head, " ");
        add_word(head, run->operand[i]);
    }
}

static bool make_head(struct run *run, struct head *head)
{
    const struct option *option = run->command->options;

    add(head, "modelfile " MF_VERSION_STRING " ");
    add(head, run->command->name);
    add_operands(head, run);
    for (; option && option->name; option++)
        if (option->help && !is_about_the_run(option->name))
            given_values(option, add_option, head);
    add(head, "\n");
    if (head->size < sizeof(head->at))
        return true;
    report_usage(run, "the options are too long for '--log'");
    return false;
}

/* ---- reading ---- */

static bool cannot(struct run *run, const char *why)
{
    report_output_alone(run, run->options->log, why);
    return false;
}

/* Where there is one, a lock that the process keeps when it reads the log as
 * one of the files, and closes it. */
#if defined(F_OFD_SETLK)
#define SET_LOCK F_OFD_SETLK
#else
#define SET_LOCK F_SETLK
#endif

static bool lock(void)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(jobs_log.fd, SET_LOCK, &all) == 0;
}

/* Rank 0 may cut the log meanwhile: then *size becomes smaller. */
static bool read_all(char *text, size_t *size)
{
    size_t done = 0;

    while (done < *size) {
        ssize_t got =
            pread(jobs_log.fd, text + done, *size - done, (off_t)done);

        if (got == 0 && ranks_follow())
            *size = done;
        else if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static const char *path_of(const char *line)
{
    for (int i = 0; i < 3 && line; i++) {
        line = strchr(line, ' ');
        line = line ? line + 1 : NULL;
    }
    return line ? line : "";
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const char *text = table;

    return strcmp(path_of(text + a), path_of(text + b)) < 0;
}

/* Lines after the first one; what was cut off goes. */
static bool take_lines(size_t head, size_t size)
{
    char *end;

    for (size_t at = head; at < size; at = (size_t)(end - jobs_log.text) + 1) {
        end = memchr(jobs_log.text + at, '\n', size - at);
        if (!end && ranks_follow())
            return true;
        if (!end)
            return ftruncate(jobs_log.fd, (off_t)at) == 0;
        *end = 0;
        jobs_log.line[jobs_log.count++] = (uint32_t)at;
    }
    return true;
}

static bool write_all(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t put = write(jobs_log.fd, text, size);

        if (put < 0 && errno != EINTR)
            return false;
        text += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool read_log(struct run *run, const struct head *head, size_t size)
{
    /* The shortest line has 8 bytes. */
    jobs_log.text = room_take(size + 1);
    jobs_log.line = room_take((size / 8 + 1) * sizeof(*jobs_log.line));
    if (!jobs_log.text || !jobs_log.line)
        return cannot(run, strerror(errno));
    if (!read_all(jobs_log.text, &size))
        return cannot(run, "it cannot be read");
    if (size < head->size || memcmp(jobs_log.text, head->at, head->size) != 0)
        return cannot(run,
                      "it is not a log of this command with these options");
    if (!take_lines(head->size, size))
        return cannot(run, strerror(errno));
    mf_sort(jobs_log.line, jobs_log.count, is_before, jobs_log.text);
    return true;
}

/* The log of several ranks is rank 0's; others only read it, if it is there. */
static bool open_log(struct run *run, struct stat *status)
{
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

    flags |= ranks_follow() ? O_RDONLY : O_RDWR | O_CREAT | O_APPEND;
    jobs_log.fd = open(run->options->log, flags, 0666);
    if (jobs_log.fd < 0 || fstat(jobs_log.fd, status) != 0)
        return cannot(run, strerror(errno));
    if (!S_ISREG(status->st_mode) || status->st_size > LOG_SIZE_MAX)
        return cannot(run, "it is not a log");
    return true;
}

bool jobs_log_open(struct run *run)
{
    struct head head = { "", 0 };
    struct stat status;

    if (!make_head(run, &head))
        return false;
    if (ranks_follow() && access(run->options->log, F_OK) != 0)
        return true;
    if (!open_log(run, &status))
        return false;
    if (ranks_follow())
        return status.st_size == 0 ||
               read_log(run, &head, (size_t)status.st_size);
    if (!lock())
        return cannot(run, "another run uses it");
    if (status.st_size == 0)
        return write_all(head.at, head.size) || cannot(run, strerror(errno));
    return read_log(run, &head, (size_t)status.st_size);
}

/* ---- lines ---- */

/* Without the code, which is first. */
static void make_line(char line[LINE_MAX_SIZE], const struct jobs_file *file)
{
    char *at = line + snprintf(line, LINE_MAX_SIZE,
                               "%" PRIu64 " %" PRId64 ".%09" PRId64 " ",
                               file->size, file->seconds, file->nanoseconds);

    for (const char *from = file->path; *from; from++) {
        if (*from == '\\' || *from == '\n')
            *at++ = '\\';
        *at++ = *from == '\n' ? 'n' : *from;
    }
    *at = 0;
}

/* The first line whose path is not before the given one. */
static size_t find(const char *path)
{
    size_t low = 0, high = jobs_log.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(path_of(jobs_log.text + jobs_log.line[middle]), path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void look_at(const char *path, struct jobs_file *out)
{
    struct stat status = { 0 };

    snprintf(out->path, sizeof(out->path), "%s", path);
    out->noted = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    out->size = (uint64_t)status.st_size;
    out->seconds = status.st_mtim.tv_sec;
    out->nanoseconds = status.st_mtim.tv_nsec;
}

int jobs_log_find(const char *path, struct jobs_file *out)
{
    char line[2 + LINE_MAX_SIZE] = "0 ";

    look_at(path, out);
    make_line(line + 2, out);
    path = path_of(line);
    for (size_t i = find(path); out->noted && i < jobs_log.count; i++) {
        const char *had = jobs_log.text + jobs_log.line[i];

        if (strcmp(path_of(had), path) != 0)
            break;
        if ((had[0] == '0' || had[0] == '1') && had[1] == ' ' &&
            strcmp(had + 2, line + 2) == 0)
            return had[0] - '0';
    }
    return -1;
}

void jobs_log_line(const struct jobs_file *file, int code,
                   void (*add_line)(void *user, const char *at, size_t size),
                   void *user)
{
    char line[2 + LINE_MAX_SIZE + 1];
    size_t size;

    if (!file->noted || code > EXIT_NO)
        return;
    line[0] = (char)('0' + code);
    line[1] = ' ';
    make_line(line + 2, file);
    size = strlen(line);
    line[size++] = '\n';
    add_line(user, line, size);
}

void jobs_log_put(struct run *run, const char *line, size_t size)
{
    out_flush(&run->out);
    if (run->out.closed || run->out.error)
        return; /* its answer has no reader */
    if (!write_all(line, size))
        report_unwritten(run, run->options->log, strerror(errno));
}

static void put_line(void *user, const char *at, size_t size)
{
    jobs_log_put(user, at, size);
}

void jobs_log_add(struct run *run, const struct jobs_file *file, int code)
{
    if (jobs_log.fd != 0)
        jobs_log_line(file, code, put_line, run);
}
