/* SPDX-License-Identifier: MIT
 *
 * coverage.c - validate --coverage: what was checked of a file, and what not
 */
#include <inttypes.h>
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/json.h"

static void begin_line(struct run *run, const struct verdict *verdict)
{
    out_escaped(&run->out, str_of(verdict->path), "");
    out_text(&run->out, COVERAGE_WORDS);
}

/* Whether an earlier rule was skipped for the same reason. */
static bool is_reported(const struct mf_model *model, size_t before,
                        const char *why)
{
    struct mf_rule_info rule;

    for (size_t i = 0; i < before && mf_rule_at(i, &rule); i++) {
        const char *other = mf_rule_skipped(model, rule.id);

        if (other && strcmp(other, why) == 0)
            return true;
    }
    return false;
}

static size_t count_skipped(const struct mf_model *model, const char *why)
{
    struct mf_rule_info rule;
    size_t count = 0;

    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        const char *other = mf_rule_skipped(model, rule.id);

        count += other && strcmp(other, why) == 0;
    }
    return count;
}

void coverage_text(struct run *run, const struct verdict *verdict)
{
    const struct mf_coverage *bytes = &verdict->coverage;
    struct mf_rule_info rule;
    const char *before = "";

    if (!verdict->model)
        return;
    begin_line(run, verdict);
    out_format(&run->out,
               "bytes: header %" PRIu64 ", tensors %" PRIu64
               ", padding %" PRIu64 ", footer %" PRIu64 ", gaps %" PRIu64 "\n",
               bytes->header_bytes, bytes->tensor_bytes, bytes->padding_bytes,
               bytes->footer_bytes, bytes->gap_bytes);
    begin_line(run, verdict);
    out_format(&run->out, "rules: %zu of %zu applied\n", bytes->applied_count,
               bytes->rule_count);
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        const char *why = mf_rule_skipped(verdict->model, rule.id);

        if (!why || is_reported(verdict->model, i, why))
            continue;
        begin_line(run, verdict);
        out_format(&run->out, "rules: %zu not applied: %s\n",
                   count_skipped(verdict->model, why), why);
    }
    begin_line(run, verdict);
    out_text(&run->out, "readers: ");
    for (unsigned bit = 1; bit <= bytes->readers; bit *= 2)
        if (bytes->readers & bit) {
            out_format(&run->out, "%s%s", before,
                       mf_readers_name((enum mf_readers)bit));
            before = ", ";
        }
    out_text(&run->out, "\n");
}

static void skipped_json(struct run *run, const struct mf_model *model)
{
    struct mf_json_out *json = &run->json;
    struct mf_rule_info rule;

    mf_json_key(json, "not_applied");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        const char *why = mf_rule_skipped(model, rule.id);

        if (!why)
            continue;
        mf_json_begin(json, '{');
        json_text(run, "id", rule.id);
        json_text(run, "reason", why);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

void coverage_json(struct run *run, const struct verdict *verdict)
{
    const struct mf_coverage *bytes = &verdict->coverage;
    struct mf_json_out *json = &run->json;

    if (!verdict->model)
        return;
    mf_json_key(json, "coverage");
    mf_json_begin(json, '{');
    json_number(run, "file_bytes", bytes->file_bytes);
    json_number(run, "checked_bytes", bytes->checked_bytes);
    json_number(run, "header_bytes", bytes->header_bytes);
    json_number(run, "tensor_bytes", bytes->tensor_bytes);
    json_number(run, "padding_bytes", bytes->padding_bytes);
    json_number(run, "footer_bytes", bytes->footer_bytes);
    json_number(run, "gap_bytes", bytes->gap_bytes);
    json_number(run, "rules", bytes->rule_count);
    json_number(run, "applied", bytes->applied_count);
    skipped_json(run, verdict->model);
    mf_json_key(json, "readers");
    mf_json_begin(json, '[');
    for (unsigned bit = 1; bit <= bytes->readers; bit *= 2)
        if (bytes->readers & bit) {
            const char *name = mf_readers_name((enum mf_readers)bit);

            mf_json_string(json, name, strlen(name));
        }
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}
