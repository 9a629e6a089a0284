/* SPDX-License-Identifier: MIT
 *
 * floats.c - elements of a node as floats
 */
#include "lib/codec/codecs.h"
#include "lib/derive/node.h"

#define CHUNK 256

const struct mf_codec *mf_derived_codec(const struct mf_derivation *derivation,
                                        const struct mf_derived *node)
{
    const struct mf_type_row *type = &mf_types[node->type];
    const struct mf_codec *codec = mf_env_codec(
        derivation->env, derivation->isa, (enum mf_type)node->type);

    if (codec && type->block == 1 && type->bytes <= sizeof(float))
        return codec;
    mf_fail(derivation->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s': computing with %s is not supported",
            mf_quote(derivation->name).text, type->name);
    return NULL;
}

bool mf_derived_floats(const struct mf_derived *node,
                       const struct mf_codec *codec, struct mf_span elements,
                       float *into, struct mf_derived_room room)
{
    size_t size = mf_types[node->type].bytes, count = (size_t)elements.size;
    /* At the end of the space, so that they are read before floats are written
     * there. */
    const uint8_t *from = (uint8_t *)into + count * (sizeof(*into) - size);

    if (!mf_derived_read(node, elements,
                         (uint8_t *)into + (from - (uint8_t *)into), room))
        return false;
    for (size_t done = 0; done < count;) {
        size_t some = count - done < CHUNK ? count - done : CHUNK;
        uint8_t bytes[CHUNK * sizeof(float)];

        memcpy(bytes, from + done * size, some * size);
        codec->decode(bytes, into + done, some);
        done += some;
    }
    return true;
}
