/* SPDX-License-Identifier: MIT
 *
 * missing.c - what a model has and the library does not read
 */
#include "cli/missing.h"

#include <stdio.h>

#include "cli/json.h"
#include "cli/report.h"
#include "lib/program.h"

/* More remarks than anyone reads; --json has all of them. */
#define REMARKS_MAX 100

/* Bytes of a name that fit a remark with its reason. */
#define NAME_SHOWN 160

static void show_json(struct run *run, const struct mf_model *model)
{
    struct mf_missed missed;

    mf_json_key(&run->json, "missing");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_missing_at(model, i, &missed); i++) {
        mf_json_begin(&run->json, '{');
        json_str(run, "name", missed.name);
        json_text(run, "reason", missed.reason);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void remark(struct run *run, const char *path,
                   const struct mf_missed *missed, const char *what)
{
    char text[512];
    size_t size = missed->name.size;

    snprintf(text, sizeof(text), "'%.*s%s' is %s: %s",
             (int)(size < NAME_SHOWN ? size : NAME_SHOWN), missed->name.at,
             size > NAME_SHOWN ? "..." : "", what, missed->reason);
    report_remark(run, path, text);
}

typedef bool missed_at(const struct mf_model *model, size_t index,
                       struct mf_missed *out);

static void show_remarks(struct run *run, const char *path,
                         const struct mf_model *model, missed_at *at,
                         const char *what)
{
    struct mf_missed missed;
    size_t count = 0;
    char text[64];

    for (; at(model, count, &missed); count++)
        if (count < REMARKS_MAX)
            remark(run, path, &missed, what);
    if (count <= REMARKS_MAX)
        return;
    snprintf(text, sizeof(text), "and %zu more are %s", count - REMARKS_MAX,
             what);
    report_remark(run, path, text);
}

void missing_show(struct run *run, const char *path,
                  const struct mf_model *model)
{
    if (!mf_model_info(model)->has_tensors)
        return; /* not read */
    if (run->options->json)
        show_json(run, model);
    if (!run->lists_missing)
        show_remarks(run, path, model, mf_missing_at, "not read");
}

void missing_show_skipped(struct run *run, const char *path,
                          const struct mf_model *model)
{
    show_remarks(run, path, model, mf_missing_skipped_at,
                 "skipped, and could not be read");
}

void missing_list(struct run *run, const struct mf_model *model)
{
    struct out *out = &run->out;
    struct mf_missed missed;

    for (size_t i = 0; mf_missing_at(model, i, &missed); i++) {
        out_text(out, "not read: ");
        out_escaped(out, missed.name, "");
        out_format(out, ": %s\n", missed.reason);
    }
}

void missing_counted(struct run *run, const struct mf_model *model)
{
    size_t count = mf_model_info(model)->missing_count;

    if (count > 0)
        out_format(&run->out, ", %zu not read", count);
}
