/* SPDX-License-Identifier: MIT
 *
 * totals.c - tensors added up by type
 */
#include "cli/totals.h"

#include <string.h>

#include "cli/json.h"

/* Sizes of a damaged file may add up to more than 2^64; the sum stops there. */
static void add(uint64_t *sum, uint64_t more)
{
    *sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

static void add_row(struct total *total, const struct mf_tensor *tensor)
{
    total->tensors++;
    add(&total->parameters, tensor->parameters);
    add(&total->bytes, tensor->data.size);
}

static struct total *find_row(struct totals *totals, const char *type)
{
    size_t i = 0;

    while (i < totals->count && strcmp(totals->row[i].type, type) != 0)
        i++;
    if (i == TOTALS_MAX)
        return &totals->row[TOTALS_MAX - 1];
    if (i == totals->count) {
        totals->count++;
        /* Only a damaged file has more types than there are. */
        if (i == TOTALS_MAX - 1)
            type = "others";
        memcpy(totals->row[i].type, type, strlen(type) + 1);
    }
    return &totals->row[i];
}

void totals_add(struct totals *totals, const struct mf_tensor *tensor)
{
    add_row(find_row(totals, tensor->type), tensor);
    add_row(&totals->all, tensor);
}

static void show_json(struct run *run, const struct totals *totals)
{
    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < totals->count; i++) {
        mf_json_key(&run->json, totals->row[i].type);
        mf_json_begin(&run->json, '{');
        json_number(run, "tensors", totals->row[i].tensors);
        json_number(run, "parameters", totals->row[i].parameters);
        json_number(run, "bytes", totals->row[i].bytes);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, '}');
}

static void show_row(struct run *run, const struct total *row, const char *type,
                     const uint64_t *all_bytes)
{
    struct out *out = &run->out;

    out_column(out, str_of(type), 12, false);
    out_text(out, " ");
    out_number(out, row->tensors, 8);
    out_text(out, "  ");
    out_number(out, row->parameters, 19);
    out_text(out, "  ");
    out_number(out, row->bytes, 19);
    if (*all_bytes > 0)
        out_format(out, "%7.1f%%",
                   100 * (double)row->bytes / (double)*all_bytes);
    out_text(out, "\n");
}

void totals_show(struct run *run, const struct totals *totals)
{
    struct out *out = &run->out;

    if (run->options->json) {
        show_json(run, totals);
        return;
    }
    out_bold(out, "type          tensors           parameters"
                  "                bytes   share");
    out_text(out, "\n");
    for (size_t i = 0; i < totals->count; i++)
        show_row(run, &totals->row[i], totals->row[i].type, &totals->all.bytes);
    if (totals->count != 1)
        show_row(run, &totals->all, "all", &totals->all.bytes);
}
