/* SPDX-License-Identifier: MIT
 *
 * request.c - what modelfile plan is asked, from its options
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/plan/plan.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/types.h"
#include "cli/units.h"

/* What llama.cpp leaves free on each device when it fits a model. */
#define MARGIN_DEFAULT ((uint64_t)1024 * 1024 * 1024)

/* The next element of a list with commas, copied; false if it is too long. */
static bool next_element(const char **rest, char *out, size_t room)
{
    size_t size = strcspn(*rest, ",");

    if (size >= room)
        return false;
    memcpy(out, *rest, size);
    out[size] = 0;
    *rest += size + ((*rest)[size] == ',');
    return true;
}

static bool ends_with_comma(const char *list)
{
    size_t size = strlen(list);

    return size > 0 && list[size - 1] == ',';
}

static bool bad_contexts(struct run *run, const char *list)
{
    report_usage(run,
                 "invalid value '%.60s' for '--ctx': not a number of tokens "
                 "such as 4096, 32k or 1M, or a list of at most %d",
                 list, CONTEXTS_MAX);
    return false;
}

static bool read_contexts(struct run *run, const char *list,
                          struct plan_request *out)
{
    const char *rest = list;
    char element[32];

    if (!list) {
        out->context_count = 1;
        return true;
    }
    do {
        if (out->context_count == CONTEXTS_MAX || ends_with_comma(list) ||
            !next_element(&rest, element, sizeof(element)) ||
            !units_tokens(element, &out->context[out->context_count]))
            return bad_contexts(run, list);
        out->context_count++;
    } while (*rest);
    return true;
}

static bool bad_devices(struct run *run, const char *list, const char *option)
{
    report_usage(run,
                 "invalid value '%.60s' for '%s': not a size such as 24G or "
                 "16GiB, or a list of at most %d",
                 list, option, MF_PLAN_DEVICES);
    return false;
}

static bool read_devices(struct run *run, const char *list, const char *option,
                         struct plan_request *out)
{
    size_t *count = &out->options.device_count;
    const char *rest = list;
    char element[32];

    if (!list)
        return true;
    do {
        if (*count == MF_PLAN_DEVICES || ends_with_comma(list) ||
            !next_element(&rest, element, sizeof(element)) ||
            !units_memory(element, &out->device_limit[*count]))
            return bad_devices(run, list, option);
        ++*count;
    } while (*rest);
    out->options.device_limits = out->device_limit;
    return true;
}

static bool read_offload(struct run *run, const char *text,
                         struct mf_plan_options *out)
{
    unsigned long long number;
    char *end;

    if (!text)
        return true;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) {
        report_usage(run,
                     "invalid value '%.60s' for '--offload': not a number of "
                     "layers from 0 up",
                     text);
        return false;
    }
    out->offloaded = true;
    out->offload = number;
    return true;
}

static bool read_margin(struct run *run, const char *text,
                        struct plan_request *out)
{
    out->margin = MARGIN_DEFAULT;
    if (!text || units_memory(text, &out->margin))
        return true;
    out->margin = 0;
    if (strcmp(text, "0") == 0)
        return true;
    report_usage(run,
                 "invalid value '%.60s' for '--margin': not 0 or a size such "
                 "as 512M or 1GiB",
                 text);
    return false;
}

static bool read_fit(struct run *run, const char *text,
                     struct plan_request *out)
{
    if (!text || units_memory(text, &out->limit))
        return true;
    report_usage(run,
                 "invalid value '%.60s' for '--fit': not a size such as 16G or "
                 "24GiB",
                 text);
    return false;
}

/* Whether the options make sense together. */
static bool is_usable(struct run *run, const struct plan_options *options)
{
    if (options->formula_kv && !options->formula)
        report_usage(run, "'--kv' is for '--formula'; the types of the cache "
                          "are '--type-k' and '--type-v'");
    else if (options->gpu && options->devices)
        report_usage(run, "'--gpu' and '--devices' say the same: give one of "
                          "them");
    else if (options->formula &&
             (options->fit || options->devices || options->gpu ||
              options->offload || options->plot))
        report_usage(run, "'--formula' cannot be given with '%s'",
                     options->fit       ? "--fit"
                     : options->devices ? "--devices"
                     : options->gpu     ? "--gpu"
                     : options->offload ? "--offload"
                                        : "--plot");
    else if (options->margin && !options->fit && !options->gpu)
        report_usage(run, "'--margin' is for '--fit' and '--gpu'");
    else if (options->plot && !*options->plot)
        report_usage(run, "'--plot' needs the name of a file");
    else
        return !options->plot || output_fits(run, options->plot);
    return false;
}

bool plan_request_make(struct run *run, const struct plan_options *options,
                       struct plan_request *out)
{
    *out = (struct plan_request){
        .options = { .size = sizeof(out->options),
                     .sequences = options->sequences,
                     .ubatch = options->ubatch,
                     .as = options->as ? mf_mix_name(options->as) : NULL,
                     .type_k = options->type_k,
                     .type_v = options->type_v,
                     .flash = (enum mf_flash)options->flash,
                     .full_windows = options->full_windows,
                     .unified = options->unified,
                     .cpu_experts = options->cpu_experts },
        .fits = options->fit || options->gpu,
        .plot = options->plot,
        .formula = options->formula,
        .formula_kv = options->formula_kv,
    };
    return is_usable(run, options) &&
           (!options->as || types_check_mix(run, options->as)) &&
           read_contexts(run, options->contexts, out) &&
           read_devices(run, options->devices, "--devices", out) &&
           read_devices(run, options->gpu, "--gpu", out) &&
           read_fit(run, options->fit, out) &&
           read_offload(run, options->offload, &out->options) &&
           read_margin(run, options->margin, out);
}
