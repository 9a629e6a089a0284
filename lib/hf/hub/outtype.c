/* SPDX-License-Identifier: MIT
 *
 * outtype.c - the type that each tensor of a converted folder gets
 */
#include "lib/hf/hub/outtype.h"

bool mf_outtype_guess(enum mf_type type, uint32_t rank, enum mf_type *out)
{
    if (rank < 2 || (type != MF_TYPE_BF16 && type != MF_TYPE_F16))
        return false;
    *out = type;
    return true;
}

/* Whether it is one of those that are f32 whatever is asked for. */
static bool is_f32(const struct mf_outtype_tensor *tensor)
{
    return tensor->always_f32 || !(mf_str_ends(tensor->name, ".weight") ||
                                   mf_str_ends(tensor->name, ".lora_a") ||
                                   mf_str_ends(tensor->name, ".lora_b"));
}

static enum mf_type choose(enum mf_type wanted,
                           const struct mf_outtype_tensor *tensor)
{
    bool ternary = wanted == MF_TYPE_TQ1_0 || wanted == MF_TYPE_TQ2_0;

    if (tensor->rank < 2 || mf_str_ends(tensor->name, "_norm.weight"))
        return MF_TYPE_F32;
    if (tensor->forced != MF_TYPE_UNKNOWN)
        return tensor->forced;
    if (is_f32(tensor))
        return MF_TYPE_F32;
    return ternary && tensor->never_ternary ? MF_TYPE_F16 : wanted;
}

enum mf_type mf_outtype_of(enum mf_type wanted,
                           const struct mf_outtype_tensor *tensor)
{
    enum mf_type type = choose(wanted, tensor);

    return tensor->rank > 0 &&
                   tensor->dim[tensor->rank - 1] % mf_types[type].block != 0
               ? MF_TYPE_F16
               : type;
}
