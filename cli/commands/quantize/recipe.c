/* SPDX-License-Identifier: MIT
 *
 * recipe.c - --save-recipe and --recipe of modelfile quantize
 *
 * A recipe is a file of --tensor-type-file, which llama-quantize reads as well:
 * a line for each tensor, with its name and its type.  The mix that it is given
 * with decides nothing but general.file_type.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/quantize/target.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"

/* ---- the base ---- */

/* Whether llama-quantize has a mix of the type, with which it takes types for
 * some tensors.  Mixes have capital letters; a mix of floats takes none. */
static bool has_mix(const char *type)
{
    struct mf_type_info info;
    const char *mix = mf_mix_name(type);

    return mix && strcmp(mix, type) != 0 && mf_type_find(type, &info) &&
           info.block > 1;
}

/* Of the type with the most bytes. */
static const char *base_of(const struct mf_type_errors *errors,
                           const uint32_t *types)
{
    uint64_t bytes[MF_TYPES_MAX] = { 0 };
    size_t most = errors->types;

    for (size_t i = 0; i < errors->count; i++)
        bytes[types[i]] += errors->tensor[i].bytes[types[i]];
    for (size_t t = 0; t < errors->types; t++)
        if (bytes[t] > 0 && has_mix(errors->type_name[t]) &&
            (most == errors->types || bytes[t] > bytes[most]))
            most = t;
    return mf_mix_name(most < errors->types ? errors->type_name[most] : "q8_0");
}

/* ---- patterns ---- */

static bool is_plain(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '-' ||
           (unsigned char)letter >= 0x80;
}

/* The name alone.  llama-quantize makes the letters of patterns small: a
 * capital one is written as its number. */
static bool add_pattern(struct target *target, struct mf_str name)
{
    struct buffer *text = &target->text;
    bool done = buffer_add(target->run, text, "^", 1);

    for (size_t i = 0; i < name.size && done; i++) {
        unsigned char letter = (unsigned char)name.at[i];
        char number[8];

        snprintf(number, sizeof(number), "\\x%02x", letter);
        if (isupper(letter))
            done = buffer_add(target->run, text, number, 4);
        else if (is_plain(name.at[i]))
            done = buffer_add(target->run, text, name.at + i, 1);
        else
            done = buffer_add(target->run, text, "\\", 1) &&
                   buffer_add(target->run, text, name.at + i, 1);
    }
    return done && buffer_add(target->run, text, "$", 2); /* with its NUL */
}

/* A list of the new size; from NULL: a new one.  The old one stays where there
 * is no memory. */
static bool grow(struct run *run, void **list, size_t from, size_t to)
{
    void *moved = to > from ? mf_env_resize(run->env, *list, from, to) : *list;

    if (moved)
        *list = moved;
    return moved;
}

/* Grows the lists by one for each tensor.  Both have one size. */
static bool make_room(struct run *run, struct patterns *patterns, size_t more)
{
    size_t room = patterns->count + more, old = patterns->room;
    void *at = patterns->at, *tensors = patterns->tensors;
    bool done;

    if (room < old)
        room = old;
    if (!grow(run, &at, old * sizeof(*patterns->at),
              room * sizeof(*patterns->at)))
        return false;
    done = grow(run, &tensors, tensors ? old * sizeof(*patterns->tensors) : 0,
                room * sizeof(*patterns->tensors));
    if (!done && room > old) /* a block that gets smaller always can */
        at = mf_env_resize(run->env, at, room * sizeof(*patterns->at),
                           old * sizeof(*patterns->at));
    patterns->at = at;
    patterns->tensors = tensors;
    if (done)
        patterns->room = room;
    return done;
}

static bool add_all(struct target *target, struct request *request)
{
    const struct mf_type_errors *errors = target->errors;
    struct patterns *patterns = &request->patterns;
    const char *at;

    for (size_t i = 0; i < errors->count; i++)
        if (!add_pattern(target, errors->tensor[i].name))
            return false;
    if (!make_room(target->run, patterns, errors->count))
        return false;
    at = target->text.at;
    for (size_t i = 0; i < errors->count; i++, at += strlen(at) + 1)
        if (!target->fixed[i]) /* a pattern of --tensor-type comes first */
            patterns->at[patterns->count++] = (struct mf_tensor_type){
                .pattern = at, .type = errors->type_name[target->types[i]]
            };
    return true;
}

