/* SPDX-License-Identifier: MIT
 *
 * jobs_sum.c - which part of the files it is, how many there were, and how
 * their processes ended
 */
#include "cli/jobs_sum.h"

#include <stdio.h>

#include "cli/answer.h"
#include "cli/exits.h"
#include "cli/json.h"
#include "cli/part.h"
#include "cli/report.h"
#include "cli/units.h"

bool jobs_sum_part(struct run *run, struct jobs_sum *sum)
{
    return part_take(run, run->options->part, &sum->part, &sum->parts);
}

static void show_json(struct run *run, const struct jobs_sum *sum)
{
    char code[16];

    answer_begin(run);
    mf_json_key(&run->json, "summary");
    mf_json_begin(&run->json, '{');
    json_number(run, "files", sum->done);
    json_number(run, "left_out", sum->left_out);
    json_number(run, "left_out_with_errors", sum->left_with_errors);
    json_number(run, "part", sum->part);
    json_number(run, "parts", sum->parts);
    mf_json_key(&run->json, "exit_codes");
    mf_json_begin(&run->json, '{');
    for (int i = 0; i <= EXIT_MEMORY; i++) {
        snprintf(code, sizeof(code), "%d", i);
        if (sum->ended[i] > 0)
            json_number(run, code, sum->ended[i]);
    }
    mf_json_end(&run->json, '}');
    json_number(run, "ended_by_signal", sum->killed);
    mf_json_end(&run->json, '}');
    answer_end(run);
}

static void show_count(struct run *run, uint64_t count, const char *what)
{
    if (count > 0)
        out_format(&run->out, "%12s  %s\n", number_text(count).at, what);
}

static void show_text(struct run *run, const struct jobs_sum *sum)
{
    const struct exit_meaning *exit = exit_meanings;

    show_count(run, sum->done, sum->done == 1 ? "file" : "files");
    for (; exit->meaning; exit++)
        if (exit->code <= EXIT_MEMORY)
            show_count(run, sum->ended[exit->code],
                       exit_meaning(run->command, exit));
    show_count(run, sum->killed, "a signal ended its process");
    show_count(run, sum->left_out, "left out: the log has them");
    show_count(run, sum->left_with_errors, "of these: errors were found");
}

void jobs_sum_show(struct run *run, const struct jobs_sum *sum)
{
    if (run->options->json)
        show_json(run, sum);
    else
        show_text(run, sum);
}
