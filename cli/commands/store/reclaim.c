/* SPDX-License-Identifier: MIT
 *
 * reclaim.c - modelfile store reclaim: equal files share their data
 *
 * The first file of each set of equal ones stays as it is; each other one is
 * replaced by one that shares its data (mf_file_share).
 */
#include <string.h>

#include "cli/answer.h"
#include "cli/commands/store/store.h"
#include "cli/json.h"
#include "cli/report.h"

static struct {
    bool links;
} options;

static const struct option table[] = {
    OPTION_FLAG("--hard-links", options.links,
                "make equal files one file, which is write-protected"),
    OPTION_FLAG("--dry-run", shared_options.dry_run,
                "show what would be shared"),
    OPTIONS_WORK,
    { 0 },
};

struct reclaiming {
    struct scan scan;
    struct equal equal;
    uint64_t bytes; /* reclaimed */
    size_t files, impossible;
};

/* What became of a file: a word for JSON, and for the text. */
struct outcome {
    const char *word, *text;
};

static struct outcome outcome_of(const struct mf_share *share)
{
    switch (share->end) {
    case MF_SHARE_DONE:
        return (struct outcome){ "shared", "shares its data now" };
    case MF_SHARE_ALREADY:
        return (struct outcome){ "already", "shares its data already" };
    case MF_SHARE_DIFFERENT:
        return (struct outcome){ "different", "is not equal any more" };
    case MF_SHARE_IMPOSSIBLE:
        return (struct outcome){
            "impossible", options.links
                              ? "not shared: it is on another file system"
                              : "not shared: the file system cannot (no "
                                "reflinks)"
        };
    default:
        return (struct outcome){ "skipped", share->why };
    }
}

static void show_file(struct run *run, const char *path, uint64_t size,
                      const char *first, struct outcome outcome)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(path));
        json_str(run, "with", str_of(first));
        json_number(run, "bytes", size);
        json_text(run, "outcome", outcome.word);
        json_text(run, "message", outcome.text);
        mf_json_end(&run->json, '}');
        return;
    }
    out_escaped(&run->out, str_of(path), "");
    out_format(&run->out, ": %s%s\n",
               strcmp(outcome.word, "skipped") == 0 ? "not shared: " : "",
               outcome.text);
}

/* False after a report, where going on makes no sense. */
static bool share(struct reclaiming *reclaiming, const char *first,
                  const struct store_file *file)
{
    struct run *run = reclaiming->scan.run;
    const char *path = scan_text(&reclaiming->scan, file->path);
    struct mf_share done = { .end = MF_SHARE_DONE };
    struct outcome outcome;

    if (run->options->dry_run)
        done.end =
            mf_file_shares(first, path) ? MF_SHARE_ALREADY : MF_SHARE_DONE;
    else if (mf_file_share(run->env, first, path, options.links, &done) !=
             MF_OK) {
        if (run->options->json)
            mf_json_begin(&run->json, '{');
        report_failure(run, path);
        if (run->options->json)
            mf_json_end(&run->json, '}');
        return mf_env_error(run->env)->status != MF_ERR_STOPPED;
    }
    outcome = outcome_of(&done);
    if (run->options->dry_run && done.end == MF_SHARE_DONE)
        outcome = (struct outcome){ "shared", "would share its data" };
    show_file(run, path, file->size, first, outcome);
    reclaiming->impossible += done.end == MF_SHARE_IMPOSSIBLE;
    if (done.end == MF_SHARE_DONE) {
        reclaiming->bytes += file->size;
        reclaiming->files++;
    }
    return true;
}

static void share_all(struct reclaiming *reclaiming)
{
    const struct scan *scan = &reclaiming->scan;
    const struct store_file *file = scan_files(scan);
    const uint32_t *row = reclaiming->equal.at;
    size_t at = 0;

    while (at < reclaiming->equal.size) {
        const char *first = scan_text(scan, file[row[at]].path);

        for (at++; row[at] != EQUAL_END; at++)
            if (!share(reclaiming, first, &file[row[at]]))
                return;
        at++;
    }
}

static void show_end(struct run *run, const struct reclaiming *reclaiming)
{
    if (run->options->json) {
        json_number(run, "reclaimed_bytes", reclaiming->bytes);
        json_bool(run, "written", !run->options->dry_run);
        return;
    }
    out_format(&run->out, "%zu file%s, %s bytes %s\n", reclaiming->files,
               reclaiming->files == 1 ? "" : "s",
               number_text(reclaiming->bytes).at,
               run->options->dry_run ? "would be reclaimed" : "reclaimed");
    if (reclaiming->impossible > 0 && !options.links)
        out_line(&run->out, "where there are no reflinks, --hard-links makes "
                            "equal files one file");
}

static void reclaim(struct run *run)
{
    struct reclaiming reclaiming = { .bytes = 0 };

    answer_begin(run);
    if (scan_all(run, false, &reclaiming.scan) &&
        equal_find(&reclaiming.scan, &reclaiming.equal)) {
        if (run->options->json) {
            mf_json_key(&run->json, "shared");
            mf_json_begin(&run->json, '[');
        }
        share_all(&reclaiming);
        if (run->options->json)
            mf_json_end(&run->json, ']');
        show_end(run, &reclaiming);
        equal_release(run, &reclaiming.equal);
    }
    scan_release(&reclaiming.scan);
    answer_end(run);
}

static void writes(struct run *run)
{
    const struct store_places *places = store_places(run);

    for (size_t i = 0; places && i < places->count; i++)
        sandbox_allow_links(&run->sandbox, places->at[i].path);
}

const struct command command_store_reclaim = {
    .name = "store",
    .sub = "reclaim",
    .operands = "[STORE...]",
    .operands_max = SIZE_MAX,
    .summary = "make equal files of stores share their data",
    .about = "Equal files share their data on the disk, by reflinks, which "
             "Btrfs and XFS have: each stays a file of its own, with its mode, "
             "owner and times. All bytes are compared before. Where a file "
             "system has no reflinks nothing is done, with exit code 0; "
             "--hard-links makes equal files one file, with mode 0444. Files "
             "of other users, and those with several names, stay as they are. "
             "A stop at any moment leaves every file whole.\n",
    .examples = "modelfile store reclaim --dry-run\n"
                "modelfile store reclaim\n"
                "modelfile store reclaim --hard-links ollama lmstudio\n",
    .options = table,
    .execute = reclaim,
    .writes = writes,
    .once = true,
};
