/* SPDX-License-Identifier: MIT
 *
 * report.c - errors, remarks and the exit code
 */
#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/budget.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"

/* A name from the command line or a folder, escaped for a terminal. */
struct shown_name {
    char text[512];
};

static struct shown_name shown(const char *name)
{
    struct shown_name out = { "" };
    size_t size = strlen(name), filled = 0;

    while (size > 0 && filled < sizeof(out.text) - 16) {
        size_t clean = mf_text_clean(name, size);
        size_t room = sizeof(out.text) - 16 - filled;

        clean = clean < room ? clean : room;
        memcpy(out.text + filled, name, clean);
        if (clean == 0) {
            clean = mf_text_escape(name, size, out.text + filled);
            filled += strlen(out.text + filled);
        } else {
            filled += clean;
        }
        name += clean;
        size -= clean;
    }
    out.text[filled] = 0;
    return out;
}

void report_code(struct run *run, int code)
{
    if (run->trial && code == EXIT_MEMORY)
        _exit(code); /* that is the answer */
    if (code > run->code)
        run->code = code;
}

/* ---- errors ---- */

static void text_or_null(struct run *run, const char *key, const char *text)
{
    mf_json_key(&run->json, key);
    if (text && *text)
        mf_json_string(&run->json, text, strlen(text));
    else
        mf_json_null(&run->json);
}

struct failure {
    const char *status, *file, *message;
    uint64_t offset;
    const char *rule, *advice; /* "" or NULL: none */
    uint64_t memory;           /* the least limit that is enough; or 0 */
};

/* What to do about an error: "" if nothing is known. */
struct advised {
    char text[128];
    uint64_t memory; /* see struct failure */
};

/* error: NULL if there is no env. */
static struct advised advise(struct run *run, const struct mf_error *error)
{
    const char *text = error ? advice_for(run, error) : "raise --max-memory";
    bool memory = !error || error->status == MF_ERR_LIMIT ||
                  error->status == MF_ERR_MEMORY;
    struct advised out = { .memory = memory ? budget_least(run, error) : 0 };

    if (out.memory > 0)
        snprintf(out.text, sizeof(out.text), "raise --max-memory to %s",
                 budget_text(out.memory).at);
    else if (text)
        snprintf(out.text, sizeof(out.text), "%s", text);
    return out;
}

/* The member "error" of an object that is open. */
static void error_json(struct run *run, int code, struct failure failure)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "error");
    mf_json_begin(json, '{');
    json_number(run, "code", (uint64_t)code);
    json_text(run, "status", failure.status);
    json_text(run, "message", failure.message);
    text_or_null(run, "file", failure.file);
    mf_json_key(json, "offset");
    if (failure.offset == MF_NO_OFFSET)
        mf_json_null(json);
    else
        mf_json_u64(json, failure.offset);
    text_or_null(run, "rule", failure.rule);
    text_or_null(run, "advice", failure.advice);
    mf_json_key(json, "memory_needed");
    if (failure.memory > 0)
        mf_json_u64(json, failure.memory);
    else
        mf_json_null(json);
    if (run->options->resume)
        json_bool(run, "resumable", mf_env_resumable(run->env));
    mf_json_end(json, '}');
}

/* The same wherever the document is; as a document if none has begun. */
static void error_anywhere(struct run *run, int code, struct failure failure)
{
    enum answering answering = run->answering;

    failure.offset = MF_NO_OFFSET;
    if (!run->options->json)
        return;
    if (answering == ANSWER_NONE)
        answer_begin(run);
    else if (answering == ANSWER_FILES)
        answer_file_begin(run, failure.file ? failure.file : "");
    error_json(run, code, failure);
    if (answering == ANSWER_NONE)
        answer_end(run);
    else if (answering == ANSWER_FILES)
        answer_file_end(run);
}

/* An error that is not about a file. */
static void report_alone(struct run *run, int code, const char *status,
                         const char *text, struct advised advised)
{
    report_code(run, code);
    say_error(run, "%s%s%s", shown(text).text, *advised.text ? "; " : "",
              advised.text);
    error_anywhere(run, code,
                   (struct failure){ .status = status,
                                     .message = shown(text).text,
                                     .advice = advised.text,
                                     .memory = advised.memory });
}

