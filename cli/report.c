/* SPDX-License-Identifier: MIT
 *
 * report.c - what goes beside the data: errors, and what the run has cost
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/malloc_count.h"

/* Standard error is not buffered: one write per line, so that lines of several
 * programs do not mix. */
static void say(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(STDERR_FILENO, text, size);

        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            return; /* nobody is left to be told */
        if (wrote > 0) {
            text += wrote;
            size -= (size_t)wrote;
        }
    }
}

static void say_format(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say_format(struct run *run, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    int size;

    progress_clear(run);
    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size > 0)
        say(text,
            (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
}

/* A name from the command line or a folder, made fit for a terminal. */
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

void report_worse(struct run *run, int code)
{
    if (code > run->code)
        run->code = code;
}

/* ---- errors ---- */

/* The member "error" of an object that is open. */
static void error_json(struct run *run, int code, const char *status,
                       const char *file, uint64_t offset, const char *message)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "error");
    mf_json_begin(json, '{');
    json_number(run, "code", (uint64_t)code);
    json_text(run, "status", status);
    json_text(run, "message", message);
    mf_json_key(json, "file");
    if (file)
        mf_json_string(json, file, strlen(file));
    else
        mf_json_null(json);
    mf_json_key(json, "offset");
    if (offset == MF_NO_OFFSET)
        mf_json_null(json);
    else
        mf_json_u64(json, offset);
    mf_json_end(json, '}');
}

/* The same as an object of its own, unless an answer has begun. */
static void error_object(struct run *run, int code, const char *status,
                         const char *file, const char *message)
{
    if (!run->options.json)
        return;
    if (run->answering) {
        error_json(run, code, status, file, MF_NO_OFFSET, message);
        return;
    }
    report_begin(run);
    error_json(run, code, status, file, MF_NO_OFFSET, message);
    report_end(run);
    out_line(&run->out, "");
}

/* Not of a model. */
static void report_alone(struct run *run, int code, const char *status,
                         const char *text)
{
    report_worse(run, code);
    say_format(run, "modelfile: %s\n", shown(text).text);
    error_object(run, code, status, NULL, shown(text).text);
}

void report_usage(struct run *run, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    report_alone(run, EXIT_USAGE, "argument", text);
}

void report_start(struct run *run)
{
    if (run->options.max_memory > 0)
        report_alone(run, EXIT_MEMORY, mf_status_name(MF_ERR_LIMIT),
                     "'--max-memory' leaves no memory to start with");
    else
        report_alone(run, EXIT_MEMORY, mf_status_name(MF_ERR_MEMORY),
                     "the system has no memory to start with");
}

void report_no(struct run *run, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    report_worse(run, EXIT_NO);
    say_format(run, "modelfile: %s\n", shown(text).text);
}

void report_remark(struct run *run, const char *path, const char *text)
{
    if (!run->options.json)
        out_flush(&run->out);
    say_format(run, "modelfile: %s: %s\n", shown(path).text, text);
}

/* One file may be opened several times in a run. */
void report_pending_edit(void *user, const struct mf_pending_edit *edit)
{
    struct run *run = user;
    char text[sizeof(run->remarked)];

    if (edit->use == MF_PENDING_READ_THROUGH)
        snprintf(text, sizeof(text),
                 "an edit is not finished: the file is read as if it were, "
                 "through '%.250s'; 'modelfile meta recover' finishes it",
                 edit->journal);
    else if (edit->use == MF_PENDING_FINISHED)
        snprintf(text, sizeof(text),
                 "an edit that was cut short was finished first");
    else
        snprintf(text, sizeof(text),
                 "'%.250s' %s and is ignored: the file is read as it is",
                 edit->journal, edit->reason);
    if (strcmp(run->remarked, text) == 0)
        return;
    memcpy(run->remarked, text, sizeof(text));
    progress_clear(run);
    report_remark(run, edit->path, shown(text).text);
}

static int code_of(const struct run *run, const struct mf_error *error)
{
    if (error->status == MF_ERR_OUTPUT)
        return EXIT_OUTPUT;
    if (error->status == MF_ERR_STOPPED)
        return EXIT_SIGNAL + progress_signal();
    if (error->status == MF_ERR_MEMORY)
        return EXIT_MEMORY;
    if (error->status == MF_ERR_LIMIT && run->options.max_memory > 0 &&
        error->offset == MF_NO_OFFSET)
        return EXIT_MEMORY;
    return EXIT_INPUT;
}

