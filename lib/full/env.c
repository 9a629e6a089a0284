/* SPDX-License-Identifier: MIT
 *
 * env.c - makes envs: with all formats and codecs, or the program's choice
 */
#include "lib/full/full.h"

struct mf_env *mf_env_new(const struct mf_options *options)
{
    struct mf_env *env = mf_env_make(options, 0);

    if (!env)
        return NULL;
    env->formats = mf_formats;
    env->codecs = mf_codec_sets;
    return env;
}

/* They lie after the env.  The formats are in the order of detection, whatever
 * the order of the features is, and end with NULL. */
struct tables {
    const struct mf_format *format[MF_FORMAT_COUNT + 1];
    const struct mf_codec_set *codec[MF_TYPE_COUNT];
};

static void add(struct tables *tables, const struct mf_feature *feature)
{
    const size_t most = sizeof(feature->format) / sizeof(*feature->format);

    for (size_t i = 0; i < most && feature->format[i].row; i++)
        tables->format[feature->format[i].place] = feature->format[i].row;
    if (feature->codec)
        tables->codec[feature->type] = feature->codec;
}

static void close_gaps(struct tables *tables)
{
    size_t count = 0;

    for (size_t i = 0; i < MF_FORMAT_COUNT; i++)
        if (tables->format[i])
            tables->format[count++] = tables->format[i];
    tables->format[count] = NULL;
}

struct mf_env *mf_env_new_with(const struct mf_options *options,
                               const struct mf_feature *const *features,
                               size_t count)
{
    struct mf_env *env;
    struct tables *tables;

    if (!features && count > 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!features[i])
            return NULL;
    env = mf_env_make(options, sizeof(*tables));
    if (!env)
        return NULL;
    tables = (void *)(env + 1);
    *tables = (struct tables){ .format = { NULL } };
    for (size_t i = 0; i < count; i++)
        add(tables, features[i]);
    close_gaps(tables);
    env->formats = tables->format;
    env->codecs = tables->codec;
    return env;
}
