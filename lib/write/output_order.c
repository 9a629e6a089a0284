/* SPDX-License-Identifier: MIT
 *
 * output_order.c - the order of bytes of the files that are written
 *
 * Two options name it: byte_order, for any model that becomes GGUF, and
 * big_endian, for what llama.cpp's converter makes of a folder, faults
 * included.
 */
#include "lib/write/convert.h"

enum mf_status mf_outputs_check_order(struct mf_env *env, const char *path,
                                      const struct mf_convert_options *options)
{
    const char *name = options->byte_order;

    if (!name)
        return MF_OK;
    if (strcmp(name, "big") != 0 && strcmp(name, "little") != 0)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "unknown byte order '%s': expected little or big",
                       mf_quote((struct mf_str){ name, strlen(name) }).text);
    if (options->big_endian)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a byte order and the converter's big-endian files "
                       "exclude each other");
    if (strcmp(name, "big") == 0 && mf_output_is_folder(path))
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "a folder is always little-endian");
    return MF_OK;
}

enum mf_byte_order mf_outputs_order(const struct mf_model *model,
                                    const struct mf_convert_options *options)
{
    if (!options->byte_order)
        return model->info.byte_order;
    return strcmp(options->byte_order, "big") == 0 ? MF_BIG_ENDIAN
                                                   : MF_LITTLE_ENDIAN;
}

void mf_outputs_set_order(const struct mf_model *model, struct mf_draft *draft,
                          const struct mf_convert_options *options)
{
    if (options->byte_order || draft->format == model->format)
        draft->big_endian = mf_outputs_order(model, options) == MF_BIG_ENDIAN;
    if (options->big_endian)
        draft->big_endian = draft->only_floats = true;
}
