/* SPDX-License-Identifier: MIT
 *
 * verify.c - bench --verify DIR: whether a record is as it was written
 *
 * SHA256SUMS has a digest of every file, and of itself in its last line.  Which
 * line of a file was changed, the chains of witness/ tell for themselves and
 * for the tables that they repeat.  Nothing is opened through a link, and no
 * name of SHA256SUMS is used that a record cannot have.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/json.h"
#include "cli/measure/bench/grid.h"
#include "cli/report.h"
#include "cli/say.h"

/* Of what is kept in memory: SHA256SUMS, a file whose line is looked for. */
#define TEXT_MOST ((size_t)64 * 1024 * 1024)

struct text {
    char *at; /* terminated */
    size_t size;
};

struct verify {
    struct run *run;
    const char *path;
    int fd;
    struct text sums;
    size_t files, problems;
};

/* ---- what is found ---- */

/* line: from 1; 0: of no line in particular. */
static void note(struct verify *verify, const char *name, size_t line,
                 const char *problem)
{
    struct run *run = verify->run;
    char number[32] = "";

    verify->problems++;
    report_code(run, EXIT_NO);
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(name));
        if (line > 0)
            json_number(run, "line", line);
        json_text(run, "problem", problem);
        mf_json_end(&run->json, '}');
        return;
    }
    if (line > 0)
        snprintf(number, sizeof(number), "line %zu ", line);
    out_escaped(&run->out, str_of(verify->path), "");
    out_text(&run->out, "/");
    out_escaped(&run->out, str_of(name), "");
    out_format(&run->out, ": %s%s\n", number, problem);
}

/* ---- files ---- */

