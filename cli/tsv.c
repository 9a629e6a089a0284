/* SPDX-License-Identifier: MIT
 *
 * tsv.c - fields of tab-separated values, for cut, awk and the like
 */
#include "cli/tsv.h"

#include "cli/decimal.h"
#include "cli/report.h"

void tsv_next(struct out *out)
{
    out_bytes(out, "\t", 1);
}

void tsv_text(struct out *out, struct mf_str text)
{
    out_reversible(out, text);
}

void tsv_number(struct out *out, uint64_t number)
{
    char text[24];

    out_bytes(out, text, put_decimal(text, number));
}

void tsv_double(struct out *out, double number)
{
    out_text(out, decimal_shortest(number).at);
}

void tsv_shape(struct out *out, const struct mf_tensor *tensor)
{
    for (uint32_t i = 0; i < tensor->rank; i++) {
        out_bytes(out, "x", i > 0);
        tsv_number(out, tensor->dim[i]);
    }
    if (tensor->rank == 0)
        out_text(out, "scalar");
}

bool tsv_fits(struct run *run)
{
    if (!run->options->json)
        return true;
    report_usage(run, "'--json' and '--tsv' cannot both be given");
    return false;
}
