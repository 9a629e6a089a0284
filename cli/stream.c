/* SPDX-License-Identifier: MIT
 *
 * stream.c - a model that comes through standard input, from a pipe
 *
 * A model is opened with the length of its file, and how long a pipe is shows
 * only at its end.  So it is opened twice: first with a length that no file
 * has, to read the header, which is kept; then with the length that the header
 * implies.  If the pipe has ended by then, all of it is kept, and its length is
 * known: everything is as with a file.  If the command checks data, that passes
 * before the second model is opened, which so has the true length
 * (mf_model_take_scan).
 */
#include "cli/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/stream_bytes.h"

/* More than any file has, and less than what the library keeps for itself. */
#define NO_LENGTH ((uint64_t)1 << 60)

#define WINDOW ((uint64_t)128 * 1024)

/* An error in a header may be about what is left of the file. */
#define NEAR_END ((uint64_t)1 << 20)

/* So many findings about data are kept of a model that is not shown; an honest
 * one has no more. */
#define FINDINGS_MAX ((size_t)1 << 20)

static struct stream_bytes input;
static bool opened;
static uint64_t data_end; /* as the header of an open model implies; or 0 */

/* ---- the command line ---- */

static bool is_pipe(void)
{
    struct stat status;

    return fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

static bool is_dash(const char *text)
{
    return text && strcmp(text, "-") == 0;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether an operand is a model that is read: others are patterns and names,
 * and OUT may be standard output. */
static bool is_read(const struct run *run, size_t operand)
{
    const char *names = run->command->operands;

    if (run->command->no_input || begins_with(names, "[STORE"))
        return false;
    if (begins_with(names, "FIRST..."))
        return operand + 1 < run->operand_count;
    return operand == 0 || begins_with(names, "FILE...") ||
           begins_with(names, "A B") || begins_with(names, "MATRIX MODEL");
}

static size_t count_dashes(const struct run *run)
{
    size_t found = 0;

    for (size_t i = 0; i < run->operand_count; i++)
        found += is_read(run, i) && is_dash(run->operand[i]);
    for (size_t i = 0; i < run->listed_count; i++)
        found += is_dash(run->listed[i]);
    return found + (found > 0 && is_dash(run->options->files_from));
}

/* For run->instead: why the pipe cannot be read, or not again. */
static const char *instead(const struct mf_error *error)
{
    return error->system == ESPIPE ? input.why : NULL;
}

bool stream_begin(struct run *run)
{
    size_t count = run->options->help ? 0 : count_dashes(run);

    if (count == 0 || !is_pipe())
        return true;
    if (count > 1) {
        report_usage(run, "'-' is given %zu times, and a pipe can be read once",
                     count);
        return false;
    }
    if (isatty(STDIN_FILENO)) {
        report_usage(run, "'-' is standard input, which is a terminal: connect "
                          "it to a pipe or a file");
        return false;
    }
    run->reads_stream = true;
    run->instead = instead;
    run->options->threads = 1; /* which reads in order */
    input.run = run;
    input.keeps = true;
    return true;
}

bool stream_is(const struct run *run, const char *path)
{
    return run->reads_stream && strcmp(path, "-") == 0;
}

void stream_end(void)
{
    if (input.run)
        stream_bytes_release(&input);
}

/* ---- the length ---- */

/* What the header implies. */
struct implied {
    uint64_t tail;    /* where the last tensor ends */
    uint64_t scanned; /* what can be read for what is found in data */
    uint64_t length;  /* of the file */
};

/* False where input.why says what is missing. */
static bool measure(const struct mf_model *model, struct implied *out)
{
    const struct mf_model_info *info = mf_model_info(model);
    uint64_t data = info->data_offset, block = info->alignment, end;
    bool is_apr = strcmp(info->format, "apr") == 0;
    struct mf_tensor tensor;

    data = data < NO_LENGTH / 2 ? data : input.filled;
    block = block < NO_LENGTH ? block : 1;
    end = data;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        struct mf_span span = tensor.data;

        if (span.size > NO_LENGTH / 2) {
            input.why = "the size of a tensor of an unknown type is known only "
                        "at the end: save it to a file first";
            return false;
        }
        /* Others are far from the file, wherever that ends. */
        if (span.offset < NO_LENGTH / 2 && span.offset + span.size > end)
            end = span.offset + span.size;
    }
    out->tail = out->scanned = out->length = end;
    if (strcmp(info->format, "gguf") == 0 || is_apr)
        out->length = data + (end - data + block - 1) / block * block;
    if (is_apr)
        out->scanned = out->length += 4; /* a checksum */
    return true;
}

void stream_show_length(struct run *run, const char *path)
{
    if (run->options->json && stream_is(run, path))
        json_bool(run, "length_known", input.ended);
}

void stream_close(struct run *run)
{
    if (input.taken < data_end && !input.ended && run->code <= EXIT_NO)
        report_remark(run, "-",
                      "a pipe's length shows at its end, and only its header "
                      "was read: whether data is missing, or bytes follow it, "
                      "was not checked");
}

/* ---- models ---- */

/* Nothing lies next to it, as nothing does next to /dev/stdin. */
static int open_beside(void *user, const char *name, struct mf_byte_source *out)
{
    (void)user, (void)name, (void)out;
    return ENOENT;
}

static enum mf_status open_as(const struct mf_open_options *options,
                              uint64_t length, struct mf_model **out)
{
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = STREAM_PATH,
                                     .bytes = length,
                                     .read = stream_bytes_read,
                                     .user = &input,
                                     .open = open_beside };

    return mf_model_open_source(input.run->env, &source, options, out);
}

