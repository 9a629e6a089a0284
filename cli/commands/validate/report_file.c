/* SPDX-License-Identifier: MIT
 *
 * report_file.c - --sarif, --junit and --codequality: reports in files, in the
 * same run
 *
 * A report is kept in memory until it is complete, and then takes its name at
 * once.  It replaces an empty file or an earlier report, and nothing else: so
 * it can be written again and again, and never over a model or what belongs to
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/validate/validate.h"
#include "cli/output.h"
#include "cli/report.h"

struct report_file {
    struct run *run;
    const struct report_form *form;
    const char *path;
    struct out *out; /* on the env's heap */
    struct mf_json_out json;
    struct buffer text;
    bool failed; /* out of memory, or in the way of an input: reported */
};

/* With its buffer. */
#define OUT_SIZE (sizeof(struct out) + OUT_BUFFER)

#define FILES 3
static struct report_file files[FILES];
static size_t file_count;

/* ---- where it may be written ---- */

static bool same_file(const char *path, const struct stat *file)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_dev == file->st_dev &&
           status.st_ino == file->st_ino;
}

bool report_file_is(const char *path)
{
    struct stat status;

    for (size_t i = 0; path && i < file_count; i++)
        if (stat(files[i].path, &status) == 0 && S_ISREG(status.st_mode) &&
            same_file(path, &status))
            return true;
    return false;
}

static bool begins(const char *text, ssize_t size, const char *with)
{
    size_t with_size = strlen(with);

    return size >= (ssize_t)with_size && memcmp(text, with, with_size) == 0;
}

/* Whether the file begins as a report does, or is an empty one. */
static bool is_report(const char *path, const struct report_form *form)
{
    char text[128] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = file >= 0 ? read(file, text, sizeof(text)) : -1;

    if (file >= 0)
        close(file);
    return begins(text, got, form->beginning) ||
           (form->empty && got == (ssize_t)strlen(form->empty) &&
            begins(text, got, form->empty));
}

/* NULL, or why the file cannot be replaced. */
static const char *refusal(const char *path, const struct report_form *form)
{
    struct stat status, out;

    if (stat(path, &status) != 0)
        return NULL; /* writing it finds out whether it can be made */
    if (S_ISDIR(status.st_mode))
        return "is a directory: add a file name";
    if (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) &&
        out.st_dev == status.st_dev && out.st_ino == status.st_ino)
        return "standard output goes to this file as well";
    if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_report(path, form))
        return "exists and is not an earlier report of this kind; remove it "
               "or choose another name";
    return NULL;
}

static const char *input_that_is(const struct run *run, const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    for (size_t i = 0; i < run->operand_count; i++)
        if (same_file(run->operand[i], &status))
            return run->operand[i];
    return NULL;
}

/* Whether a report of another option goes there, too. */
static bool is_named(const char *path)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0)
            return true;
    return report_file_is(path);
}

bool report_file_add(struct run *run, const char *option, const char *path,
                     const struct report_form *form)
{
    const char *why;

    if (output_is_stdout(path) || !*path) {
        report_usage(run,
                     "'%s' needs the name of a file: '--format' prints the "
                     "report to standard output",
                     option);
        return false;
    }
    if (input_that_is(run, path) || is_named(path)) {
        report_usage(run,
                     "'%s' would replace '%.200s', another file of the "
                     "command",
                     option, path);
        return false;
    }
    why = refusal(path, form);
    if (why) {
        report_output_alone(run, path, why);
        return false;
    }
    files[file_count++] =
        (struct report_file){ .run = run, .form = form, .path = path };
    return true;
}

/* ---- writing ---- */

static void keep(void *user, const char *at, size_t size)
{
    struct report_file *file = user;

    if (!file->failed && !buffer_add(file->run, &file->text, at, size)) {
        report_failure(file->run, file->path);
        file->failed = true;
    }
}

static void write_json(void *user, const char *at, size_t size)
{
    out_bytes(user, at, size);
}

/* Makes run->json lead to the file for one call of its form. */
static struct mf_json_out enter(struct report_file *file)
{
    struct mf_json_out answer = file->run->json;

    file->run->json = file->json;
    return answer;
}

static void leave(struct report_file *file, struct mf_json_out answer)
{
    file->json = file->run->json;
    file->run->json = answer;
}

void report_files_begin(struct run *run, const char *reader)
{
    for (size_t i = 0; i < file_count; i++) {
        struct report_file *file = &files[i];
        struct mf_json_out answer;

        file->out = mf_env_resize(run->env, NULL, 0, OUT_SIZE);
        if (!file->out) {
            report_failure(run, file->path);
            file->failed = true;
            continue;
        }
        out_init(file->out, -1, (char *)(file->out + 1));
        file->out->sink = keep;
        file->out->user = file;
        file->json =
            (struct mf_json_out){ .write = write_json, .user = file->out };
        answer = enter(file);
        file->failed = !file->form->begin(run, file->out, reader);
        leave(file, answer);
    }
}

/* An empty file that is replaced can turn out to be one of a folder. */
static bool is_input(const struct report_file *file,
                     const struct verdict *verdict)
{
    struct stat status;

    return stat(file->path, &status) == 0 && S_ISREG(status.st_mode) &&
           same_file(verdict->path, &status);
}

void report_files_show(struct run *run, const struct verdict *verdict)
{
    for (size_t i = 0; i < file_count; i++) {
        struct report_file *file = &files[i];
        struct mf_json_out answer;

        if (file->failed)
            continue;
        if (is_input(file, verdict)) {
            report_unwritten(run, file->path,
                             "cannot be written: it is one of the files that "
                             "are checked");
            file->failed = true;
            continue;
        }
        answer = enter(file);
        file->form->file(run, file->out, verdict);
        leave(file, answer);
    }
}

/* Others have had time to put something else there. */
static void write_file(struct run *run, struct report_file *file)
{
    const char *why = refusal(file->path, file->form);

    if (why)
        report_unwritten(run, file->path, why);
    else if (mf_file_write(run->env, file->path, true, file->text.at,
                           file->text.size) != MF_OK)
        report_unwritten(run, file->path, mf_env_error(run->env)->message);
}

void report_files_end(struct run *run, const struct totals *totals)
{
    for (size_t i = 0; i < file_count; i++) {
        struct report_file *file = &files[i];
        struct mf_json_out answer;

        if (!file->failed) {
            answer = enter(file);
            file->form->end(run, file->out, totals);
            leave(file, answer);
            out_flush(file->out);
        }
        if (!file->failed && run->code < EXIT_SIGNAL)
            write_file(run, file);
        if (file->out)
            mf_env_resize(run->env, file->out, OUT_SIZE, 0);
        buffer_release(run, &file->text);
    }
    file_count = 0;
}
