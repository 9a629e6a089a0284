/* SPDX-License-Identifier: MIT
 *
 * verdict.c - from what the library found to what is reported of a file
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/validate/validate.h"

/* ---- gathered text ---- */

bool gather(struct run *run, struct gathered *text, const char *at, size_t size)
{
    size_t room = text->room ? text->room : 1024;
    char *moved;

    while (room - text->size < size)
        room *= 2;
    if (room > text->room) {
        moved = mf_env_resize(run->env, text->at, text->room, room);
        if (!moved)
            return false;
        text->at = moved;
        text->room = room;
    }
    memcpy(text->at + text->size, at, size);
    text->size += size;
    return true;
}

void gather_release(struct run *run, struct gathered *text)
{
    if (text->at)
        mf_env_resize(run->env, text->at, text->room, 0);
    *text = (struct gathered){ 0 };
}

/* ---- lines ---- */

void finding_line(const struct result *result, put_text *put, void *user)
{
    const struct mf_finding *finding = &result->finding;
    char place[32] = "";

    put(user, result->path);
    if (*finding->rule) {
        put(user, ": ");
        put(user, mf_severity_name(finding->severity));
        put(user, " ");
        put(user, finding->rule);
    }
    if (finding->offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), " at 0x%" PRIx64, finding->offset);
    put(user, place);
    put(user, ": ");
    put(user, finding->message);
}

size_t tally_sum(const struct tally *tally)
{
    return tally->of[MF_ERROR] + tally->of[MF_WARNING] + tally->of[MF_NOTE];
}

void missing_line(const struct verdict *verdict, put_text *put, void *user)
{
    if (verdict->missing == 0)
        return;
    put(user, verdict->missing_path);
    put(user, MISSING_WORDS);
    put(user, size_text(verdict->missing).at);
    put(user, " short");
}

void unshown_line(const struct verdict *verdict, put_text *put, void *user)
{
    const struct tally *tally = &verdict->unshown;
    char text[200];

    if (tally_sum(tally) == 0)
        return;
    snprintf(text, sizeof(text),
             UNSHOWN_WORDS "%zu error%s, %zu warning%s, %zu note%s; "
                           "--max-findings %zu shows all",
             tally->of[MF_ERROR], tally->of[MF_ERROR] == 1 ? "" : "s",
             tally->of[MF_WARNING], tally->of[MF_WARNING] == 1 ? "" : "s",
             tally->of[MF_NOTE], tally->of[MF_NOTE] == 1 ? "" : "s",
             tally_sum(&verdict->found));
    put(user, verdict->path);
    put(user, text);
}

/* ---- the verdict ---- */

size_t verdict_limit(const struct run *run)
{
    uint64_t most = run->options.max_findings;

    if (most == 0)
        return MF_FINDINGS_MAX;
    return most < SIZE_MAX ? (size_t)most : SIZE_MAX;
}

/* Adds a finding unless the baseline has it. */
static void take(struct run *run, struct verdict *verdict,
                 struct baseline *baseline, struct result result)
{
    enum mf_severity *severity = &result.finding.severity;

    if (run->options.strict && *severity == MF_WARNING)
        *severity = MF_ERROR;
    if (baseline_has(run, baseline, &result)) {
        verdict->accepted++;
        verdict->found.of[*severity]--;
    } else if (verdict->count < verdict->room) {
        verdict->result[verdict->count++] = result;
    }
}

/* The file in which a finding's offset lies. */
static const char *path_of(const struct mf_model *model, const char *operand,
                           const struct mf_finding *finding)
{
    struct mf_shard shard;

    if (finding->offset == MF_NO_OFFSET ||
        !mf_shard_at(model, finding->shard, &shard) ||
        strcmp(shard.path, inputs_path(operand)) == 0)
        return operand;
    return shard.path;
}

/* Nothing is wrong with a file that was cut off but tensors behind its end. One
 * with other faults may have wrong places, whose distance means nothing. */
static bool is_only_short(const struct mf_model *model)
{
    struct mf_finding finding;
    bool found = false;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR) {
            if (strcmp(finding.rule, "TENSOR-BOUNDS") != 0)
                return false;
            found = true;
        }
    return found;
}

/* By how much.  A tensor of a file that was cut off follows those before it:
 * what begins further behind the end than all tensors have bytes is elsewhere.
 */
