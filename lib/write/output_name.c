/* SPDX-License-Identifier: MIT
 *
 * output_name.c - what llama.cpp's converter calls the file
 *
 * In a folder the model's metadata names it.  In a name, {ftype} is the type of
 * its matrices, which is not known before the model is read.  Both come from
 * untrusted files, so a name never leads out of its folder.
 */
#include <stdio.h>

#include "lib/hf/hf.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/program.h"
#include "lib/write/convert.h"

bool mf_outputs_are_hub(const struct mf_model *model,
                        const struct mf_format *format,
                        const struct mf_convert_options *options)
{
    return options->names == MF_NAMING_GGUF &&
           (options->mistral_format ? mf_hf_applies_mistral(model, format)
                                    : mf_hf_applies(model, format));
}

enum mf_status mf_convert_names(struct mf_model *model, const char *path,
                                const struct mf_convert_options *options,
                                enum mf_naming *out)
{
    struct mf_env *env = model->env;
    const struct mf_format *format = NULL;
    bool adapter;

    mf_clear_error(env);
    *out = options->names;
    if (*out != MF_NAMING_AUTO)
        return MF_OK;
    *out = MF_NAMING_KEEP;
    if (mf_output_is_folder(path))
        return MF_OK;
    format = mf_output_format(model, path, options->format);
    if (!format || format->values != MF_VALUES_TYPED)
        return env->error.status;
    adapter =
        model->format->values != MF_VALUES_TYPED && mf_model_is_lora(model);
    if (adapter || mf_hf_applies(model, format))
        *out = MF_NAMING_GGUF;
    return env->error.status;
}

bool mf_converts_folder(struct mf_model *model,
                        const struct mf_convert_options *options)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);

    return options->names == MF_NAMING_GGUF &&
           (!options->format || strcmp(options->format, format->name) == 0) &&
           ((model->format->values != MF_VALUES_TYPED &&
             mf_model_is_lora(model)) ||
            mf_outputs_are_hub(model, format, options));
}

/* ---- names with a type in them ---- */

static const struct placeholder {
    const char *text;
    bool lower;
} placeholders[] = {
    { "{ftype}", true },    { "{outtype}", true }, { "{FTYPE}", false },
    { "{OUTTYPE}", false }, { "{}", true },
};

struct filled {
    char *at;
    size_t size, room;
};

static void put(struct filled *out, char letter)
{
    if (out->size < out->room)
        out->at[out->size] = letter;
    out->size++;
}

static void put_text(struct filled *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(out, text[i]);
}

static void put_type(struct filled *out, const char *type, bool lower)
{
    for (; *type; type++)
        put(out, lower && *type >= 'A' && *type <= 'Z'
                     ? (char)(*type - 'A' + 'a')
                     : *type);
}

/* The length of the placeholder at text; 0 where there is none. */
static size_t put_placeholder(struct filled *out, const char *text,
                              const char *type)
{
    for (size_t i = 0; i < sizeof(placeholders) / sizeof(*placeholders); i++) {
        size_t size = strlen(placeholders[i].text);

        if (strncmp(text, placeholders[i].text, size) == 0) {
            put_type(out, type, placeholders[i].lower);
            return size;
        }
    }
    return 0;
}

/* A brace that is meant is written twice, as Python's format has it. */
static enum mf_status fill(struct mf_env *env, const char *name,
                           const char *type, struct filled *out)
{
    size_t size;

    for (const char *at = name; *at; at += size) {
        bool brace = *at == '{' || *at == '}';

        size = brace && at[1] == *at ? 2 : 1;
        if (!brace || size == 2)
            put(out, *at);
        else if ((size = put_placeholder(out, at, type)) == 0)
            return mf_fail(
                env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "'%s': only {ftype} and {outtype}, or {FTYPE} and {OUTTYPE} "
                "for upper case, can be in braces; a brace in a name is "
                "written twice",
                mf_quote((struct mf_str){ name, strlen(name) }).text);
    }
    return MF_OK;
}

/* ---- the name ---- */

/* An adapter is listed by way of the model that it was made for. */
static enum mf_status find_name(struct mf_outputs *outputs,
                                const struct mf_convert_options *options,
                                struct mf_draft *draft, struct mf_hf_name *name)
{
    if (!mf_model_is_lora(outputs->model))
        return mf_outputs_list_hub(outputs, draft, options, name);
    return mf_lora_read(&outputs->lora, outputs->model) == MF_OK
               ? mf_outputs_list_adapter(outputs, draft, options, name)
               : outputs->env->error.status;
}

static enum mf_status put_name(struct mf_env *env,
                               const struct mf_hf_name *name, const char *path,
                               bool folder, struct filled *out)
{
    const char *last = folder ? path + strlen(path) : mf_base_name(path);
    size_t head = (size_t)(last - path);
    const char *suffix = mf_format_with_values(MF_VALUES_TYPED)->suffix;

    put_text(out, path, head);
    if (!folder)
        return fill(env, last, name->type, out);
    if (memchr(name->stem.at, '/', name->stem.size) ||
        memchr(name->stem.at, 0, name->stem.size))
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model's metadata make '%s' of it, which is not the "
                       "name of a file: name the output",
                       mf_quote(name->stem).text);
    if (head > 0 && path[head - 1] != '/')
        put(out, '/');
    put_text(out, name->prefix, strlen(name->prefix));
    put_text(out, name->stem.at, name->stem.size);
    put_text(out, suffix, strlen(suffix));
    return MF_OK;
}

enum mf_status mf_convert_path(struct mf_model *model, const char *path,
                               const struct mf_convert_options *options,
                               char *out, size_t room)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    struct filled filled = { .at = out, .room = room };
    struct mf_hf_name name = { "", { NULL, 0 }, NULL };
    struct mf_env *env = model->env;
    struct mf_outputs outputs;
    struct mf_draft draft;
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);

    mf_clear_error(env);
    mf_outputs_init(&outputs, model);
    mf_draft_init(&draft, env, format);
    if ((folder || strpbrk(mf_base_name(path), "{}")) &&
        find_name(&outputs, options, &draft, &name) != MF_OK)
        goto out;
    if (!name.type)
        snprintf(out, room, "%s", path);
    filled.size = name.type ? 0 : strlen(path);
    if (name.type && put_name(env, &name, path, folder, &filled) != MF_OK)
        goto out;
    if (filled.size >= room)
        mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "the path of the new file is too long");
    else
        out[filled.size] = 0;
out:
    mf_draft_release(&draft);
    mf_outputs_release(&outputs);
    return env->error.status;
}
