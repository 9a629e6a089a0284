/* SPDX-License-Identifier: MIT
 *
 * names.c - tensors and metadata keys that operands name
 */
#include "cli/names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/nearest.h"
#include "cli/report.h"

/* All of a model, one by one. */
struct each_name {
    const struct mf_model *model;
    enum named named;
    size_t index;
};

static const char *next_name(void *state)
{
    struct each_name *each = state;
    struct mf_column column;
    struct mf_tensor tensor;
    struct mf_meta meta;

    if (each->named == NAMED_COLUMN)
        return mf_column_at(each->model, each->index++, &column)
                   ? column.path.at
                   : NULL;
    if (each->named == NAMED_TENSOR)
        return mf_tensor_at(each->model, each->index++, &tensor)
                   ? tensor.name.at
                   : NULL;
    return mf_meta_at(each->model, each->index++, &meta) ? meta.key.at : NULL;
}

static const char *const words[] = {
    [NAMED_TENSOR] = "tensor",
    [NAMED_KEY] = "metadata key",
    [NAMED_COLUMN] = "column",
};

bool names_match(const char *pattern, struct mf_str name)
{
    return !pattern || fnmatch(pattern, name.at, 0) == 0;
}

void names_missing(struct run *run, const struct mf_model *model,
                   enum named named, const char *name)
{
    struct each_name each = { model, named, 0 };

    report_absent(run, "%.200s: no %s '%.200s'%s", run->operand[0],
                  words[named], name,
                  nearest_word(name, next_name, &each).hint);
}

/* Some name contains the pattern: '*' around it is missing. */
static bool is_part(const struct mf_model *model, enum named named,
                    const char *pattern)
{
    struct each_name each = { model, named, 0 };
    const char *name;

    while ((name = next_name(&each)) != NULL)
        if (strstr(name, pattern))
            return true;
    return false;
}

static void pattern_is_file(struct run *run, enum named named,
                            const char *pattern)
{
    report_usage(run,
                 "'%.200s' is a file, but the second argument is a pattern "
                 "for %ss: list one file at a time",
                 pattern, words[named]);
}

bool names_one_file(struct run *run, enum named named)
{
    if (run->operand_count <= run->command->operands_max ||
        access(run->operand[1], F_OK) != 0)
        return true;
    pattern_is_file(run, named, run->operand[1]);
    return false;
}

void names_unmatched(struct run *run, const struct mf_model *model,
                     enum named named, const char *pattern)
{
    struct each_name each = { model, named, 0 };

    if (access(pattern, F_OK) == 0)
        pattern_is_file(run, named, pattern);
    else if (is_part(model, named, pattern))
        report_absent(
            run, "%.200s: no %s matches '%.100s'; did you mean '*%.100s*'?",
            run->operand[0], words[named], pattern, pattern);
    else
        report_absent(run, "%.200s: no %s matches '%.200s'%s", run->operand[0],
                      words[named], pattern,
                      nearest_word(pattern, next_name, &each).hint);
}
