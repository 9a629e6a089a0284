/* SPDX-License-Identifier: MIT
 *
 * version.c - modelfile version
 */
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/build.h"
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/json.h"
#include "cli/ranks.h"

#define LABEL_COLUMN 13   /* where the names begin */
#define LIST_SIZE    1024 /* for all names, and a space each */

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
        if (!formats_is_main(&format))
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
            if (formats_is_main(&format))
                json_bool(run, format.name, mf_type_in(type.name, format.name));
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

/* What is in force in this run, as in any other. */
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

static void add_name(char *list, const char *name)
{
    size_t size = strlen(list);

    snprintf(list + size, LIST_SIZE - size, "%s%s", *list ? " " : "", name);
}

static void list_line(struct run *run, const char *label, const char *list)
{
    if (!*list)
        return;
    out_text(&run->out, label);
    out_spaces(&run->out, LABEL_COLUMN - strlen(label));
    out_wrapped(&run->out, list, LABEL_COLUMN);
}

static void version_text(struct run *run)
{
    char written[LIST_SIZE] = "", read[LIST_SIZE] = "", types[LIST_SIZE] = "";
    struct mf_format_info format;
    struct mf_type_info type;

    for (size_t i = 0; mf_format_at(i, &format); i++)
        if (formats_is_main(&format))
            add_name(format.can_write ? written : read, format.name);
    for (size_t i = 0; mf_type_at(i, &type); i++)
        add_name(types, type.name);
    out_format(&run->out, "modelfile %s\n", mf_version());
    list_line(run, "formats", written);
    list_line(run, "  only read", read);
    list_line(run, "types", types);
    if (ranks_library())
        list_line(run, "mpi", ranks_library());
#if defined(MF_NO_ZLIB)
    out_format(&run->out, "no zlib      deflated members of archives are not "
                          "read\n");
#endif
#if defined(MF_STATIC)
    out_format(&run->out, "static       no other library is loaded: neither "
                          "libcrypto nor LD_PRELOAD's\n");
#endif
}

static void version(struct run *run)
{
    if (!run->options->json) {
        version_text(run);
        return;
    }
    answer_begin(run);
    json_text(run, "version", mf_version());
    json_text(run, "compiler", build_compiler());
#if defined(MF_NO_ZLIB)
    json_bool(run, "zlib", false);
#endif
    if (ranks_library()) {
        json_text(run, "mpi", ranks_library());
        json_number(run, "ranks", ranks_count());
    }
#if defined(MF_STATIC)
    json_bool(run, "static", true);
#endif
    sandbox_json(run);
    formats_json(run);
    types_json(run);
    answer_end(run);
}

const struct command command_version = {
    .name = "version",
    .sub = "",
    .operands = "",
    .summary = "show the version, formats and tensor types",
    .about = "Prints the version, formats and tensor types that this "
             "program has, and which limits it has put on itself "
             "(sandbox).\n",
    .examples = "modelfile version --json\n",
    .no_input = true,
    .execute = version,
};
