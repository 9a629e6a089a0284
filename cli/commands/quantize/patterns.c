/* SPDX-License-Identifier: MIT
 *
 * patterns.c - --tensor-type and --tensor-type-file: types for some tensors
 *
 * The first pattern that matches a tensor decides, so both options count in the
 * order in which they were given, and a file in the order of its lines.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/quantize/quantize.h"
#include "cli/report.h"
#include "cli/types.h"

/* ---- one pattern ---- */

/* Splits PATTERN=TYPE in place; false if it is not one. */
static bool split(char *text, struct mf_tensor_type *out)
{
    char *equals = strrchr(text, '=');

    if (!equals || equals == text || !equals[1])
        return false;
    *equals = 0;
    *out = (struct mf_tensor_type){ .pattern = text, .type = equals + 1 };
    return true;
}

/* Doubles the room where there is none left; false after an error of the env.
 */
static bool make_room(struct run *run, struct patterns *patterns)
{
    size_t room = patterns->room > 0 ? 2 * patterns->room : 64;
    void *moved;

    if (patterns->count < patterns->room)
        return true;
    moved = mf_env_resize(run->env, patterns->at,
                          patterns->room * sizeof(*patterns->at),
                          room * sizeof(*patterns->at));
    if (!moved)
        return false;
    patterns->at = moved;
    patterns->room = room;
    return true;
}

/* An argument: it can be split in place. */
static bool add_argument(struct run *run, char *text, struct patterns *patterns)
{
    struct mf_tensor_type *type;

    if (!make_room(run, patterns)) {
        report_memory(run, run->operand[0]);
        return false;
    }
    type = &patterns->at[patterns->count++];
    if (!split(text, type)) {
        report_usage(run,
                     "invalid value '%.100s' for '--tensor-type': expected "
                     "PATTERN=TYPE",
                     text);
        return false;
    }
    if (mf_pattern_check(run->env, type->pattern) != MF_OK) {
        report_usage(run, "'--tensor-type': %s",
                     mf_env_error(run->env)->message);
        return false;
    }
    return types_check_tensor(run, "--tensor-type", type->type);
}

/* ---- a file of patterns ---- */

/* White space as llama-quantize has it, and the end. */
static const char space[] = " \t\n\v\f\r";

static bool add_word(struct run *run, const char *path, size_t line, char *word,
                     struct patterns *patterns)
{
    struct mf_tensor_type *type;

    if (patterns->count >= MF_PATTERNS_MAX) {
        report_input(run, path, "line %zu: more than %d patterns", line,
                     MF_PATTERNS_MAX);
        return false;
    }
    if (!make_room(run, patterns)) {
        report_memory(run, path);
        return false;
    }
    type = &patterns->at[patterns->count++];
    if (!split(word, type))
        report_input(run, path, "line %zu: expected PATTERN=TYPE, not '%.100s'",
                     line, word);
    else if (mf_pattern_check(run->env, type->pattern) != MF_OK)
        report_input(run, path, "line %zu: %s", line,
                     mf_env_error(run->env)->message);
    else if (!types_is_tensor(type->type))
        report_input(run, path, "line %zu: unknown tensor type '%.60s'%s", line,
                     type->type, types_nearest(type->type).hint);
    else
        return true;
    return false;
}

static bool add_words(struct run *run, const char *path, char *text,
                      struct patterns *patterns)
{
    size_t line = 1;

    while (*text) {
        size_t size = strcspn(text, space);
        char end = text[size];

        text[size] = 0;
        if (size > 0 && !add_word(run, path, line, text, patterns))
            return false;
        line += end == '\n';
        text += size + (end != 0);
    }
    return true;
}

static bool add_file(struct run *run, const char *path,
                     struct patterns *patterns)
{
    /* Room for as many patterns as are allowed, of 250 bytes each: names of
     * tensors have at most 64. */
    static const struct textkind kind = { .what = "the list of tensor types",
                                          .size_max = (size_t)1 << 20,
                                          .nul_refused = true };
    struct textfile *file = &patterns->file[patterns->file_count];

    if (!textfile_read(run, path, &kind, file))
        return false;
    patterns->file_count++;
    return add_words(run, path, file->text, patterns);
}

/* ---- all of them ---- */

bool patterns_read(struct run *run, const struct text_list *types,
                   const struct text_list *files, const char *recipe,
                   struct patterns *out)
{
    size_t t = 0, f = 0;

    if (recipe && !add_file(run, recipe, out))
        return false;
    while (t < types->count || f < files->count) {
        bool is_file = f < files->count &&
                       (t == types->count || files->place[f] < types->place[t]);

        if (is_file ? !add_file(run, files->at[f++], out)
                    : !add_argument(run, (char *)types->at[t++], out))
            return false;
    }
    if (out->count == 0)
        return true;
    out->tensors =
        mf_env_resize(run->env, NULL, 0, out->room * sizeof(*out->tensors));
    if (!out->tensors)
        report_memory(run, run->operand[0]);
    return out->tensors != NULL;
}

void patterns_release(struct run *run, struct patterns *patterns)
{
    if (patterns->at)
        mf_env_resize(run->env, patterns->at,
                      patterns->room * sizeof(*patterns->at), 0);
    if (patterns->tensors)
        mf_env_resize(run->env, patterns->tensors,
                      patterns->room * sizeof(*patterns->tensors), 0);
    for (size_t i = 0; i < patterns->file_count; i++)
        textfile_release(run, &patterns->file[i]);
    *patterns = (struct patterns){ .count = 0 };
}

/* ---- patterns without effect ---- */

#define SHOWN 10

void patterns_warn(struct run *run, const struct patterns *patterns)
{
    size_t unused = 0;
    char text[256];

    for (size_t i = 0; i < patterns->count; i++) {
        if (patterns->tensors[i] > 0 || unused++ >= SHOWN)
            continue;
        snprintf(text, sizeof(text),
                 "warning: pattern '%.100s' of '--tensor-type' applies to no "
                 "tensor",
                 patterns->at[i].pattern);
        report_remark(run, run->operand[0], text);
    }
    if (unused <= SHOWN)
        return;
    snprintf(text, sizeof(text),
             "warning: %zu more patterns of '--tensor-type' apply to no tensor",
             unused - SHOWN);
    report_remark(run, run->operand[0], text);
}

void patterns_json(struct run *run, const struct patterns *patterns)
{
    mf_json_key(&run->json, "unused_patterns");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < patterns->count; i++)
        if (patterns->tensors[i] == 0)
            mf_json_string(&run->json, patterns->at[i].pattern,
                           strlen(patterns->at[i].pattern));
    mf_json_end(&run->json, ']');
}
