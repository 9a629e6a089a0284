/* SPDX-License-Identifier: MIT
 *
 * allocator.c - an allocator that tells a profile what it does
 */
#include "lib/profile/profile.h"

#include "lib/profile/view.h"

/* A module of WebAssembly cannot see who called it. */
#if defined(__wasi__)
#define CALLER NULL
#else
#define CALLER __builtin_return_address(0)
#endif

/* In front of every block; as large as the strictest alignment. */
union header {
    uint64_t tag;
    max_align_t aligned;
};

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    struct mf_profile *profile = user;
    const struct mf_allocator *inner = &profile->allocator;
    union header *header = block ? (union header *)block - 1 : NULL;
    size_t old_all = header ? old_size + sizeof(*header) : 0;
    uint64_t tag = header ? header->tag : 0;
    bool is_env;

    if (new_size > SIZE_MAX - sizeof(*header))
        return NULL;
    if (new_size == 0) {
        if (!header)
            return NULL;
        is_env = header == profile->first;
        mf_profile_change(profile, tag, old_size, 0, NULL);
        inner->resize(inner->user, header, old_all, 0);
        if (is_env)
            mf_profile_env_freed(profile);
        return NULL;
    }
    header =
        inner->resize(inner->user, header, old_all, new_size + sizeof(*header));
    if (!header)
        return NULL;
    header->tag = mf_profile_change(profile, tag, old_size, new_size, CALLER);
    if (!profile->first)
        profile->first = header;
    return header + 1;
}

struct mf_allocator mf_profile_allocator(struct mf_profile *profile)
{
    struct mf_allocator allocator = { 0 };

    if (profile) {
        allocator.resize = resize;
        allocator.user = profile;
    }
    return allocator;
}

void mf_profile_env_freed(struct mf_profile *profile)
{
    const struct mf_profile_options *options = &profile->options;
    struct mf_profile_point point;

    profile->first = NULL;
    if (profile->stats.live_blocks == 0)
        return;
    for (size_t i = 0;
         options->alive &&
         mf_profile_point_at(profile, MF_PROFILE_LIVE, i, &point) &&
         point.live_blocks > 0;
         i++)
        options->alive(options->alive_user, &point);
    if (options->path)
        mf_profile_write(profile, options->path);
}
