/* SPDX-License-Identifier: MIT
 *
 * answer.c - the object that --json prints
 */
#include "cli/answer.h"

#include "cli/cost.h"
#include "cli/json.h"
#include "cli/record.h"

void answer_begin(struct run *run)
{
    record_sample_begin();
    if (!run->options->json)
        return;
    mf_json_begin(&run->json, '{');
    json_number(run, "schema", JSON_SCHEMA);
    run->answering = true;
}

void answer_end(struct run *run)
{
    record_sample_end(run);
    if (!run->options->json)
        return;
    run->answering = false;
    cost_json(run);
    mf_json_end(&run->json, '}');
}

void answer_finish(struct run *run)
{
    answer_end(run);
    if (run->options->json)
        out_text(&run->out, "\n");
}
