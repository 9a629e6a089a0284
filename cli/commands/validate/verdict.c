/* SPDX-License-Identifier: MIT
 *
 * verdict.c - from the findings of the library to what is reported of a file
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/inputs.h"

size_t verdict_limit(const struct verdict_options *options)
{
    uint64_t limit = options->max_findings;

    if (limit == 0)
        return MF_FINDINGS_MAX;
    return limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

uint32_t verdict_readers(const struct verdict_options *options)
{
    static const uint32_t readers[] = {
        [READER_ALL] = MF_READERS_ALL,
        [READER_SPEC] = MF_READER_SPEC,
        [READER_LLAMA] = MF_READER_LLAMA,
        [READER_TRANSFORMERS] = MF_READER_TRANSFORMERS,
    };

    return readers[options->reader];
}

const char *verdict_reader(const struct verdict_options *options)
{
    return mf_readers_name((enum mf_readers)verdict_readers(options));
}

/* Whether --ignore or the baseline takes a finding out. */
static bool is_passed(struct run *run, struct verdict *verdict,
                      const struct verdict_options *options,
                      struct baseline *baseline, struct result *result)
{
    if (ignore_takes(&options->ignored, &result->finding)) {
        result->passed = "ignored";
        verdict->ignored++;
    } else if (baseline_accepts(run, baseline, result)) {
        result->passed = "baseline";
        verdict->accepted++;
    }
    return result->passed != NULL;
}

static void add(struct run *run, struct verdict *verdict,
                const struct verdict_options *options,
                struct baseline *baseline, struct result result)
{
    enum mf_severity *severity = &result.finding.severity;

    if (options->strict && *severity == MF_WARNING)
        *severity = MF_ERROR;
    if (is_passed(run, verdict, options, baseline, &result)) {
        verdict->found.of[*severity]--;
        verdict->result[verdict->room - ++verdict->passed_count] = result;
    } else if (!options->hidden[*severity] &&
               verdict->count < verdict_limit(options)) {
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

/* The only errors of a truncated file are tensors past its end.  With other
 * errors the offsets themselves may be wrong, and their distance to the end of
 * the file means nothing. */
static bool is_only_truncated(const struct mf_model *model)
{
    struct mf_finding finding;
    bool found = false;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.usual == MF_ERROR) {
            if (strcmp(finding.rule, "TENSOR-BOUNDS") != 0)
                return false;
            found = true;
        }
    return found;
}

static bool is_generic(const struct mf_model *model)
{
    struct mf_finding finding;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (strcmp(finding.rule, "MODEL-UNKNOWN") == 0 ||
            strcmp(finding.rule, "MODEL-GENERIC") == 0)
            return true;
    return false;
}

/* How many bytes a truncated file lacks.  Its tensors follow each other, so
 * none ends further past the end than all tensors have bytes; if one does, its
 * offset is wrong. */
static void measure_missing(const struct mf_model *model,
                            struct verdict *verdict)
{
    uint64_t padding = mf_model_info(model)->alignment, total = 0, missing = 0;
    struct mf_tensor tensor;
    struct mf_shard shard;

    if (!is_only_truncated(model))
        return;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        uint64_t end = tensor.data.offset + tensor.data.size;

        if (end < tensor.data.offset || end > UINT64_MAX / 2 ||
            !mf_shard_at(model, tensor.shard, &shard))
            return;
        total += total < UINT64_MAX / 2 ? tensor.data.size + padding : 0;
        if (end > shard.size && end - shard.size > missing) {
            missing = end - shard.size;
            verdict->missing_path = shard.path;
        }
    }
    if (missing <= total)
        verdict->missing = missing;
    if (verdict->missing > 0 &&
        strcmp(verdict->missing_path, inputs_path(verdict->path)) == 0)
        verdict->missing_path = verdict->path;
}

/* Worst first, else in the library's order.  False after an error of the env.
 */
static bool add_findings(struct run *run, const struct mf_model *model,
                         const struct verdict_options *options,
                         struct baseline *baseline, struct verdict *verdict)
{
    const struct mf_model_info *info = mf_model_info(model);
    size_t all = info->error_count + info->warning_count + info->note_count;
    size_t room = all < run->findings_max ? all : run->findings_max;
    struct result result = { .format = info->format };
    struct mf_table_info table;

