/* SPDX-License-Identifier: MIT
 *
 * types.c - quantization types and tensor types on the command line
 */
#include "cli/types.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/report.h"

/* Mixes first, then types of tensors. */
struct each_type {
    size_t mix, type;
    bool tensors; /* only types of tensors */
};

static const char *next_type(void *state)
{
    struct each_type *each = state;
    struct mf_type_info type;
    struct mf_mix_info mix;

    while (!each->tensors && mf_mix_at(each->mix++, &mix))
        if (mix.available)
            return mix.name;
    while (mf_type_at(each->type++, &type))
        if (mf_mix_name(type.name))
            return type.name;
    return NULL;
}

bool types_check_mix(struct run *run, const char *name)
{
    struct each_type each = { 0 };
    struct nearest nearest;

    if (mf_mix_name(name))
        return true;
    nearest = nearest_word(name, next_type, &each);
    report_usage(run, "unknown quantization type '%.60s'%s", name,
                 *nearest.hint ? nearest.hint
                               : "; see: modelfile help quantize");
    return false;
}

struct nearest types_nearest(const char *name)
{
    struct each_type each = { .tensors = true };

    return nearest_word(name, next_type, &each);
}

bool types_is_tensor(const char *name)
{
    struct each_type each = { .tensors = true };
    const char *type;

    while ((type = next_type(&each)) != NULL)
        if (strcasecmp(type, name) == 0)
            return true;
    return false;
}

bool types_check_tensor(struct run *run, const char *option, const char *name)
{
    if (types_is_tensor(name))
        return true;
    report_usage(run, "'%s': unknown tensor type '%.60s'%s", option, name,
                 types_nearest(name).hint);
    return false;
}

bool types_check_list(struct run *run, const char *option, const char *list)
{
    char name[64];

    for (const char *at = list; at; at = strchr(at, ',')) {
        size_t size;

        at += *at == ',' && at > list;
        size = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(size < 63 ? size : 63), at);
        if (!types_check_tensor(run, option, name))
            return false;
    }
    return true;
}

bool types_check_errors(struct run *run, const char *list)
{
    return strcmp(list, "all") == 0 || types_check_list(run, "--errors", list);
}

bool types_is_near(const char *word)
{
    struct each_type each = { 0 };

    return !strpbrk(word, "./") && *nearest_word(word, next_type, &each).hint;
}
