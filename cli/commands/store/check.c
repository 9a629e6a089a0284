/* SPDX-License-Identifier: MIT
 *
 * check.c - modelfile store check: whether stores have what their names say
 */
#include <string.h>

#include "cli/answer.h"
#include "cli/commands/store/store.h"
#include "cli/json.h"
#include "cli/report.h"

static struct {
    bool quick;
} options;

static const struct option table[] = {
    OPTION_FLAG("--quick", options.quick,
                "check names and sizes, read no file to its end"),
    OPTIONS_WORK,
    { 0 },
};

static const char *const troubles[] = {
    [TROUBLE_PARTIAL] = "partial", [TROUBLE_MISSING] = "missing",
    [TROUBLE_INVALID] = "invalid", [TROUBLE_SIZE] = "size",
    [TROUBLE_DIGEST] = "digest",
};

/* ---- digests ---- */

struct checking {
    struct scan scan;
    struct mf_hashed_file *hashed;
    uint32_t *file; /* of each */
    size_t count, room;
};

static bool take_room(struct checking *checking)
{
    struct mf_env *env = checking->scan.run->env;
    size_t room = scan_file_count(&checking->scan) + 1;

    checking->room = room;
    checking->hashed =
        mf_env_resize(env, NULL, 0, room * sizeof(*checking->hashed));
    checking->file =
        mf_env_resize(env, NULL, 0, room * sizeof(*checking->file));
    return checking->hashed && checking->file;
}

static void release(struct checking *checking)
{
    struct mf_env *env = checking->scan.run->env;

    if (checking->hashed)
        mf_env_resize(env, checking->hashed,
                      checking->room * sizeof(*checking->hashed), 0);
    if (checking->file)
        mf_env_resize(env, checking->file,
                      checking->room * sizeof(*checking->file), 0);
    scan_release(&checking->scan);
}

static void choose(struct checking *checking)
{
    struct scan *scan = &checking->scan;
    const struct store_file *file = scan_files(scan);

    for (size_t i = 0; i < scan_file_count(scan); i++) {
        if (file[i].partial || file[i].digest == DIGEST_UNKNOWN)
            continue;
        checking->file[checking->count] = (uint32_t)i;
        checking->hashed[checking->count++] =
            (struct mf_hashed_file){ .path = scan_text(scan, file[i].path),
                                     .size = file[i].size,
                                     .git = file[i].digest == DIGEST_GIT };
    }
}

static void put_hex(const uint8_t *digest, size_t size, char out[65])
{
    for (size_t i = 0; i < size; i++) {
        *out++ = "0123456789abcdef"[digest[i] >> 4];
        *out++ = "0123456789abcdef"[digest[i] & 15];
    }
    *out = 0;
}

/* The path moves when a problem is added: it is copied. */
static void compare(struct checking *checking, size_t index)
{
    struct scan *scan = &checking->scan;
    const struct mf_hashed_file *hashed = &checking->hashed[index];
    const struct store_file *file = &scan_files(scan)[checking->file[index]];
    char path[PATH_MAX], hex[65];

    put_hex(hashed->digest, hashed->git ? 20 : 32, hex);
    if (hashed->status == MF_OK && strcmp(hex, file->hex) == 0)
        return;
    memcpy(path, scan_text(scan, file->path),
           strlen(scan_text(scan, file->path)) + 1);
    if (hashed->status != MF_OK)
        scan_problem(scan, TROUBLE_INVALID, path, "%s", hashed->why);
    else
        scan_problem(scan, TROUBLE_DIGEST, path, "%s is %s, not %s",
                     hashed->git ? "the name that git gives it" : "its SHA-256",
                     hex, file->hex);
}

/* False after a report. */
static bool check_digests(struct checking *checking)
{
    struct run *run = checking->scan.run;
    bool done = take_room(checking);

    if (done) {
        choose(checking);
        done =
            mf_files_hash(run->env, checking->hashed, checking->count) == MF_OK;
    }
    for (size_t i = 0; done && i < checking->count; i++)
        compare(checking, i);
    if (!done || checking->scan.failed)
        report_failure(run, NULL);
    return done && !checking->scan.failed;
}

/* ---- the answer ---- */

static void show_text(struct run *run, const struct checking *checking)
{
    const struct scan *scan = &checking->scan;
    const struct store_problem *problem = scan_problems(scan);
    size_t count = scan_problem_count(scan), files = scan_file_count(scan);
    struct out *out = &run->out;

    for (size_t i = 0; i < count; i++) {
        out_escaped(out, str_of(scan_text(scan, problem[i].path)), "");
        out_text(out, ": ");
        out_escaped(out, str_of(scan_text(scan, problem[i].text)), "");
        out_text(out, "\n");
    }
    out_format(out, "%zu file%s, %zu digest%s checked, ", files,
               files == 1 ? "" : "s", checking->count,
               checking->count == 1 ? "" : "s");
    if (count == 0)
        out_text(out, "no problem\n");
    else
        out_format(out, "%zu problem%s\n", count, count == 1 ? "" : "s");
}

static void show_json(struct run *run, const struct checking *checking)
{
    const struct scan *scan = &checking->scan;
    const struct store_problem *problem = scan_problems(scan);

    mf_json_key(&run->json, "problems");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < scan_problem_count(scan); i++) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(scan_text(scan, problem[i].path)));
        json_text(run, "problem", troubles[problem[i].trouble]);
        json_str(run, "message", str_of(scan_text(scan, problem[i].text)));
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
    json_number(run, "files", scan_file_count(scan));
    json_number(run, "digests", checking->count);
}

static void check(struct run *run)
{
    struct checking checking = { .count = 0 };

    answer_begin(run);
    if (scan_all(run, false, &checking.scan) &&
        (options.quick || check_digests(&checking))) {
        if (scan_problem_count(&checking.scan) > 0)
            report_code(run, EXIT_NO);
        if (run->options->json)
            show_json(run, &checking);
        else
            show_text(run, &checking);
    }
    release(&checking);
    answer_end(run);
}

const struct command command_store_check = {
    .name = "store",
    .sub = "check",
    .operands = "[STORE...]",
    .operands_max = SIZE_MAX,
    .summary = "check files of stores against their digests",
    .about = "Reads every file that is named by its digest and lists those "
             "whose bytes are others; files that manifests and links name and "
             "that are missing; manifests that cannot be read; and "
             "half-fetched files.\n",
    .examples = "modelfile store check\n"
                "modelfile store check --quick ollama\n",
    .exit_no = "there are problems",
    .options = table,
    .execute = check,
};
