/* SPDX-License-Identifier: MIT
 *
 * files_from.c - --files-from LIST: paths in a file, one per line
 *
 * There is no env yet, so the memory is the system's, and of a fixed size.
 */
#include "cli/files_from.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/report.h"
#include "cli/room.h"

/* Some 100,000 paths.  The unused part takes no memory. */
#define LIST_SIZE_MAX ((size_t)8 * 1024 * 1024)

static const char *first; /* of several files that are sorted */

struct list {
    struct run *run;
    const char *path;
    char *text; /* LIST_SIZE_MAX + 1 bytes, terminated */
    size_t size, count;
};

static bool cannot(const struct list *list, const char *why)
{
    report_input(list->run, list->path, "cannot read the list of files: %s",
                 why);
    return false;
}

static void *take(const struct list *list, size_t size)
{
    void *at = room_take(size);

    if (!at)
        cannot(list, strerror(errno));
    return at;
}

static bool read_text(struct list *list, int fd)
{
    ssize_t got = 1;

    while (got != 0 && list->size <= LIST_SIZE_MAX) {
        got = read(fd, list->text + list->size, LIST_SIZE_MAX + 1 - list->size);
        if (got < 0 && errno != EINTR)
            return cannot(list, strerror(errno));
        list->size += got > 0 ? (size_t)got : 0;
    }
    return list->size <= LIST_SIZE_MAX ||
           cannot(list, "it is larger than 8 MiB");
}

static bool read_list(struct list *list)
{
    int fd = open(inputs_path(list->path), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool done;

    if (fd < 0)
        return cannot(list, strerror(errno));
    list->text = take(list, LIST_SIZE_MAX + 1);
    done = list->text && read_text(list, fd);
    close(fd);
    return done;
}

/* Terminates the paths, and puts them into out unless that is NULL. */
static size_t split(struct list *list, char **out)
{
    char *end = list->text + list->size, *next;
    size_t count = 0;

    if (!memchr(list->text, 0, list->size))
        for (char *at = list->text; (at = memchr(at, '\n', (size_t)(end - at)));
             at++)
            *at = 0;
    for (char *at = list->text; at < end; at = next) {
        next = at + strlen(at) + 1;
        if (*at && out)
            out[count] = at;
        count += *at != 0;
    }
    return count;
}

/* The paths, with room for so many others before them. */
static bool take_paths(struct run *run, size_t before, char ***out)
{
    struct list list = { .run = run, .path = run->options->files_from };

    if (!read_list(&list))
        return false;
    list.count = split(&list, NULL);
    if (list.count == 0)
        return cannot(&list, "it has no path");
    *out = take(&list, (before + list.count) * sizeof(**out));
    if (!*out)
        return false;
    run->listed = *out + before;
    run->listed_count = split(&list, run->listed);
    return true;
}

bool files_from_operands(struct run *run)
{
    char **paths;

    if (!run->options->files_from)
        return true;
    if (!take_paths(run, run->operand_count, &paths))
        return false;
    memcpy(paths, run->operand, run->operand_count * sizeof(*paths));
    run->operand = paths;
    run->operand_count += run->listed_count;
    return true;
}

/* What a command without a list almost always gets: one file, in front. */
static bool is_sorted(const struct run *run,
                      bool (*is_file)(const struct run *run, size_t index))
{
    for (size_t i = 0; i < run->operand_count; i++)
        if (is_file(run, i) != (i == 0))
            return false;
    return !run->options->files_from;
}

bool files_from_sort(struct run *run,
                     bool (*is_file)(const struct run *run, size_t index))
{
    struct list none = { .run = run, .path = "" };
    size_t count = run->operand_count, words = 0, files = 0;
    char **sorted;

    if (is_sorted(run, is_file))
        return true;
    /* The words, then the files; operand[0] before them. */
    if (run->options->files_from && !take_paths(run, count + 1, &sorted))
        return false;
    if (!run->options->files_from) {
        sorted = take(&none, (count + 1) * sizeof(*sorted));
        if (!sorted)
            return false;
        run->listed = sorted + count + 1;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_file(run, i))
            sorted[1 + words++] = run->operand[i];
    for (size_t i = 0; i < count; i++)
        if (is_file(run, i))
            sorted[1 + words + files++] = run->operand[i];
    if (files + run->listed_count == 0) {
        run->operand_count = 0;
        args_missing(run);
        return false;
    }
    sorted[0] = sorted[1 + words];
    first = sorted[0];
    run->listed = sorted + words + 2;
    run->listed_count += files - 1;
    run->operand = sorted;
    run->operand_count = 1 + words;
    return true;
}

static bool is_first(const struct run *run, size_t index)
{
    return index == 0 && !run->options->files_from;
}

bool files_from_first(struct run *run)
{
    return files_from_sort(run, is_first);
}

bool files_from_several(const struct run *run)
{
    return run->options->files_from || run->listed_count > 0;
}

void files_from_heading(struct run *run)
{
    if (!files_from_several(run) || run->options->json)
        return;
    out_text(&run->out, run->operand[0] == first ? "" : "\n");
    out_escaped(&run->out, str_of(run->operand[0]), "");
    out_text(&run->out, "\n");
}