__attribute__((format(printf, 4, 0))) static void
report_words(struct run *run, int code, const char *status, const char *format,
             va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof(text), format, arguments);
    report_alone(run, code, status, text, (struct advised){ "", 0 });
}

void report_usage(struct run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report_words(run, EXIT_USAGE, "argument", format, arguments);
    va_end(arguments);
}

void report_absent(struct run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report_words(run, EXIT_NO, "absent", format, arguments);
    va_end(arguments);
}

void report_no_env(struct run *run)
{
    uint64_t limit = run->options->max_memory;
    char text[64];

    snprintf(text, sizeof(text), "%" PRIu64 " byte%s too few to start with",
             limit, limit == 1 ? " is" : "s are");
    if (limit > 0)
        report_alone(run, EXIT_MEMORY, mf_status_name(MF_ERR_LIMIT), text,
                     advise(run, NULL));
    else
        report_alone(run, EXIT_MEMORY, mf_status_name(MF_ERR_MEMORY),
                     "the system has no memory to start with",
                     (struct advised){ "", 0 });
}

void report_no_room(struct run *run)
{
    report_alone(run, EXIT_MEMORY, mf_status_name(MF_ERR_MEMORY),
                 "the system has no memory left", (struct advised){ "", 0 });
}

void report_no(struct run *run, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    report_code(run, EXIT_NO);
    say_error(run, "%s", shown(text).text);
}

void report_remark(struct run *run, const char *path, const char *text)
{
    if (!run->options->json)
        out_flush(&run->out);
    say_warning(run, "%s: %s", shown(path).text, shown(text).text);
}

void report_note(struct run *run, const char *path, const char *text)
{
    if (!run->options->json)
        out_flush(&run->out);
    say(run, "modelfile: %s: %s\n", shown(path).text, shown(text).text);
}

/* One file may be opened several times in a run. */
void report_pending_edit(void *user, const struct mf_pending_edit *edit)
{
    struct run *run = user;
    char text[sizeof(run->last_remark)];

    if (edit->use == MF_PENDING_READ_THROUGH)
        snprintf(text, sizeof(text),
                 "an edit is not finished: the file is read as if it were, "
                 "through '%.250s'; 'modelfile meta recover' finishes it",
                 edit->journal);
    else if (edit->use == MF_PENDING_FINISHED)
        snprintf(text, sizeof(text),
                 "an edit that was cut short was finished first");
    else
        snprintf(text, sizeof(text), "'%.250s' %s and is ignored",
                 edit->journal, edit->reason);
    if (strcmp(run->last_remark, text) == 0)
        return;
    memcpy(run->last_remark, text, sizeof(text));
    progress_clear(run);
    report_remark(run, edit->path, text);
}

/* Limits other than the heap's are about what a file may have. */
static int code_of(const struct mf_error *error)
{
    if (advice_is_absent(error))
        return EXIT_NO;
    if (error->status == MF_ERR_OUTPUT)
        return EXIT_OUTPUT;
    if (error->status == MF_ERR_STOPPED)
        return EXIT_SIGNAL + progress_signal();
    if (error->status == MF_ERR_MEMORY || budget_is_limit(error))
        return EXIT_MEMORY;
    return advice_is_choice(error) ? EXIT_USAGE : EXIT_INPUT;
}

static const char *instead_of(const struct run *run,
                              const struct mf_error *error)
{
    return run->instead ? run->instead(error) : NULL;
}

/* The library's message, with what the process that talks to the network knows
 * more about it. */
static struct shown_name message_of(const struct run *run,
                                    const struct mf_error *error)
{
    const char *why = run->why ? run->why(error) : "";
    struct shown_name out;

    if (instead_of(run, error))
        return shown(instead_of(run, error));

    snprintf(out.text, sizeof(out.text), "%.320s%s%.180s%s", error->message,
             *why ? " (" : "", *why ? shown(why).text : "", *why ? ")" : "");
    return out;
}

