/* SPDX-License-Identifier: MIT
 *
 * help.c - modelfile help and modelfile version
 */
#include <string.h>

#include "cli/cli.h"

static void name_text(struct run *run, const struct command *command)
{
    out_text(&run->out, command->name);
    if (*command->sub)
        out_text(&run->out, " ");
    out_text(&run->out, command->sub);
}

static size_t width(const char *a, const char *b)
{
    return strlen(a) + (b && *b ? 1 + strlen(b) : 0);
}

static void pad(struct run *run, size_t taken, size_t column)
{
    out_spaces(&run->out, taken < column ? column - taken : 1);
}

static void option_lines(struct run *run, const struct option *option)
{
    for (; option && option->name; option++) {
        size_t taken = strlen(option->name);

        if (!option->help)
            continue;
        out_text(&run->out, "  ");
        out_text(&run->out, option->name);
        if (option->choices) {
            out_text(&run->out, " ");
            out_text(&run->out, option->choices);
            taken += 1 + strlen(option->choices);
        }
        pad(run, taken, 27);
        out_line(&run->out, option->help);
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
    const size_t width = 76;
    size_t taken = width;
    struct mf_mix_info mix;

    out_text(&run->out, "\nTYPE is a mix of llama-quantize:");
    for (size_t i = 0; mf_mix_at(i, &mix); i++) {
        if (!mix.available)
            continue;
        taken += 1 + strlen(mix.name);
        if (taken > width) {
            out_text(&run->out, "\n ");
            taken = 2 + strlen(mix.name);
        }
        out_format(&run->out, " %s", mix.name);
    }
    out_text(&run->out, "\nor the type of all tensors, such as mxfp4, nvfp4, "
                        "apr_q4, apr_q8\n");
}

void help_command(struct run *run, const struct command *command)
{
    name_text(run, command);
    out_format(&run->out, " - %s\n\n", command->summary);
    example_lines(run, command->examples);
    out_text(&run->out, "\nusage: modelfile ");
    name_text(run, command);
    out_format(&run->out, " %s\n", command->operands);
    if (command->execute == command_quantize)
        mix_lines(run);
    out_text(&run->out, "\noptions:\n");
    option_lines(run, command->options);
    option_lines(run, common_options);
}

static void help_all(struct run *run)
{
    struct out *out = &run->out;

    out_text(
        out,
        "modelfile - look into, check, convert and quantize model files\n\n"
        "  modelfile info model.gguf\n"
        "  modelfile tensors model.safetensors --top 10\n"
        "  modelfile meta get model.apr architecture\n\n"
        "commands:\n");
    for (const struct command *command = commands; command->name; command++) {
        size_t taken =
            width(command->name, command->sub) + 1 + strlen(command->operands);

        out_text(out, "  ");
        name_text(run, command);
        out_format(out, " %s", command->operands);
        pad(run, taken, 29);
        out_line(out, command->summary);
    }
    out_text(out, "\noptions of every command:\n");
    option_lines(run, common_options);
    out_text(out,
             "\n'-' is standard input where that is a file. Exit codes: 0 "
             "done, 1 the answer is\nno, 2 the command line is wrong, 3 an "
             "input cannot be read, 4 an output cannot\nbe written.\n");
}

void command_help(struct run *run)
{
    const struct command *command;

    if (run->operand_count == 0) {
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

static void formats_json(struct run *run)
{
    struct mf_format_info format;
    const char *last = "";

    mf_json_key(&run->json, "formats");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_format_at(i, &format); i++) {
        if (strcmp(format.name, last) == 0)
            continue; /* another dialect of the same */
        last = format.name;
        mf_json_begin(&run->json, '{');
        json_text(run, "name", format.name);
        json_text(run, "suffix", format.suffix);
        json_text(run, "description", format.description);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void types_json(struct run *run)
{
    struct mf_type_info type;

    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        mf_json_begin(&run->json, '{');
        json_text(run, "name", type.name);
        json_number(run, "block", type.block);
        json_number(run, "bytes", type.size);
        json_bool(run, "gguf", type.gguf);
        json_bool(run, "apr", type.apr);
        json_bool(run, "safetensors", type.safetensors);
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