static int64_t read_nothing(void *user, uint64_t offset, void *buffer,
                            size_t count)
{
    (void)offset, (void)buffer, (void)count;
    return *(int64_t *)user;
}

/* Fails with a negative number of errno. */
static enum mf_status give_up(int64_t reason)
{
    struct mf_model *none;
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = STREAM_PATH,
                                     .bytes = 1,
                                     .read = read_nothing,
                                     .user = &reason };

    return mf_model_open_source(input.run->env, &source, NULL, &none);
}

static enum mf_status refuse(const char *why)
{
    input.why = why;
    return give_up(-ESPIPE);
}

/* A window at least, as readers of most formats take: so the length of small
 * models is known. */
static uint64_t header_end(const struct mf_model *model)
{
    uint64_t end = mf_model_info(model)->data_offset;

    return end > WINDOW ? end : WINDOW;
}

/* Reads all data, and then opens the model with the true length. */
static enum mf_status open_checked(const struct mf_open_options *options,
                                   const struct implied *implied,
                                   struct mf_model **out)
{
    struct mf_open_options many = *options;
    struct mf_model *scan;
    enum mf_status status;
    int64_t got;

    many.findings_max = FINDINGS_MAX;
    if (!stream_bytes_keep_tail(&input, implied->tail))
        return give_up(-ENOMEM);
    if (open_as(&many, implied->scanned, &scan) != MF_OK)
        return mf_env_error(input.run->env)->status;
    status = mf_model_scan_once(scan);
    if (status == MF_ERR_IO && input.ended)
        status = MF_OK; /* as early as it may have been */
    got = status == MF_OK ? stream_bytes_pass_all(&input) : 0;
    if (got < 0)
        status = give_up(got);
    if (status == MF_OK)
        status = open_as(options, input.taken, out);
    if (status == MF_OK)
        mf_model_take_scan(*out, scan);
    else
        mf_model_close(scan);
    return status;
}

/* With the header in memory.  header: opened without a length; closed. */
static enum mf_status open_again(const struct mf_open_options *options,
                                 struct mf_model *header, struct mf_model **out)
{
    struct implied implied;
    enum mf_status status;

    if (!measure(header, &implied)) {
        mf_model_close(header);
        return give_up(-ESPIPE);
    }
    mf_model_close(header);
    data_end = implied.tail;
    status = input.run->checks_data ? open_checked(options, &implied, out)
                                    : open_as(options, implied.length, out);
    /* What could be read before is past the end now. */
    if (status == MF_ERR_CORRUPT && input.filled > implied.length)
        return refuse("its index is after its data: save it to a file first");
    return status;
}

enum mf_status stream_open(const struct mf_open_options *options,
                           struct mf_model **out)
{
    struct mf_model *model = NULL;
    enum mf_status status;
    int64_t got = 0;

    if (opened)
        return refuse("a pipe can be read once: save it to a file first");
    opened = true;
    status = open_as(options, NO_LENGTH, &model);
    if (status == MF_OK && !options->metadata_only)
        got = stream_bytes_keep(&input, header_end(model));
    else if (status == MF_ERR_CORRUPT) /* as most small files may be */
        stream_bytes_keep(&input, input.filled + NEAR_END);
    input.keeps = options->metadata_only; /* what is read later, too */
    if (input.ended || got < 0) {
        mf_model_close(model);
        status = got < 0 ? give_up(got) : open_as(options, input.taken, &model);
    }
    if (status != MF_OK)
        return status;
    if (!input.ended && !options->metadata_only)
        return open_again(options, model, out);
    *out = model;
    return MF_OK;
}