void report_failure(struct run *run, const char *file)
{
    const struct mf_error *error = mf_env_error(run->env);
    int code = code_of(run, error);
    char place[32] = "", message[sizeof(error->message) + 64];

    if (error->in_imatrix)
        file = run->options.imatrix;
    report_worse(run, code);
    if (error->offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), "at 0x%" PRIx64 ": ", error->offset);
    /* What was printed before comes first on a terminal, too. */
    if (!run->options.json)
        out_flush(&run->out);
    snprintf(message, sizeof(message), "%s%s", error->message,
             error->exists ? ": choose another name, or --force to replace it"
                           : "");
    say_format(run, "modelfile: %s%s%s%s\n", file ? shown(file).text : "",
               file ? ": " : "", place, message);
    if (run->options.json)
        error_json(run, code, mf_status_name(error->status), file,
                   error->offset, message);
}

void report_memory(struct run *run, const char *file)
{
    const struct mf_error *error = mf_env_error(run->env);
    int code = code_of(run, error);

    report_worse(run, code);
    say_format(run, "modelfile: %s: %s\n", shown(file).text, error->message);
    error_object(run, code, mf_status_name(error->status), file,
                 error->message);
}

void report_input(struct run *run, const char *file, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    report_worse(run, EXIT_INPUT);
    say_format(run, "modelfile: %s: %s\n", shown(file).text, text);
    error_object(run, EXIT_INPUT, "io", file, text);
}

void report_output(struct run *run, const char *file, const char *why)
{
    report_worse(run, EXIT_OUTPUT);
    if (!run->options.json)
        out_flush(&run->out);
    say_format(run, "modelfile: %s: %s\n", shown(file).text, why);
    if (run->options.json)
        error_json(run, EXIT_OUTPUT, mf_status_name(MF_ERR_OUTPUT), file,
                   MF_NO_OFFSET, why);
}

void report_done(struct run *run, const char *path, const char *what)
{
    if (run->options.dry_run)
        return;
    run->done_to = path;
    run->done = what;
}

void report_no_null(struct run *run)
{
    report_worse(run, EXIT_OUTPUT);
    say_format(run,
               "modelfile: standard input, output or error is closed, and "
               "/dev/null cannot be opened in its place: %s\n",
               strerror(errno));
}

void report_stopped(struct run *run)
{
    report_worse(run, EXIT_SIGNAL + progress_signal());
    say_format(run, "modelfile: stopped before all was printed\n");
}

void report_lost(struct run *run)
{
    report_worse(run, EXIT_OUTPUT);
    say_format(run, "modelfile: cannot write to standard output: %s%s%s%s%s\n",
               strerror(run->out.error), run->done ? "; '" : "",
               run->done ? shown(run->done_to).text : "", run->done ? "' " : "",
               run->done ? run->done : "");
}

/* ---- what it has cost ---- */

struct cost {
    uint64_t peak, allocations, resident, read, written;
    double seconds;
};

static struct cost cost_of(const struct run *run)
{
    struct mf_heap_stats library = { 0 };
    struct process_heap process;
    struct mf_io_stats io = { 0 };
    struct timespec now;
    struct rusage usage;
    struct cost cost;

    if (run->env) { /* a wrong command line needs none */
        mf_env_heap(run->env, &library);
        mf_env_io(run->env, &io);
    }
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    cost.peak = library.peak;
    cost.allocations = library.allocations;
    if (process_heap(&process)) {
        cost.peak = process.peak;
        cost.allocations = process.allocations;
    }
    cost.resident = (uint64_t)usage.ru_maxrss * 1024;
    cost.read = io.bytes_read + run->elsewhere.bytes_read;
    cost.written = io.bytes_written + run->elsewhere.bytes_written;
    cost.seconds = (double)(now.tv_sec - run->started.tv_sec) +
                   (double)(now.tv_nsec - run->started.tv_nsec) / 1e9;
    return cost;
}

void report_begin(struct run *run)
{
    if (!run->options.json)
        return;
    mf_json_begin(&run->json, '{');
    json_number(run, "schema", JSON_SCHEMA);
    run->answering = true;
}

static void cost_json(struct run *run)
{
    struct mf_json_out *json = &run->json;
    struct cost cost = cost_of(run);

    mf_json_key(json, "run");
    mf_json_begin(json, '{');
    json_number(run, "peak_heap_bytes", cost.peak);
    json_number(run, "heap_allocations", cost.allocations);
    json_number(run, "peak_rss_bytes", cost.resident);
    json_number(run, "bytes_read", cost.read);
    json_number(run, "bytes_written", cost.written);
    mf_json_key(json, "seconds");
    mf_json_f64(json, cost.seconds);
    mf_json_end(json, '}');
}

