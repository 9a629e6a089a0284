/* SPDX-License-Identifier: MIT
 *
 * names.c - which tensors or keys an operand names, and what it may mean where
 * it names none
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* All of a model, one by one. */
struct each_name {
    const struct mf_model *model;
    enum named named;
    size_t index;
};

static const char *next_name(void *state)
{
    struct each_name *each = state;
    struct mf_tensor tensor;
    struct mf_meta meta;

    if (each->named == NAMED_TENSOR)
        return mf_tensor_at(each->model, each->index++, &tensor)
                   ? tensor.name.at
                   : NULL;
    return mf_meta_at(each->model, each->index++, &meta) ? meta.key.at : NULL;
}

static const char *const words[] = {
    [NAMED_TENSOR] = "tensor", [NAMED_KEY] = "key"
};

bool names_match(const char *pattern, struct mf_str name)
{
    return !pattern || fnmatch(pattern, name.at, 0) == 0;
}

void names_missing(struct run *run, const struct mf_model *model,
                   enum named named, const char *name)
{
    struct each_name each = { model, named, 0 };

    report_usage(run, "%.200s: there is no %s '%.200s'%s", run->operand[0],
                 words[named], name, args_hint(name, next_name, &each).text);
}

/* A part of a name, which * would make a pattern of all of it. */
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

void names_is_file(struct run *run, enum named named, const char *pattern)
{
    report_usage(run,
                 "'%.200s' is a file, and the second operand is a pattern for "
                 "names of %ss: list one file at a time",
                 pattern, words[named]);
}

void names_unmatched(struct run *run, const struct mf_model *model,
                     enum named named, const char *pattern)
{
    struct each_name each = { model, named, 0 };

    if (access(pattern, F_OK) == 0)
        names_is_file(run, named, pattern);
    else if (is_part(model, named, pattern))
        report_usage(run,
                     "%.200s: no %s matches '%.100s'; did you mean '*%.100s*'?",
                     run->operand[0], words[named], pattern, pattern);
    else
        report_usage(run, "%.200s: no %s matches '%.200s'%s", run->operand[0],
                     words[named], pattern,
                     args_hint(pattern, next_name, &each).text);
}
