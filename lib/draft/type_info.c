/* SPDX-License-Identifier: MIT
 *
 * type_info.c - facts about tensor types for programs
 */
#include <string.h>

#include "lib/draft/draft.h"

/* GGUF's numbers are ggml's. */
static int32_t ggml_number(enum mf_type type)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    uint32_t number = format->type_id(type);

    return number == MF_NO_TYPE_ID ? -1 : (int32_t)number;
}

bool mf_type_at(size_t index, struct mf_type_info *out)
{
    if (!out)
        return false;

    if (index >= MF_TYPE_COUNT)
        return false;
    *out = (struct mf_type_info){ .name = mf_types[index].name,
                                  .block = mf_types[index].block,
                                  .size = mf_types[index].bytes,
                                  .ggml = ggml_number((enum mf_type)index) };
    return true;
}

bool mf_type_find(const char *name, struct mf_type_info *out)
{
    struct mf_str wanted = { name, name ? strlen(name) : 0 };

    for (size_t i = 0; name && i < MF_TYPE_COUNT; i++) {
        const char *own = mf_types[i].name;

        if (mf_str_alike((struct mf_str){ own, strlen(own) }, wanted))
            return mf_type_at(i, out);
    }
    return false;
}