void report_end(struct run *run)
{
    if (!run->options.json)
        return;
    run->answering = false;
    cost_json(run);
    mf_json_end(&run->json, '}');
}

static struct number_text time_text(double seconds)
{
    struct number_text text;

    if (seconds < 1)
        snprintf(text.at, sizeof(text.at), "%.1f ms", seconds * 1000);
    else if (seconds >= 100)
        snprintf(text.at, sizeof(text.at), "%.0f s", seconds);
    else
        snprintf(text.at, sizeof(text.at), "%.2f s", seconds);
    return text;
}

/* Parts of the line, the least needed left out first where it would not fit. */
enum { WITHOUT_ALLOCATIONS = 1, WITHOUT_SIZE };

static void close_text(const struct run *run, const struct cost *cost,
                       int without, char *text, size_t size)
{
    char allocations[48] = "", read[80] = "", wrote[48] = "";

    if (without < WITHOUT_ALLOCATIONS)
        snprintf(allocations, sizeof(allocations),
                 " (%" PRIu64 " allocation%s)", cost->allocations,
                 cost->allocations == 1 ? "" : "s");
    if (run->size > 0 && without < WITHOUT_SIZE)
        snprintf(read, sizeof(read), " · read %s of %s",
                 size_text(cost->read).at, size_text(run->size).at);
    else if (run->size > 0 || cost->read > 0)
        snprintf(read, sizeof(read), " · read %s", size_text(cost->read).at);
    if (cost->written > 0)
        snprintf(wrote, sizeof(wrote), " · wrote %s",
                 size_text(cost->written).at);
    snprintf(text, size, "peak heap %s%s%s%s · %s", size_text(cost->peak).at,
             allocations, read, wrote, time_text(cost->seconds).at);
}

static void close_line(struct run *run, const struct cost *cost)
{
    unsigned columns = out_terminal_columns(STDERR_FILENO);
    int without = 0;
    char text[256];

    do
        close_text(run, cost, without, text, sizeof(text));
    while (columns > 0 && out_width(str_of(text)) > columns &&
           ++without <= WITHOUT_SIZE);
    say_format(run, "%s\n", text);
}

static void close_table(struct run *run, const struct cost *cost)
{
    say_format(run,
               "peak heap             %15s bytes\n"
               "heap allocations      %15s\n"
               "peak resident memory  %15s bytes\n"
               "read                  %15s bytes\n"
               "size of the files     %15s bytes\n"
               "written               %15s bytes\n"
               "time                  %15s\n",
               number_text(cost->peak).at, number_text(cost->allocations).at,
               number_text(cost->resident).at, number_text(cost->read).at,
               number_text(run->size).at, number_text(cost->written).at,
               time_text(cost->seconds).at);
}

void report_close(struct run *run)
{
    struct cost cost = cost_of(run);

    progress_clear(run);
    if (run->options.stats)
        close_table(run, &cost);
    else if (!run->options.quiet && !run->options.json)
        close_line(run, &cost);
}

/* ---- json members ---- */

void json_text(struct run *run, const char *key, const char *text)
{
    mf_json_key(&run->json, key);
    mf_json_string(&run->json, text, strlen(text));
}

void json_hex(struct run *run, struct mf_str text)
{
    static const char digits[] = "0123456789abcdef";

    mf_json_open_string(&run->json);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        char pair[2] = { digits[byte >> 4], digits[byte & 15] };

        mf_json_piece(&run->json, pair, 2);
    }
    mf_json_close_string(&run->json, false);
}

/* What JSON cannot say is escaped, and also given as hexadecimal digits. */
void json_str(struct run *run, const char *key, struct mf_str text)
{
    char hex_key[64];

    mf_json_key(&run->json, key);
    mf_json_string(&run->json, text.at, text.size);
    if (mf_text_is_utf8(text.at, text.size))
        return;
    snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    mf_json_key(&run->json, hex_key);
    json_hex(run, text);
}

void json_number(struct run *run, const char *key, uint64_t number)
{
    mf_json_key(&run->json, key);
    mf_json_u64(&run->json, number);
}

void json_double(struct run *run, const char *key, double number)
{
    mf_json_key(&run->json, key);
    mf_json_f64(&run->json, number);
}

void json_bool(struct run *run, const char *key, bool value)
{
    mf_json_key(&run->json, key);
    mf_json_bool(&run->json, value);
}
