/* SPDX-License-Identifier: MIT
 *
 * duplicates.c - modelfile store duplicates: what is on the disk several times
 */
#include <string.h>

#include "cli/answer.h"
#include "cli/commands/store/store.h"
#include "cli/json.h"
#include "cli/report.h"

static struct {
    bool tensors;
} options;

static const struct option table[] = {
    OPTION_FLAG("--tensors", options.tensors,
                "list models with equal tensors, too"),
    OPTIONS_WORK,
    { 0 },
};

struct finding {
    struct scan scan;
    struct equal equal;
    size_t sets;
    uint64_t bytes; /* that could be saved */
};

static void show_file(struct run *run, const char *path, bool shares)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(path));
        json_bool(run, "shared", shares);
        mf_json_end(&run->json, '}');
        return;
    }
    out_text(&run->out, "  ");
    out_escaped(&run->out, str_of(path), "");
    out_line(&run->out, shares ? " (shares its data already)" : "");
}

static void begin_set(struct run *run, uint64_t size)
{
    if (!run->options->json) {
        out_format(&run->out, "%s bytes each\n", number_text(size).at);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_number(run, "bytes", size);
    mf_json_key(&run->json, "files");
    mf_json_begin(&run->json, '[');
}

static void end_set(struct run *run)
{
    if (!run->options->json)
        return;
    mf_json_end(&run->json, ']');
    mf_json_end(&run->json, '}');
}

/* Returns where the next set begins. */
static size_t show_set(struct finding *finding, size_t at)
{
    const struct scan *scan = &finding->scan;
    const struct store_file *file = scan_files(scan);
    const uint32_t *row = finding->equal.at;
    const char *first = scan_text(scan, file[row[at]].path);

    begin_set(scan->run, file[row[at]].size);
    show_file(scan->run, first, false);
    for (at++; row[at] != EQUAL_END; at++) {
        const char *path = scan_text(scan, file[row[at]].path);
        bool shares = mf_file_shares(first, path);

        finding->bytes += shares ? 0 : file[row[at]].size;
        show_file(scan->run, path, shares);
    }
    end_set(scan->run);
    finding->sets++;
    return at + 1;
}

static void show(struct finding *finding)
{
    struct run *run = finding->scan.run;
    bool json = run->options->json;

    if (json) {
        mf_json_key(&run->json, "duplicates");
        mf_json_begin(&run->json, '[');
    }
    for (size_t at = 0; at < finding->equal.size;)
        at = show_set(finding, at);
    if (json) {
        mf_json_end(&run->json, ']');
        json_number(run, "superfluous_bytes", finding->bytes);
    } else if (finding->sets == 0) {
        out_line(&run->out, "no two files are equal");
    } else {
        out_format(&run->out,
                   "%zu set%s of equal files, %s bytes could be saved\n",
                   finding->sets, finding->sets == 1 ? "" : "s",
                   number_text(finding->bytes).at);
    }
}

static void duplicates(struct run *run)
{
    struct finding finding = { .sets = 0 };

    answer_begin(run);
    if (scan_all(run, options.tensors, &finding.scan) &&
        equal_find(&finding.scan, &finding.equal)) {
        show(&finding);
        equal_release(run, &finding.equal);
        if (options.tensors)
            tensors_show(&finding.scan);
    }
    scan_release(&finding.scan);
    answer_end(run);
}

const struct command command_store_duplicates = {
    .name = "store",
    .sub = "duplicates",
    .operands = "[STORE...]",
    .operands_max = SIZE_MAX,
    .summary = "list equal files of stores, and what they waste",
    .about = "Lists files with equal bytes over all STOREs, and how many bytes "
             "sharing them would save ('modelfile store reclaim' does). Names "
             "of one file (hard links) count once, and files that share their "
             "data (reflinks) waste nothing. --tensors compares the tensors of "
             "all models as well, whatever their format.\n",
    .examples = "modelfile store duplicates\n"
                "modelfile store duplicates --tensors ollama lmstudio\n",
    .options = table,
    .execute = duplicates,
};
