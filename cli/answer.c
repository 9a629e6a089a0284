/* SPDX-License-Identifier: MIT
 *
 * answer.c - the document that --json prints
 */
#include "cli/answer.h"

#include "cli/cost.h"
#include "cli/json.h"
#include "cli/measure/measure.h"

void answer_begin(struct run *run)
{
    record_sample_begin();
    if (!run->options->json)
        return;
    /* There may be a document before it. */
    run->json = (struct mf_json_out){ .write = run->json.write,
                                      .user = run->json.user };
    mf_json_begin(&run->json, '{');
    json_number(run, "schema", JSON_SCHEMA);
    run->answering = ANSWER_MEMBERS;
}

void answer_end(struct run *run)
{
    record_sample_end(run);
    if (!run->options->json)
        return;
    cost_json(run);
    mf_json_end(&run->json, '}');
    out_text(&run->out, "\n");
    run->answering = ANSWER_NONE;
}

void answer_files_begin(struct run *run)
{
    if (!run->options->json)
        return;
    mf_json_key(&run->json, "files");
    mf_json_begin(&run->json, '[');
    run->answering = ANSWER_FILES;
}

void answer_files_end(struct run *run)
{
    if (!run->options->json)
        return;
    mf_json_end(&run->json, ']');
    run->answering = ANSWER_MEMBERS;
}

void answer_file_begin(struct run *run, const char *path)
{
    if (!run->options->json)
        return;
    mf_json_begin(&run->json, '{');
    json_str(run, "file", str_of(path));
    run->answering = ANSWER_MEMBERS;
}

void answer_file_end(struct run *run)
{
    if (!run->options->json)
        return;
    mf_json_end(&run->json, '}');
    run->answering = ANSWER_FILES;
}

void answer_one_begin(struct run *run, const char *path)
{
    answer_begin(run);
    answer_files_begin(run);
    answer_file_begin(run, path);
}

void answer_one_end(struct run *run)
{
    answer_file_end(run);
    answer_files_end(run);
    answer_end(run);
}
