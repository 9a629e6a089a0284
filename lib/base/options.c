/* SPDX-License-Identifier: MIT
 *
 * options.c - option structs of programs that know fewer or more options
 */
#include "lib/base/options.h"

#include <assert.h>
#include <string.h>

#include "lib/base/heap.h"

/* No option struct will ever be larger; a size that was not set is, mostly. */
#define OPTIONS_MAX ((size_t)4096)

static bool is_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

bool mf_options_copy(void *out, size_t out_size, const void *given)
{
    size_t size = out_size;

    assert(out_size > sizeof(size) && out_size <= OPTIONS_MAX);
    memset(out, 0, out_size);
    if (given) {
        memcpy(&size, given, sizeof(size));
        if (size <= sizeof(size) || size > OPTIONS_MAX)
            return false;
        if (size > out_size &&
            !is_zero((const char *)given + out_size, size - out_size))
            return false;
        memcpy(out, given, size < out_size ? size : out_size);
    }
    memcpy(out, &out_size, sizeof(out_size));
    return true;
}

enum mf_status mf_options_take(struct mf_env *env, void *out, size_t out_size,
                               const void *given)
{
    size_t size;

    mf_clear_error(env);
    if (mf_options_copy(out, out_size, given))
        return MF_OK;
    memcpy(&size, given, sizeof(size));
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   size > out_size && size <= OPTIONS_MAX
                       ? "options of %zu bytes have unknown members: this "
                         "library knows the first %zu bytes"
                       : "the size of the options is %zu: set it to the sizeof "
                         "of the struct, %zu",
                   size, out_size);
}
