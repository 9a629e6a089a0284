/* SPDX-License-Identifier: MIT
 *
 * verify.c - modelfile verify: whether a model was made from another one
 */
#include "cli/commands/verify/verify.h"

#include "cli/answer.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/report.h"

static struct {
    const char *from, *imatrix, *statement;
    bool strict;
} options;

static const struct option table[] = {
    OPTION_TEXT("--from", "SOURCE", options.from,
                "the model that QUANT is said to be made from"),
    OPTION_TEXT("--imatrix", "FILE", options.imatrix,
                "the importance matrix that it was made with"),
    OPTION_FLAG("--strict", options.strict,
                "changed metadata and missing tensors count, too"),
    OPTION_TEXT("--statement", "FILE", options.statement,
                "if QUANT follows from SOURCE, write an in-toto statement "
                "about it"),
    OPTION_FORCE,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTIONS_WORK,
    { 0 },
};

/* What was compared without a matrix, although one is said to be used; or the
 * reverse. */
static void advise(struct verify *verify)
{
    static const char key[] = "quantize.imatrix.file";
    struct mf_meta meta;

    if (options.imatrix && verify->weighted == 0)
        report_remark(verify->run, verify->path,
                      "the importance matrix was not used for any tensor");
    if (options.imatrix ||
        verify->result.tensors[MF_VERDICT_DIFFERS] +
                verify->result.tensors[MF_VERDICT_NOT_DERIVABLE] ==
            0 ||
        !mf_meta_find(verify->model, key, strlen(key), &meta, NULL))
        return;
    report_remark(verify->run, verify->path,
                  "it was made with an importance matrix, according to "
                  "'quantize.imatrix.file' in its metadata: use --imatrix "
                  "FILE");
}

static void compare(struct verify *verify)
{
    struct run *run = verify->run;
    const struct mf_verify_options how = {
        .size = sizeof(struct mf_verify_options),
        .imatrix = options.imatrix,
        .strict = options.strict,
        .replace = run->options->force,
        .statement = verify->statement,
        .key = verify_key,
        .tensor = verify_tensor,
        .user = verify,
    };

    if (run->options->json)
        json_str(run, "from", str_of(verify->from));
    if (mf_verify(verify->model, verify->source, &how, &verify->result) !=
        MF_OK) {
        report_failure(run, NULL); /* the message has the file */
        return;
    }
    if (!verify->result.follows)
        report_code(run, EXIT_NO);
    if (verify->result.stated)
        report_done(run, options.statement, "was written");
    verify_verdict(verify);
    advise(verify);
}

/* NULL after a report. */
static struct mf_model *open_model(struct run *run, const char *path)
{
    struct mf_model *model;

    answer_file_begin(run, path);
    model = inputs_open(run, path, MF_SHARDS_BY_NAME, false);
    if (model && mf_model_is_imatrix(model)) {
        mf_model_close(model);
        model = NULL;
        report_input(run, path, "this is an importance matrix, not a model");
    }
    answer_file_end(run);
    return model;
}

static bool options_fit(struct run *run)
{
    if (!options.from)
        report_usage(run, "missing option '--from SOURCE': the model that it "
                          "is said to be made from");
    else if (options.statement && !*options.statement)
        report_usage(run, "'--statement' requires the name of a file");
    else
        return !options.statement || output_fits(run, options.statement);
    return false;
}

static void verify(struct run *run)
{
    struct verify verify = { .run = run,
                             .path = run->operand[0],
                             .from = options.from,
                             .strict = options.strict };

    if (!options_fit(run))
        return;
    run->imatrix = options.imatrix;
    record_content(options.imatrix);
    if (options.statement) {
        verify.statement = output_path(options.statement);
        verify.silent = output_is_stdout(options.statement);
    }
    answer_begin(run);
    answer_files_begin(run);
    verify.model = open_model(run, verify.path);
    if (verify.model)
        verify.source = open_model(run, verify.from);
    answer_files_end(run);
    if (verify.source)
        compare(&verify);
    mf_model_close(verify.source);
    mf_model_close(verify.model);
    answer_end(run);
}

static void writes(struct run *run)
{
    if (options.statement && *options.statement)
        sandbox_allow_file(&run->sandbox, output_path(options.statement));
}

const struct command command_verify = {
    .name = "verify",
    .sub = "",
    .operands = "QUANT --from SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "prove that a model was made from another one",
    .about = "Finds out whether QUANT was made from SOURCE: the tensors "
             "of SOURCE are quantized again, and compared byte by byte "
             "with QUANT. For each tensor it says whether it is "
             "the same, is explained by a known program or option, or "
             "differs. --statement writes the result as an in-toto "
             "statement.\n",
    .examples =
        "modelfile verify model-q4_k_m.gguf --from model-f16.gguf\n"
        "modelfile verify model-iq4_xs.gguf --from Llama-3-8B/ "
        "--imatrix matrix.gguf\n"
        "modelfile verify q.gguf --from f16.gguf --statement q.intoto.json\n"
        "modelfile verify --json q.gguf --from f16.gguf\n",
    .exit_no = "it does not follow from SOURCE",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = verify,
    .writes = writes,
};
