/* SPDX-License-Identifier: MIT
 *
 * expect.c - expectations of tests, which leave the profile when they fail
 */
#include "lib/profile/profile.h"

#include <string.h>

bool mf_profile_expect(struct mf_profile *profile, bool holds,
                       const char *expectation)
{
    const char *text = expectation ? expectation : "";
    struct mf_quoted quoted;

    if (!profile || profile->is_over)
        return false;
    if (holds)
        return true;
    profile->is_over = true;
    if (profile->options.path &&
        mf_profile_write(profile, profile->options.path) != MF_OK)
        return false;
    mf_clear_error(profile->env);
    quoted = mf_quote((struct mf_str){ text, strlen(text) });
    mf_fail(profile->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
            "the expectation '%s' does not hold", quoted.text);
    return false;
}
