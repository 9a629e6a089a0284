/* SPDX-License-Identifier: MIT
 *
 * request.c - the options of modelfile quantize as the library takes them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/quantize/quantize.h"
#include "cli/report.h"
#include "cli/types.h"

static bool parse_tensor_types(struct run *run,
                               const struct quantize_options *options,
                               struct request *request)
{
    struct patterns *patterns = &request->patterns;

    if (!patterns_read(run, &options->tensor_types, &options->tensor_type_files,
                       options->recipe, patterns))
        return false;
    request->recipe = options->recipe;
    request->options.tensor_types = patterns->at;
    request->options.tensor_type_tensors = patterns->tensors;
    request->options.tensor_type_count = patterns->count;
    return true;
}

/* llama-quantize writes the absolute value, as u32.  It would drop the high
 * bits of a large one, so that is an error here. */
static bool parse_integer(struct mf_edit *edit, const char *value)
{
    unsigned long long number;
    char *end;

    value += *value == '-';
    errno = 0;
    number = strtoull(value, &end, 10);
    edit->type = MF_VALUE_U32;
    edit->number.u64 = number;
    return *value >= '0' && *value <= '9' && !*end && errno == 0 &&
           number <= UINT32_MAX;
}

/* The types are those that llama.cpp's loader overrides with. */
static bool parse_override(struct mf_edit *edit, char *text)
{
    char *equals = strchr(text, '='), *value, *end = NULL;

    if (!equals || equals == text)
        return false;
    *equals = 0;
    *edit = (struct mf_edit){ .key = text };
    value = strchr(equals + 1, ':');
    if (!value)
        return false;
    *value++ = 0;
    if (strcmp(equals + 1, "str") == 0) {
        edit->type = MF_VALUE_STRING;
        edit->text = str_of(value);
        return true;
    }
    if (strcmp(equals + 1, "bool") == 0) {
        edit->type = MF_VALUE_BOOL;
        edit->number.boolean = strcmp(value, "true") == 0;
        return edit->number.boolean || strcmp(value, "false") == 0;
    }
    if (strcmp(equals + 1, "int") == 0)
        return parse_integer(edit, value);
    edit->type = MF_VALUE_F32;
    edit->number.f64 = (double)(float)strtod(value, &end);
    return strcmp(equals + 1, "float") == 0 && *value && !*end;
}

static bool parse_overrides(struct run *run, const struct text_list *list,
                            struct request *request)
{

    for (size_t i = 0; i < list->count; i++) {
        char shown[128];

        strncpy(shown, list->at[i], sizeof(shown) - 1);
        shown[sizeof(shown) - 1] = 0;
        if (!parse_override(&request->edit[i], (char *)list->at[i])) {
            report_usage(
                run,
                "invalid value '%s' for '--override-kv': expected "
                "KEY=int:7 (up to 4294967295), float:0.5, bool:true or "
                "str:text",
                shown);
            return false;
        }
    }
    request->options.edits = request->edit;
    request->options.edit_count = list->count;
    return true;
}

/* The numbers of one --prune-layers; false if it is not a list of numbers. */
static bool add_layers(struct request *request, const char *text)
{
    size_t *count = &request->options.prune_count;

    do {
        char *end;
        unsigned long number = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || (*end && *end != ',') ||
            number > UINT32_MAX || *count == LAYERS_MAX)
            return false;
        request->prune[(*count)++] = (uint32_t)number;
        text = *end ? end + 1 : end;
    } while (*text);
    return true;
}

static bool parse_layers(struct run *run, const struct text_list *list,
                         struct request *request)
{
    request->options.prune = request->prune;
    for (size_t i = 0; i < list->count; i++)
        if (!add_layers(request, list->at[i])) {
            report_usage(run,
                         "invalid value '%.60s' for '--prune-layers': expected "
                         "at most %d numbers such as 20,21",
                         list->at[i], LAYERS_MAX);
            return false;
        }
    return true;
}

static bool check_weights(struct run *run,
                          const struct quantize_options *options)
{
    bool include = options->include_weights.count > 0;
    bool exclude = options->exclude_weights.count > 0;

    if (include && exclude)
        report_usage(run, "'--include-weights' and '--exclude-weights' cannot "
                          "both be given");
    else if ((include || exclude) && !options->imatrix)
        report_usage(run, "'%s' requires '--imatrix'",
                     include ? "--include-weights" : "--exclude-weights");
    else
        return true;
    return false;
}

static bool check_types(struct run *run, const struct quantize_options *options,
                        const char *type)
{
    return (!type || types_check_mix(run, type)) &&
           (!options->output_type ||
            types_check_tensor(run, "--output-type", options->output_type)) &&
           (!options->embedding_type ||
            types_check_tensor(run, "--embedding-type",
                               options->embedding_type));
}

bool request_make(struct run *run, const struct quantize_options *options,
                  const char *type, struct request *out)
{
    if (!check_types(run, options, type) || !check_weights(run, options))
        return false;
    out->options = (struct mf_quantize_options){
        .size = sizeof(struct mf_quantize_options),
        .type = type,
        .pure = options->pure,
        .leave_output = options->leave_output,
        .allow_requantize = options->allow_requantize,
        .keep_split = options->keep_split,
        .report = options->report,
        .effort = 1 + options->effort,
        .output_type = options->output_type,
        .embedding_type = options->embedding_type,
        .imatrix = options->imatrix,
        .include = options->include_weights.at,
        .include_count = options->include_weights.count,
        .exclude = options->exclude_weights.at,
        .exclude_count = options->exclude_weights.count,
        .planned = table_show,
        .planned_user = run,
    };
    return parse_overrides(run, &options->overrides, out) &&
           parse_layers(run, &options->prune_layers, out) &&
           parse_tensor_types(run, options, out);
}

void request_release(struct run *run, struct request *request)
{
    patterns_release(run, &request->patterns);
}