bool recipe_make(struct target *target, struct request *request)
{
    if (!add_all(target, request)) {
        report_failure(target->run, NULL);
        return false;
    }
    request->options.tensor_types = request->patterns.at;
    request->options.tensor_type_tensors = request->patterns.tensors;
    request->options.tensor_type_count = request->patterns.count;
    target->base = base_of(target->errors, target->types);
    request->options.type = target->base;
    return true;
}

/* ---- saving ---- */

static bool write_file(struct target *target, struct mf_model *model,
                       const char *path, const struct buffer *text)
{
    struct run *run = target->run;

    if (mf_output_write(model, path, run->options->force, text->at,
                        text->size) == MF_OK)
        return true;
    report_failure(run, path);
    return false;
}

static bool add_lines(struct target *target, struct buffer *out)
{
    const char *at = target->text.at;
    bool done = true;

    for (size_t i = 0; i < target->errors->count && done; i++) {
        const char *type = target->errors->type_name[target->types[i]];

        done = buffer_add(target->run, out, at, strlen(at)) &&
               buffer_add(target->run, out, "=", 1) &&
               buffer_add(target->run, out, type, strlen(type)) &&
               buffer_add(target->run, out, "\n", 1);
        at += strlen(at) + 1;
    }
    return done;
}

struct writing {
    struct run *run;
    struct buffer *out;
    bool failed;
};

static void put(void *user, const char *at, size_t size)
{
    struct writing *writing = user;

    if (!writing->failed && !buffer_add(writing->run, writing->out, at, size))
        writing->failed = true;
}

static bool add_document(struct target *target, struct buffer *out)
{
    struct writing writing = { .run = target->run, .out = out };
    struct mf_json_out json = { .write = put, .user = &writing };

    mf_json_begin(&json, '{');
    target_json(target, &json);
    mf_json_end(&json, '}');
    put(&writing, "\n", 1);
    return !writing.failed;
}

struct recipe_path recipe_document(const char *recipe)
{
    struct recipe_path path;

    /* Cut short only where the recipe's own path is too long. */
    snprintf(path.at, sizeof(path.at), "%s.json", recipe);
    return path;
}

bool recipe_save(struct target *target, struct mf_model *model)
{
    const char *path = target->given->save_recipe;
    struct buffer lines = { 0 }, document = { 0 };
    bool done = add_lines(target, &lines) && add_document(target, &document);

    if (!done)
        report_failure(target->run, path);
    done = done && write_file(target, model, path, &lines) &&
           write_file(target, model, recipe_document(path).at, &document);
    buffer_release(target->run, &lines);
    buffer_release(target->run, &document);
    return done;
}

/* ---- using one ---- */

/* A recipe of another model names tensors that this one lacks. */
static bool check_use(struct run *run, const char *path,
                      const struct patterns *patterns)
{
    size_t unused = 0;

    for (size_t i = 0; i < patterns->count; i++)
        unused += patterns->tensors[i] == 0;
    if (unused == 0 && patterns->count > 0)
        return true;
    report_input(run, path,
                 unused > 0 ? "%zu of %zu lines are for tensors that the model "
                              "does not have: it may belong to another model"
                            : "the recipe has no line",
                 unused, patterns->count);
    return false;
}

bool recipe_find_base(struct run *run, struct mf_model *model, const char *path,
                      struct request *request,
                      const struct mf_convert_options *how)
{
    struct mf_quantize_options options = request->options;
    struct mf_convert_options dry = *how;
    struct mf_quantize_result result = { 0 };
    const struct mf_quantized *most = NULL;

    options.type = "Q8_0";
    options.planned = NULL;
    options.report = false;
    dry.dry_run = true;
    if (mf_model_quantize(model, path, &options, &dry, &result) != MF_OK) {
        report_failure(run, run->operand[0]);
        return false;
    }
    if (!check_use(run, request->recipe, &request->patterns))
        return false;
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++) {
        const struct mf_quantized *type = &result.type[i];

        if (type->tensors > 0 && has_mix(type->name) &&
            (!most || type->bytes > most->bytes))
            most = type;
    }
    request->options.type = mf_mix_name(most ? most->name : "q8_0");
    return true;
}
