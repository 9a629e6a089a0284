/* SPDX-License-Identifier: MIT
 *
 * chart.h - bars of characters
 *
 * Block elements of Unicode, or ASCII where the locale has no UTF-8.
 */
#ifndef MF_CLI_CHART_H
#define MF_CLI_CHART_H

#include "cli/cli.h"

/* Whether the locale's characters are UTF-8: LC_ALL, LC_CTYPE or LANG says so,
 * the first of them that is set. */
bool chart_is_utf8(void);

/* A bar for part of whole, in width columns, padded with spaces.  Only a part
 * of 0 is empty. */
void chart_bar(struct out *out, uint64_t part, uint64_t whole, size_t width);

/* One character, as high as the number's share of the most, on a logarithmic
 * scale; a space for 0. */
const char *chart_height(uint64_t number, uint64_t most);

#endif
