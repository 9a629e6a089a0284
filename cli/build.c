/* SPDX-License-Identifier: MIT
 *
 * build.c - how this program was compiled
 */
#include "cli/build.h"

#if !defined(MF_BUILD_FLAGS)
#define MF_BUILD_FLAGS ""
#endif

const char *build_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

const char *build_flags(void)
{
    return MF_BUILD_FLAGS;
}