static void measure_missing(const struct mf_model *model,
                            struct verdict *verdict)
{
    uint64_t padding = mf_model_info(model)->alignment, total = 0, most = 0;
    struct mf_tensor tensor;
    struct mf_shard shard;

    if (!is_only_short(model))
        return;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        uint64_t end = tensor.data.offset + tensor.data.size;

        if (end < tensor.data.offset || end > UINT64_MAX / 2 ||
            !mf_shard_at(model, tensor.shard, &shard))
            return;
        total += total < UINT64_MAX / 2 ? tensor.data.size + padding : 0;
        if (end > shard.size && end - shard.size > most) {
            most = end - shard.size;
            verdict->missing_path = shard.path;
        }
    }
    if (most <= total)
        verdict->missing = most;
    if (verdict->missing > 0 &&
        strcmp(verdict->missing_path, inputs_path(verdict->path)) == 0)
        verdict->missing_path = verdict->path;
}

/* Worst first, else in the order in which they were met.  False where there is
 * no memory for it. */
static bool judge_model(struct run *run, const struct mf_model *model,
                        struct baseline *baseline, struct verdict *verdict)
{
    const struct mf_model_info *info = mf_model_info(model);
    size_t all = info->error_count + info->warning_count + info->note_count;
    size_t most = verdict_limit(run), room = all < most ? all : most;
    struct result result;

    if (room > 0)
        verdict->result =
            mf_env_resize(run->env, NULL, 0, room * sizeof(*verdict->result));
    if (room > 0 && !verdict->result)
        return false;
    verdict->room = room;
    verdict->tensors = info->tensor_count;
    measure_missing(model, verdict);
    verdict->found = (struct tally){ { [MF_ERROR] = info->error_count,
                                       [MF_WARNING] = info->warning_count,
                                       [MF_NOTE] = info->note_count } };
    if (run->options.strict) {
        verdict->found.of[MF_ERROR] += info->warning_count;
        verdict->found.of[MF_WARNING] = 0;
    }
    for (int severity = MF_ERROR; severity >= MF_NOTE; severity--)
        for (size_t i = 0; mf_finding_at(model, i, &result.finding); i++) {
            result.path = path_of(model, verdict->path, &result.finding);
            if (result.finding.severity == (enum mf_severity)severity)
                take(run, verdict, baseline, result);
        }
    return true;
}

/* The path of a shard beside the operand. */
static const char *path_beside(struct run *run, struct verdict *verdict,
                               const char *shard)
{
    const char *slash = strrchr(verdict->path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - verdict->path) : 0;
    struct gathered *path = &verdict->beside;

    if (gather(run, path, verdict->path, folder) &&
        gather(run, path, shard, strlen(shard) + 1))
        return path->at;
    return verdict->path; /* for want of memory: the message names it, too */
}

/* Bytes that cannot be read on are a finding; bytes that cannot be had are
 * none. */
static void judge_error(struct run *run, struct baseline *baseline,
                        struct verdict *verdict)
{
    const struct mf_error *error = mf_env_error(run->env);
    struct result result = { .path = verdict->path,
                             .finding = { .rule = error->rule,
                                          .severity = MF_ERROR,
                                          .offset = error->offset,
                                          .message = error->message } };

    if (*error->shard) {
        result.finding.shard = NO_SHARD;
        if (error->offset != MF_NO_OFFSET)
            result.path = path_beside(run, verdict, error->shard);
    }
    verdict->result = &verdict->only;
    verdict->found.of[MF_ERROR] = 1;
    if (*error->rule) {
        verdict->room = 1;
        take(run, verdict, baseline, result);
    } else {
        verdict->refused = mf_status_name(error->status);
        verdict->result[verdict->count++] = result;
    }
}

void verdict_make(struct run *run, const struct mf_model *model,
                  struct baseline *baseline, struct verdict *verdict)
{
    if (!model || !judge_model(run, model, baseline, verdict))
        judge_error(run, baseline, verdict);
    verdict->unshown = verdict->found;
    for (size_t i = 0; i < verdict->count; i++)
        verdict->unshown.of[verdict->result[i].finding.severity]--;
}

void verdict_release(struct run *run, struct verdict *verdict)
{
    if (verdict->result && verdict->result != &verdict->only)
        mf_env_resize(run->env, verdict->result,
                      verdict->room * sizeof(*verdict->result), 0);
    gather_release(run, &verdict->beside);
}