    if (room > 0)
        verdict->result =
            mf_env_resize(run->env, NULL, 0, room * sizeof(*verdict->result));
    if (room > 0 && !verdict->result)
        return false;
    verdict->room = room;
    verdict->tensors = info->tensor_count;
    if (mf_model_table(model, &table)) {
        verdict->is_table = true;
        verdict->tensors = table.chunk_count;
        verdict->data = false; /* no column is decoded */
    }
    verdict->model = model;
    verdict->generic = is_generic(model);
    mf_model_coverage(model, &verdict->coverage);
    measure_missing(model, verdict);
    verdict->found = (struct tally){ { [MF_ERROR] = info->error_count,
                                       [MF_WARNING] = info->warning_count,
                                       [MF_NOTE] = info->note_count } };
    if (options->strict) {
        verdict->found.of[MF_ERROR] += info->warning_count;
        verdict->found.of[MF_WARNING] = 0;
    }
    for (int severity = MF_ERROR; severity >= MF_NOTE; severity--)
        for (size_t i = 0; mf_finding_at(model, i, &result.finding); i++) {
            result.path = path_of(model, verdict->path, &result.finding);
            result.spared = result.finding.severity < result.finding.usual
                                ? verdict->reader
                                : NULL;
            if (result.finding.severity == (enum mf_severity)severity)
                add(run, verdict, options, baseline, result);
        }
    return true;
}

/* How many bytes of a path are its folder. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The path of a shard in the folder of the operand. */
static const char *shard_path(struct run *run, struct verdict *verdict,
                              const struct mf_error *error)
{
    const char *shard = error->path + folder_size(error->path);
    struct buffer *path = &verdict->shard_path;

    if (buffer_add(run, path, verdict->path, folder_size(verdict->path)) &&
        buffer_add(run, path, shard, strlen(shard) + 1))
        return path->at;
    return verdict->path; /* out of memory; the message has it, too */
}

/* Other ids name the reason of a refusal. */
static bool is_rule(const char *id)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++)
        if (strcmp(rule.id, id) == 0)
            return true;
    return false;
}

/* A file that cannot be parsed has a finding; one that cannot be read is an
 * error of the run. */
static void add_error(struct run *run, const struct verdict_options *options,
                      struct baseline *baseline, struct verdict *verdict)
{
    const struct mf_error *error = mf_env_error(run->env);
    const char *rule = is_rule(error->rule) ? error->rule : "";
    struct result result = { .path = verdict->path,
                             .finding = { .rule = rule,
                                          .severity = MF_ERROR,
                                          .usual = MF_ERROR,
                                          .offset = error->offset,
                                          .message = error->message } };

    if (error->file == MF_ERROR_IN_SHARD) {
        result.finding.shard = NO_SHARD;
        if (error->offset != MF_NO_OFFSET)
            result.path = shard_path(run, verdict, error);
    }
    verdict->result = &verdict->only;
    verdict->found.of[MF_ERROR] = 1;
    if (*rule) {
        verdict->room = 1;
        add(run, verdict, options, baseline, result);
    } else {
        verdict->refused = mf_status_name(error->status);
        verdict->result[verdict->count++] = result;
    }
}

void verdict_make(struct run *run, const struct mf_model *model,
                  const struct verdict_options *options,
                  struct baseline *baseline, struct verdict *verdict)
{
    if (!model || !add_findings(run, model, options, baseline, verdict))
        add_error(run, options, baseline, verdict);
    verdict->passes = baseline->slot || options->ignored.count > 0;
    for (int severity = MF_NOTE; severity <= MF_ERROR; severity++)
        if (options->hidden[severity])
            verdict->hidden.of[severity] = verdict->found.of[severity];
        else
            verdict->unshown.of[severity] = verdict->found.of[severity];
    for (size_t i = 0; i < verdict->count; i++)
        verdict->unshown.of[verdict->result[i].finding.severity]--;
}

void verdict_release(struct run *run, struct verdict *verdict)
{
    if (verdict->result && verdict->result != &verdict->only)
        mf_env_resize(run->env, verdict->result,
                      verdict->room * sizeof(*verdict->result), 0);
    buffer_release(run, &verdict->shard_path);
}
