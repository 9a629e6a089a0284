/* SPDX-License-Identifier: MIT
 *
 * help.c - modelfile help and modelfile version
 */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

/* Where the explanation of an option or command begins. */
#define OPTION_COLUMN  29
#define COMMAND_COLUMN 31

static const char *space_before(const struct command *command)
{
    return *command->sub ? " " : "";
}

/* A line of two columns; the second goes on below itself. */
static void row(struct run *run, const char *first, size_t column,
                const char *second)
{
    size_t taken = strlen(first);

    out_text(&run->out, first);
    if (taken >= column) {
        out_text(&run->out, "\n");
        taken = 0;
    }
    out_spaces(&run->out, column - taken);
    out_wrapped(&run->out, second, column);
}

static void option_lines(struct run *run, const struct option *option)
{
    char first[100];

    for (; option && option->name; option++) {
        if (!option->help)
            continue;
        snprintf(first, sizeof(first), "  %s%s%s", option->name,
                 option->choices ? " " : "",
                 option->choices ? option->choices : "");
        row(run, first, OPTION_COLUMN, option->help);
    }
}

static void example_lines(struct run *run, const char *examples)
{
    while (*examples) {
        size_t size = strcspn(examples, "\n");

        out_text(&run->out, "  ");
        out_bytes(&run->out, examples, size);
        out_text(&run->out, "\n");
        examples += size + 1;
    }
}

/* The words that TYPE may be. */
static void mix_lines(struct run *run)
{
    char words[1024] = "";
    struct mf_mix_info mix;
    size_t size = 0;

    out_text(&run->out, "\nTYPE is a mix of llama-quantize:\n  ");
    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        if (mix.available && size + strlen(mix.name) + 2 < sizeof(words))
            size += (size_t)snprintf(words + size, sizeof(words) - size, "%s%s",
                                     size > 0 ? " " : "", mix.name);
    out_wrapped(&run->out, words, 2);
    out_text(&run->out, "or the type of all tensors, such as mxfp4, nvfp4, "
                        "apr_q4, apr_q8\n");
}

void help_command(struct run *run, const struct command *command)
{
    struct out *out = &run->out;

    if (run->options.json) {
        help_json(run, command->name, command->sub);
        return;
    }
    out_format(out, "%s%s%s - %s\n\n", command->name, space_before(command),
               command->sub, command->summary);
    example_lines(run, command->examples);
    out_format(out, "\nusage: modelfile %s%s%s %s\n", command->name,
               space_before(command), command->sub, command->operands);
    if (command->execute == command_quantize)
        mix_lines(run);
    out_text(out, "\noptions:\n");
    option_lines(run, command->options);
    option_lines(run, common_options);
}

static void help_all(struct run *run)
{
    const struct exit_meaning *exit = exit_meanings;
    struct out *out = &run->out;
    char first[100];

    out_text(
        out,
        "modelfile - look into, check, convert and quantize model files\n\n"
        "  modelfile info model.gguf\n"
        "  modelfile tensors model.safetensors --top 10\n"
        "  modelfile meta get model.apr architecture\n\n"
        "commands:\n");
    for (const struct command *command = commands; command->name; command++) {
        snprintf(first, sizeof(first), "  %s%s%s %s", command->name,
                 space_before(command), command->sub, command->operands);
        row(run, first, COMMAND_COLUMN, command->summary);
    }
    out_text(out, "\noptions of every command:\n");
    option_lines(run, common_options);
    out_text(out, "\n'-' is standard input where that is a file.\n\n"
                  "exit codes:\n");
    for (; exit->meaning; exit++) {
        snprintf(first, sizeof(first), "  %d", exit->code);
        row(run, first, 7, exit->meaning);
    }
}

void command_help(struct run *run)
{
    const struct command *command;

    if (run->operand_count == 0) {
        if (run->options.json)
            help_json(run, NULL, NULL);
        else
            help_all(run);
        return;
    }
    command = command_find(run->operand[0],
                           run->operand_count > 1 ? run->operand[1] : NULL);
    if (!command) {
        report_usage(run, "there is no command '%.60s'; see: modelfile help",
                     run->operand[0]);
        return;
    }
    if (run->options.json) {
        help_json(run, command->name,
                  run->operand_count > 1 ? command->sub : NULL);
        return;
    }
    /* `help meta` tells of all that begin with it. */
    if (run->operand_count > 1) {
        help_command(run, command);
        return;
    }
    for (bool first = true;
         command->name && strcmp(command->name, run->operand[0]) == 0;
         command++, first = false) {
        if (!first)
            out_text(&run->out, "\n");
        help_command(run, command);
    }
}

/* ---- version ---- */

/* Of several dialects of a format the one with the shortest suffix stands for
 * all: an index lists files of it. */
static bool stands_for_format(size_t index, const struct mf_format_info *format)
{
    size_t size = strlen(format->suffix);
    struct mf_format_info other;

    for (size_t i = 0; mf_format_at(i, &other); i++)
        if (strcmp(other.name, format->name) == 0 &&
            (strlen(other.suffix) < size ||
             (i < index && strlen(other.suffix) == size)))
            return false;
    return true;
}

static void suffixes_json(struct run *run, const char *name)
{
    struct mf_format_info format;
    const char *last = "";

    mf_json_key(&run->json, "suffixes");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_format_at(i, &format); i++) {
        if (strcmp(format.name, name) != 0 || strcmp(format.suffix, last) == 0)
            continue; /* dialects may share one */
        last = format.suffix;
        mf_json_string(&run->json, last, strlen(last));
    }
    mf_json_end(&run->json, ']');
}

static void formats_json(struct run *run)
{
    struct mf_format_info format;

    mf_json_key(&run->json, "formats");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_format_at(i, &format); i++) {
        if (!stands_for_format(i, &format))
            continue;
        mf_json_begin(&run->json, '{');
        json_text(run, "name", format.name);
        json_text(run, "suffix", format.suffix);
        suffixes_json(run, format.name);
        json_text(run, "description", format.description);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void types_json(struct run *run)
{
    struct mf_format_info format;
    struct mf_type_info type;

    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        mf_json_begin(&run->json, '{');
        json_text(run, "name", type.name);
        json_number(run, "block", type.block);
        json_number(run, "bytes", type.size);
        for (size_t k = 0; mf_format_at(k, &format); k++)
            if (stands_for_format(k, &format))
                json_bool(run, format.name, mf_type_in(type.name, format.name));
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static const char *compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

/* This run's own, which is any run's. */
static void sandbox_json(struct run *run)
{
    const struct sandbox *sandbox = &run->sandbox;

    mf_json_key(&run->json, "sandbox");
    mf_json_begin(&run->json, '{');
    json_number(run, "landlock", sandbox->landlock);
    json_bool(run, "seccomp", sandbox->seccomp);
    mf_json_key(&run->json, "off");
    if (sandbox->off)
        mf_json_string(&run->json, sandbox->off, strlen(sandbox->off));
    else
        mf_json_null(&run->json);
    mf_json_end(&run->json, '}');
}

void command_version(struct run *run)
{
    if (!run->options.json) {
        out_format(&run->out, "modelfile %s\n", mf_version());
        return;
    }
    report_begin(run);
    json_text(run, "version", mf_version());
    json_text(run, "compiler", compiler());
    sandbox_json(run);
    formats_json(run);
    types_json(run);
    report_end(run);
    out_text(&run->out, "\n");
}
