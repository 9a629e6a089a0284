/* SPDX-License-Identifier: MIT
 *
 * types.c - quantization types on the command line: known, or which is meant
 */
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

/* Mixes first, then types of tensors. */
struct each_type {
    size_t mix, type;
    bool tensors; /* only what a tensor can be */
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

bool types_quantize_known(struct run *run, const char *name)
{
    struct each_type each = { 0 };
    struct args_hint hint;

    if (mf_mix_name(name))
        return true;
    hint = args_hint(name, next_type, &each);
    report_usage(run, "unknown quantization type '%.60s'%s", name,
                 *hint.text ? hint.text : "; see: modelfile help quantize");
    return false;
}

struct args_hint types_hint(const char *name)
{
    struct each_type each = { .tensors = true };

    return args_hint(name, next_type, &each);
}

bool types_tensor_known(struct run *run, const char *option, const char *name)
{
    struct each_type each = { .tensors = true };
    const char *type;

    while ((type = next_type(&each)) != NULL)
        if (strcasecmp(type, name) == 0)
            return true;
    report_usage(run, "'%s': unknown tensor type '%.60s'%s", option, name,
                 types_hint(name).text);
    return false;
}

bool types_is_near(const char *word)
{
    struct each_type each = { 0 };

    return !strpbrk(word, "./") && *args_hint(word, next_type, &each).text;
}
