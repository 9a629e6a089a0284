/* SPDX-License-Identifier: MIT
 *
 * build.h - how this program was compiled
 */
#ifndef MF_CLI_BUILD_H
#define MF_CLI_BUILD_H

/* "gcc 12.2.0" */
const char *build_compiler(void);

/* "-O2 -g": what the caller of make gave, or its default. */
const char *build_flags(void);

#endif
