/* SPDX-License-Identifier: MIT
 *
 * report.c - modelfile report: a page about models
 */
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/room.h"
#include "cli/types.h"

/* More columns would not fit. */
#define MODELS_MAX 16

static struct {
    const char *output, *imatrix, *errors, *recorded;
    uint64_t limit;
    bool data, no_compare, paths;
} options;

static const struct option table[] = {
    OPTION_TEXT("--output", "FILE", options.output,
                "the page (default: FILE.report.html)"),
    OPTION_FLAG("--data", options.data,
                "read all tensor data: findings about it, and histograms"),
    OPTION_TEXT("--imatrix", "FILE", options.imatrix,
                "what an importance matrix covers"),
    OPTION_TEXT("--errors", "TYPE,...", options.errors,
                "bytes and error of each tensor in these types (all: in all), "
                "with --imatrix if it is given"),
    OPTION_TEXT("--run", "PATH", options.recorded,
                "how a run went: a folder of --record, a file of --dhat, or "
                "what a command printed with --json"),
    OPTION_SIZE("--fit", options.limit,
                "the limit of memory that the page begins with"),
    OPTION_FLAG("--no-compare", options.no_compare,
                "of several models, compare headers only"),
    OPTION_FLAG("--paths", options.paths, "name the files in the page"),
    OPTION_FORCE,
    OPTION_ONE_FILE,
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTIONS_WORK,
    { 0 },
};

/* Without slashes at its end. */
static size_t name_size(const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        size--;
    return size;
}

/* Whether a page can be named after it: not standard input, nor "..", nor an
 * address. */
static bool has_name(const char *path)
{
    size_t size = name_size(path), begin = size;

    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return strcmp(path, "-") != 0 && !remote_is_url(path) && begin < size &&
           strspn(path + begin, ".") < size - begin;
}

/* The page's file: "a/b.gguf.report.html", or what -o says. */
static const char *page_path(struct run *run)
{
    static const char end[] = ".report.html";
    const char *first = run->operand[0];
    size_t size = name_size(first);
    char *path;

    if (options.output)
        return output_path(options.output);
    path = room_take(size + sizeof(end));
    if (path) {
        memcpy(path, first, size);
        memcpy(path + size, end, sizeof(end));
    }
    return path;
}

static void document_put(void *user, const char *at, size_t size)
{
    struct mf_json_out *json = user;

    json->write(json->user, at, size);
}

/* The document of the library, as a member of the answer. */
static enum mf_status show_json(struct run *run, struct mf_model **models,
                                size_t count,
                                const struct mf_report_options *how)
{
    mf_json_key(&run->json, "report");
    mf_json_digits(&run->json, "", 0);
    return mf_report_json(models, count, how, document_put, &run->json);
}

/* The output is in the message. */
static const char *file_at_fault(const struct mf_error *error)
{
    return error->status != MF_ERR_OUTPUT && *error->path ? error->path : NULL;
}

static void show(struct run *run, struct mf_model **models, size_t count,
                 const char *path)
{
    const struct mf_report_options how = {
        .size = sizeof(how),
        .data = options.data,
        .no_compare = options.no_compare,
        .paths = options.paths,
        .replace = run->options->force,
        .imatrix = options.imatrix,
        .recorded = options.recorded,
        .limit = options.limit,
        .errors = options.errors,
    };
    enum mf_status status = run->options->json
                                ? show_json(run, models, count, &how)
                                : mf_report(models, count, path, &how);

    if (status != MF_OK)
        report_failure(run, file_at_fault(mf_env_error(run->env)));
    else if (!run->options->json)
        report_done(run, path, "was written");
}

static struct mf_model *open_model(struct run *run, const char *path)
{
    struct mf_model *model;

    answer_file_begin(run, path);
    model = inputs_open(run, path, MF_SHARDS_AUTO, false);
    answer_file_end(run);
    return model;
}

static bool options_fit(struct run *run)
{
    if (run->options->json && options.output)
        report_usage(run, "'--json' prints the document of the page, and "
                          "writes no file: leave out '--output'");
    else if (options.output && !*options.output)
        report_usage(run, "'--output' requires the name of a file");
    else if (options.recorded && !*options.recorded)
        report_usage(run, "'--run' requires the name of a file or folder");
    else if (options.imatrix && !*options.imatrix)
        report_usage(run, "'--imatrix' requires the name of a file");
    else if (options.errors && !types_check_errors(run, options.errors))
        return false;
    else if (!run->options->json && !options.output &&
             !has_name(run->operand[0]))
        report_usage(run, "'%s' gives the page no name: use '--output'",
                     run->operand[0]);
    else
        return true;
    return false;
}

static void report(struct run *run)
{
    struct mf_model *models[MODELS_MAX];
    size_t count = 0;
    const char *path;

    if (!options_fit(run))
        return;
    path = page_path(run);
    if (!path) {
        report_memory(run, run->operand[0]);
        return;
    }
    run->imatrix = options.imatrix;
    record_content(options.imatrix);
    answer_begin(run);
    answer_files_begin(run);
    while (count < run->operand_count &&
           (models[count] = open_model(run, run->operand[count])))
        count++;
    answer_files_end(run);
    if (count == run->operand_count)
        show(run, models, count, path);
    while (count > 0)
        mf_model_close(models[--count]);
    answer_end(run);
}

static void writes(struct run *run)
{
    const char *path = run->options->json || run->operand_count == 0 ||
                               (options.output && !*options.output)
                           ? NULL
                           : page_path(run);

    if (path)
        sandbox_allow_file(&run->sandbox, path);
}

const struct command command_report = {
    .name = "report",
    .sub = "",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = MODELS_MAX,
    .summary = "write a page about a model, or about several side by side",
    .about = "Writes one HTML file that needs no server and no network: "
             "what a model is and what is wrong with it, its tensors as a "
             "table and as a map of bytes, its metadata, chat template and "
             "tokenizer, and the memory that it takes. Only the header is "
             "read, unless --data or --errors is given.\n\n"
             "Of several models the first one is compared with each of the "
             "others: keys that differ, and how far the numbers of each "
             "tensor are apart. If one of the two is quantized and the other "
             "is not, the page also says which tensors follow from it, as "
             "verify does.\n\n"
             "The page has no time in it, and no name of a file unless "
             "--paths is given: the same models make the same page. --json "
             "prints the document that the page draws, which "
             "docs/report.md describes.\n",
    .examples = "modelfile report model.gguf\n"
                "modelfile report model.gguf -o page.html --data --fit 16G\n"
                "modelfile report model-f16.gguf --errors q4_k,q6_k\n"
                "modelfile report model-f16.gguf model-q4_k_m.gguf\n"
                "modelfile report model.gguf --run rec   how a run went\n"
                "modelfile report --json model.gguf\n",
    .options = table,
    .remote = true,
    .execute = report,
    .writes = writes,
};