void report_failure(struct run *run, const char *file)
{
    const struct mf_error *error = mf_env_error(run->env);
    struct shown_name message = message_of(run, error);
    uint64_t offset = instead_of(run, error) ? MF_NO_OFFSET : error->offset;
    struct advised advised;
    int code = code_of(error);
    char place[32] = "";

    if (error->file == MF_ERROR_IN_IMATRIX)
        file = run->imatrix;
    if (error->file == MF_ERROR_IN_ADAPTER)
        file = run->adapter;
    report_code(run, code);
    advised = advise(run, error);
    if (offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), "at 0x%" PRIx64 ": ", offset);
    /* What was printed before comes first on a terminal, too. */
    if (!run->options->json)
        out_flush(&run->out);
    say_error(run, "%s%s%s%s%s%s%s", file ? shown(file).text : "",
              file ? ": " : "", place, message.text, *advised.text ? "; " : "",
              advised.text, report_kept(run));
    if (run->options->json)
        error_json(run, code,
                   (struct failure){ mf_status_name(error->status), file,
                                     message.text, offset, error->rule,
                                     advised.text, advised.memory });
}

void report_memory(struct run *run, const char *file)
{
    const struct mf_error *error = mf_env_error(run->env);
    struct advised advised;
    int code = code_of(error);

    report_code(run, code);
    advised = advise(run, error);
    say_error(run, "%s: %s%s%s", shown(file).text, error->message,
              *advised.text ? "; " : "", advised.text);
    error_anywhere(run, code,
                   (struct failure){ .status = mf_status_name(error->status),
                                     .file = file,
                                     .message = error->message,
                                     .rule = error->rule,
                                     .advice = advised.text,
                                     .memory = advised.memory });
}

void report_input(struct run *run, const char *file, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    report_code(run, EXIT_INPUT);
    say_error(run, "%s: %s", shown(file).text, shown(text).text);
    error_anywhere(
        run, EXIT_INPUT,
        (struct failure){ .status = "io", .file = file, .message = text });
}

void report_output(struct run *run, const char *file, const char *why)
{
    report_code(run, EXIT_OUTPUT);
    if (!run->options->json)
        out_flush(&run->out);
    say_error(run, "%s: %s", shown(file).text, why);
    if (run->options->json)
        error_json(run, EXIT_OUTPUT,
                   (struct failure){ .status = mf_status_name(MF_ERR_OUTPUT),
                                     .file = file,
                                     .message = why,
                                     .offset = MF_NO_OFFSET });
}

void report_output_alone(struct run *run, const char *file, const char *why)
{
    report_code(run, EXIT_OUTPUT);
    say_error(run, "%s: %s", shown(file).text, why);
    error_anywhere(run, EXIT_OUTPUT,
                   (struct failure){ .status = mf_status_name(MF_ERR_OUTPUT),
                                     .file = file,
                                     .message = why });
}

void report_late(struct run *run, int code, const char *file, const char *why)
{
    report_code(run, code);
    say_error(run, "%s: %s", shown(file).text, shown(why).text);
}

void report_unwritten(struct run *run, const char *file, const char *why)
{
    report_late(run, EXIT_OUTPUT, file, why);
}

void report_done(struct run *run, const char *path, const char *what)
{
    if (run->options->dry_run)
        return;
    run->done_to = path;
    run->done = what;
}

void report_no_null(struct run *run)
{
    report_code(run, EXIT_OUTPUT);
    say_error(run,
              "standard input, output or error is closed, and "
              "/dev/null cannot be opened in its place: %s",
              strerror(errno));
}

void report_stopped(struct run *run)
{
    report_code(run, EXIT_SIGNAL + progress_signal());
    say_error(run, "stopped before all was printed");
}

void report_lost(struct run *run)
{
    report_code(run, EXIT_OUTPUT);
    say_error(run, "cannot write to standard output: %s%s%s%s%s",
              strerror(run->out.error), run->done ? "; '" : "",
              run->done ? shown(run->done_to).text : "", run->done ? "' " : "",
              run->done ? run->done : "");
}
