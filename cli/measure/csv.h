/* SPDX-License-Identifier: MIT
 *
 * csv.h - fields of comma-separated values
 */
#ifndef MF_CLI_CSV_H
#define MF_CLI_CSV_H

#include "cli/out.h"

/* Quoted if it contains a comma, a quote, LF or CR (RFC 4180). */
void csv_text(struct out *out, const char *text);

/* A comma and the number, in the shortest digits without exponent; NaN if it is
 * not known. */
void csv_number(struct out *out, double number);

#endif
