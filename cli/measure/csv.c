/* SPDX-License-Identifier: MIT
 *
 * csv.c - fields of comma-separated values
 */
#include "cli/measure/csv.h"

#include "cli/decimal.h"

void csv_text(struct out *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        out_text(out, text);
        return;
    }
    out_text(out, "\"");
    for (; *text; text++)
        out_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    out_text(out, "\"");
}

void csv_number(struct out *out, double number)
{
    out_text(out, ",");
    out_text(out, decimal_text(number).at);
}