static ssize_t read_some(int fd, void *bytes, size_t size)
{
    ssize_t got;

    do
        got = read(fd, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* The whole file; at is NULL if it cannot be read or is too large. */
static struct text load(struct verify *verify, const char *name)
{
    struct text text = { NULL, 0 };
    int fd = record_open_file(verify->fd, name);
    struct stat status;
    size_t size, filled = 0;
    ssize_t got = 1;

    if (fd < 0)
        return text;
    size = fstat(fd, &status) == 0 && status.st_size >= 0 &&
                   (uint64_t)status.st_size < TEXT_MOST
               ? (size_t)status.st_size
               : TEXT_MOST;
    if (size < TEXT_MOST)
        text.at = mf_env_resize(verify->run->env, NULL, 0, size + 1);
    while (text.at && filled < size && got > 0) {
        got = read_some(fd, text.at + filled, size - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (text.at) {
        memset(text.at + filled, 0, size + 1 - filled); /* it became shorter */
        text.size = size;
    }
    return text;
}

static void release(struct verify *verify, struct text *text)
{
    if (text->at)
        mf_env_resize(verify->run->env, text->at, text->size + 1, 0);
    text->at = NULL;
}

/* ---- lines ---- */

/* Takes the next line off a text; false at its end. */
static bool next_line(struct text *text, struct mf_str *line)
{
    const char *end = memchr(text->at, '\n', text->size);
    size_t size = end ? (size_t)(end - text->at) : text->size;

    if (text->size == 0)
        return false;
    *line = (struct mf_str){ text->at, size };
    size += end ? 1 : 0;
    text->at += size;
    text->size -= size;
    return true;
}

static bool starts_with(struct mf_str line, const char *text)
{
    return line.size >= strlen(text) &&
           memcmp(line.at, text, strlen(text)) == 0;
}

/* The first line of a chain whose digest is not in the line after it; 0 if the
 * chain is whole. */
static size_t broken_link(struct text chain)
{
    static const char key[] = "{\"previous\":\"";
    struct sha256_text previous;
    struct mf_str line;
    size_t number = 0;

    memset(previous.at, '0', 64);
    while (next_line(&chain, &line)) {
        number++;
        if (!starts_with(line, key) || line.size < sizeof(key) - 1 + 64)
            return number;
        if (memcmp(line.at + sizeof(key) - 1, previous.at, 64) != 0)
            return number > 1 ? number - 1 : 1;
        previous = sha256_of(line.at, line.size);
    }
    return 0;
}

static size_t count_lines(struct text text)
{
    struct mf_str line;
    size_t count = 0;

    while (next_line(&text, &line))
        count++;
    return count;
}

/* "row":"0,850,780,128" of a chain is a line of its table. */
static bool same_row(struct mf_str link, struct mf_str row)
{
    static const char key[] = "\"row\":\"";
    const char *at = link.at, *end = link.at + link.size;

    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) > sizeof(key) - 1 + row.size &&
            memcmp(at, key, sizeof(key) - 1) == 0)
            return memcmp(at + sizeof(key) - 1, row.at, row.size) == 0 &&
                   at[sizeof(key) - 1 + row.size] == '"';
        at++;
    }
    return false;
}

/* The first line of a table that differs from its copy in the chain; 0 if all
 * are equal.  Both have a heading. */
static size_t changed_row(struct text table, struct text chain)
{
    static const char heading[] = RECORD_LATENCY;
    struct mf_str row, link;
    size_t number = 0;

    while (next_line(&table, &row)) {
        number++;
        if (!next_line(&chain, &link))
            return number;
        if (number == 1 ? row.size != sizeof(heading) - 1 ||
                              memcmp(row.at, heading, row.size) != 0
                        : !same_row(link, row))
            return number;
    }
    return 0;
}

/* The changed line of a file of a setting; 0 if it is not known. */
static size_t find_line(struct verify *verify, const char *name)
{
    const char *base = strchr(name, '/') ? strchr(name, '/') + 1 : name;
    bool chained = strncmp(name, "witness/", 8) == 0;
    char other[RECORD_NAME + 16];
    struct text text, chain = { NULL, 0 };
    size_t line = 0;

    if (!chained && strncmp(name, "csv/", 4) != 0 &&
        strcmp(name, "baseline.csv") != 0)
        return 0;
    text = load(verify, name);
    if (text.at && chained) {
        line = broken_link(text);
        line = line > 0 ? line : count_lines(text);
    } else if (text.at) {
        snprintf(other, sizeof(other), "witness/%.*s.jsonl",
                 (int)strcspn(base, "."), base);
        chain = load(verify, other);
        if (chain.at && broken_link(chain) == 0)
            line = changed_row(text, chain);
    }
    release(verify, &text);
    release(verify, &chain);
    return line;
}

/* ---- SHA256SUMS ---- */

/* A name that a record can have: a file, or one in a folder of a record. */
static bool is_name(const char *name)
{
    const char *slash = strchr(name, '/');
    const char *folder;

    if (strlen(name) >= RECORD_NAME || !*name || name[0] == '.')
        return false;
    if (!slash)
        return true;
    if (!slash[1] || slash[1] == '.' || strchr(slash + 1, '/'))
        return false;
    for (size_t i = 0; (folder = record_subfolder(i)) != NULL; i++)
        if (strlen(folder) == (size_t)(slash - name) &&
            memcmp(folder, name, strlen(folder)) == 0)
            return true;
    return false;
}

static void check_file(struct verify *verify, const char *name,
                       const char *digest)
{
    struct sha256_text found;
    int fd = record_open_file(verify->fd, name);

    verify->files++;
    if (fd < 0) {
        note(verify, name, 0,
             errno == ENOENT ? "is missing" : "cannot be read as a file");
        return;
    }
    if (!record_digest(fd, &found))
        note(verify, name, 0, "cannot be read");
    else if (memcmp(found.at, digest, 64) != 0)
        note(verify, name, find_line(verify, name), "was changed");
    close(fd);
}

/* "DIGEST  NAME" */
static void check_line(struct verify *verify, struct mf_str line, size_t number)
{
    char name[RECORD_NAME] = "";

    if (line.size > 66 && line.size - 66 < sizeof(name) &&
        memcmp(line.at + 64, "  ", 2) == 0)
        memcpy(name, line.at + 66, line.size - 66);
    if (strlen(name) + 66 == line.size && is_name(name))
        check_file(verify, name, line.at);
    else
        note(verify, RECORD_SUMS, number, "is not a digest and a file's name");
}

static void check_sums(struct verify *verify)
{
    struct text rest = verify->sums;
    struct sha256_text seal = { "" };
    struct mf_str line;
    size_t number = 0;
    bool sealed = false;

    while (next_line(&rest, &line)) {
        number++;
        if (sealed) {
            note(verify, RECORD_SUMS, number, "is after the seal");
        } else if (starts_with(line, RECORD_SEAL)) {
            seal =
                sha256_of(verify->sums.at, (size_t)(line.at - verify->sums.at));
            sealed = true;
            if (line.size != strlen(RECORD_SEAL) + 64 ||
                memcmp(line.at + strlen(RECORD_SEAL), seal.at, 64) != 0 ||
                line.at[line.size] != '\n')
                note(verify, RECORD_SUMS, number,
                     "is not the seal of the lines before it");
        } else {
            check_line(verify, line, number);
        }
    }
    if (!sealed)
        note(verify, RECORD_SUMS, 0,
             "has no seal: the run did not end, or lines are missing");
}

/* ---- what was added ---- */

static bool is_listed(const struct text *sums, const char *name)
{
    struct text rest = *sums;
    struct mf_str line;

    while (next_line(&rest, &line))
        if (line.size == 66 + strlen(name) &&
            memcmp(line.at + 66, name, strlen(name)) == 0)
            return true;
    return false;
}

static bool is_subfolder(const char *name)
{
    const char *folder;

    for (size_t i = 0; (folder = record_subfolder(i)) != NULL; i++)
        if (strcmp(folder, name) == 0)
            return true;
    return false;
}

static void look_for_more(struct verify *verify, const char *folder)
{
    int fd = record_open_below(verify->fd, *folder ? folder : ".");
    struct mf_entries entries;
    const char *entry;
    char name[RECORD_NAME + 300];

    if (fd < 0) {
        if (errno != ENOENT)
            note(verify, folder, 0, "cannot be read as a folder");
        return;
    }
    mf_entries_begin(&entries, fd);
    while ((entry = mf_entries_next(&entries)) != NULL) {
        if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
            continue;
        if (!*folder && is_subfolder(entry))
            continue;
        snprintf(name, sizeof(name), "%s%s%s", folder, *folder ? "/" : "",
                 entry);
        if (strcmp(name, RECORD_SUMS) != 0 && !is_listed(&verify->sums, name))
            note(verify, name, 0, "was added");
    }
    mf_entries_end(&entries);
}

/* ---- all of it ---- */

static void finish(struct verify *verify)
{
    struct run *run = verify->run;

    if (run->options->json) {
        mf_json_end(&run->json, ']');
        json_number(run, "file_count", verify->files);
        json_bool(run, "same", verify->problems == 0);
        return;
    }
    out_escaped(&run->out, str_of(verify->path), "");
    if (verify->problems == 0)
        out_format(&run->out, ": all %zu files are as they were written\n",
                   verify->files);
    else
        out_format(&run->out, ": %zu problem%s in %zu files\n",
                   verify->problems, verify->problems == 1 ? "" : "s",
                   verify->files);
}

static void check_folder(struct verify *verify)
{
    const char *folder;

    verify->sums = load(verify, RECORD_SUMS);
    if (!verify->sums.at) {
        note(verify, RECORD_SUMS, 0, "is missing, or not of a record");
        return;
    }
    check_sums(verify);
    look_for_more(verify, "");
    for (size_t i = 0; (folder = record_subfolder(i)) != NULL; i++)
        look_for_more(verify, folder);
    release(verify, &verify->sums);
}

void verify_record(struct run *run, const char *path)
{
    struct verify verify = { .run = run, .path = path };

    verify.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (verify.fd < 0) {
        report_input(run, path, "cannot read the record: %s", strerror(errno));
        return;
    }
    answer_begin(run);
    if (run->options->json) {
        json_str(run, "record", str_of(path));
        mf_json_key(&run->json, "problems");
        mf_json_begin(&run->json, '[');
    }
    check_folder(&verify);
    finish(&verify);
    answer_end(run);
    close(verify.fd);
}
