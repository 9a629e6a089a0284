/* SPDX-License-Identifier: MIT
 *
 * recover.c - modelfile meta recover: finish an interrupted edit
 */
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/report.h"

static const struct option table[] = {
    OPTION_FLAG("--force", shared_options.force,
                "trust the journal regardless of its owner; for root and the "
                "owner of the file"),
    { 0 },
};

static void show_recovery(struct run *run,
                          const struct mf_recover_result *result)
{
    static const struct {
        const char *word, *text;
    } rows[] = {
        [MF_RECOVERY_NONE] = { "none", "nothing to recover" },
        [MF_RECOVERY_UNBEGUN] = { "unbegun",
                                  "the edit had not changed the file; its "
                                  "journal was removed" },
        [MF_RECOVERY_COMPLETE] = { "complete",
                                   "the edit was complete; its journal was "
                                   "removed" },
        [MF_RECOVERY_FINISHED] = { "finished", "the edit was finished" },
        [MF_RECOVERY_FOREIGN] = { "foreign",
                                  "the journal of another file was removed" },
    };

    if (run->options->json) {
        json_text(run, "recovered", rows[result->found].word);
        json_number(run, "changed_bytes", result->changed);
        return;
    }
    out_escaped(&run->out, str_of(run->operand[0]), "");
    out_format(&run->out, ": %s\n", rows[result->found].text);
}

static void writes(struct run *run)
{
    sandbox_allow_file(&run->sandbox, run->operand[0]);
}

static void meta_recover(struct run *run)
{
    const struct mf_recover_options how = {
        .size = sizeof(struct mf_recover_options), .force = run->options->force
    };
    const char *path = run->operand[0];
    struct mf_recover_result result;

    if (!inputs_editable(run, path))
        return;
    answer_one_begin(run, path);
    if (mf_file_recover(run->env, path, &how, &result) == MF_OK) {
        if (result.changed > 0)
            report_done(run, path, "was changed");
        show_recovery(run, &result);
    } else {
        report_failure(run, path);
    }
    answer_one_end(run);
}

const struct command command_meta_recover = {
    .name = "meta",
    .sub = "recover",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "finish an interrupted edit",
    .about = "Finishes an edit of metadata that a crash or a power "
             "failure interrupted, by the journal in the folder of "
             "the file, and removes the journal.\n",
    .examples = "modelfile meta recover model.gguf\n",
    .options = table,
    .once = true,
    .execute = meta_recover,
    .writes = writes,
};
