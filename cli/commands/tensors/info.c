/* SPDX-License-Identifier: MIT
 *
 * info.c - modelfile tensors info: what tensors are there, and where
 */
#include <string.h>

#include "cli/cli.h"

const struct option tensors_options[] = {
    { "--sort", OPTION_CHOICE, "size|name|offset", SORT_SIZE,
      offsetof(struct options, sort),
      "another order than the file's; size: largest first" },
    { "--top", OPTION_COUNT, "N", 0, offsetof(struct options, top),
      "only the first N; the largest where --sort is not given" },
    { "--totals", OPTION_FLAG, NULL, 0, offsetof(struct options, totals),
      "only the sums for each type" },
    { "--one-file", OPTION_FLAG, NULL, 0, offsetof(struct options, one_file),
      "this file only, without the other shards of its model" },
    { 0 },
};

/* ---- which tensors, in which order ---- */

/* The tensors to show, in the file's order or sorted. */
struct choice {
    const struct mf_model *model;
    const char *pattern; /* NULL: all */
    bool by_offset;
    uint32_t *sorted; /* NULL: not sorted */
    size_t count;     /* of them */
    uint64_t limit;
};

static bool matches(const struct choice *choice, const struct mf_tensor *tensor)
{
    return names_match(choice->pattern, tensor->name);
}

static size_t sorted_size(const struct choice *choice)
{
    return (mf_model_info(choice->model)->tensor_count + 1) *
           sizeof(*choice->sorted);
}

/* False where there is no memory for it. */
static bool sort(struct run *run, struct choice *choice, enum sort by)
{
    struct mf_tensor tensor;

    choice->sorted = mf_env_resize(run->env, NULL, 0, sorted_size(choice));
    if (!choice->sorted)
        return false;
    for (size_t i = 0; mf_tensor_at(choice->model, i, &tensor); i++)
        if (matches(choice, &tensor))
            choice->sorted[choice->count++] = (uint32_t)i;
    mf_tensor_sort(choice->model,
                   by == SORT_SIZE ? MF_ORDER_SIZE : MF_ORDER_NAME,
                   choice->sorted, choice->count);
    return true;
}

/* The next tensor of the choice from *at on; false at its end. */
static bool next(const struct choice *choice, size_t *at,
                 struct mf_tensor *tensor)
{
    if (choice->sorted)
        return *at < choice->count &&
               mf_tensor_at(choice->model, choice->sorted[(*at)++], tensor);
    while (choice->by_offset
               ? mf_tensor_by_offset(choice->model, (*at)++, tensor)
               : mf_tensor_at(choice->model, (*at)++, tensor))
        if (matches(choice, tensor))
            return true;
    return false;
}

/* ---- text ---- */

struct shape_text shape_text(const struct mf_tensor *tensor)
{
    struct shape_text text;
    char *at = text.at;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        memcpy(at, " x ...", sizeof(" x ..."));
        /* 64 dimensions are allowed, and do not fit. */
        if (text.at + sizeof(text.at) - at < 32)
            return text;
        at += i > 0 ? strlen(" x ") : 0;
        at += put_decimal(at, tensor->dim[i]);
    }
    memcpy(at, tensor->rank > 0 ? "" : "scalar", tensor->rank > 0 ? 1 : 7);
    return text;
}

struct widths {
    size_t name, type, shape, offset, bytes;
    size_t shard; /* 0: the model is one file */
};

static size_t digits(uint64_t number)
{
    size_t count = 1;

    for (; number >= 10; number /= 10)
        count++;
    return count;
}

/* Of shape_text, without writing it. */
static size_t shape_width(const struct mf_tensor *tensor)
{
    size_t width = tensor->rank > 0 ? 0 : strlen("scalar");

    if (tensor->rank > 4)
        return strlen(shape_text(tensor).at);
    for (uint32_t i = 0; i < tensor->rank; i++)
        width += (i > 0 ? strlen(" x ") : 0) + digits(tensor->dim[i]);
    return width;
}

static void widen(size_t *width, size_t to)
{
    *width = to > *width ? to : *width;
}

/* Of out_hex and out_number. */
static size_t hex_width(uint64_t number)
{
    size_t width = strlen("0x0");

    for (; number >= 16; number /= 16)
        width++;
    return width;
}

static size_t number_width(uint64_t number)
{
    size_t width = digits(number);

    return width + (width - 1) / 3;
}

/* What columns and totals need to know before the first line. */
static void survey(const struct choice *choice, struct widths *widths,
                   struct totals *totals)
{
    struct mf_tensor tensor;
    size_t at = 0;

    for (uint64_t i = 0; i < choice->limit && next(choice, &at, &tensor); i++) {
        widen(&widths->name, out_width(tensor.name));
        widen(&widths->type, strlen(tensor.type));
        widen(&widths->shape, shape_width(&tensor));
        widen(&widths->offset, hex_width(tensor.data.offset));
        widen(&widths->bytes, number_width(tensor.data.size));
        totals_add(totals, &tensor);
    }
}

/* On a terminal a long name gives way, to 8 columns if need be. */
static void narrow(struct widths *widths, size_t columns)
{
    size_t rest = widths->type + widths->shape + widths->shard +
                  widths->offset + widths->bytes + 4 * strlen("  ");

    if (columns >= rest + 8 && widths->name > columns - rest)
        widths->name = columns - rest;
}

static void head_text(struct run *run, const struct widths *widths)
{
    struct out *out = &run->out;

    out_bold(out, "name");
    out_spaces(out, widths->name - strlen("name") + 2);
    out_bold(out, "type");
    out_spaces(out, widths->type - strlen("type") + 2);
    out_bold(out, "shape");
    out_spaces(out, widths->shape - strlen("shape") + 2 + widths->offset -
                        strlen("offset"));
    out_bold(out, "offset");
    out_spaces(out, 2 + widths->bytes - strlen("bytes"));
    out_bold(out, "bytes");
    if (widths->shard > 0) {
        out_text(out, "  ");
        out_bold(out, "shard");
    }
    out_text(out, "\n");
}

static void tensor_text(struct run *run, const struct widths *widths,
                        const struct mf_tensor *tensor)
{
    struct out *out = &run->out;

    out_column(out, tensor->name, widths->name, out->columns > 0);
    out_text(out, "  ");
    out_column(out, str_of(tensor->type), widths->type, false);
    out_text(out, "  ");
    out_column(out, str_of(shape_text(tensor).at), widths->shape, false);
    out_hex(out, tensor->data.offset, 2 + widths->offset);
    out_text(out, "  ");
    out_number(out, tensor->data.size, widths->bytes);
    if (widths->shard > 0)
        out_number(out, tensor->shard + UINT64_C(1), widths->shard);
    if (tensor->flags & MF_TENSOR_DAMAGED)
        out_text(out, "  damaged");
    else if (tensor->flags & MF_TENSOR_SIZE_INFERRED)
        out_text(out, "  at most");
    out_text(out, "\n");
}

static void list_text(struct run *run, const struct choice *choice,
                      struct widths widths)
{
    struct mf_tensor tensor;
    size_t at = 0;

    narrow(&widths, run->out.columns);
    head_text(run, &widths);
    for (uint64_t i = 0; i < choice->limit && next(choice, &at, &tensor); i++)
        tensor_text(run, &widths, &tensor);
    out_text(&run->out, "\n");
}

/* ---- JSON ---- */

void shape_json(struct run *run, const struct mf_tensor *tensor)
{
    mf_json_key(&run->json, "shape");
    mf_json_begin(&run->json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_json_u64(&run->json, tensor->dim[i]);
    mf_json_end(&run->json, ']');
}

static void tensor_json(struct run *run, const struct mf_tensor *tensor)
{
    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    json_text(run, "type", tensor->type);
    shape_json(run, tensor);
    json_number(run, "offset", tensor->data.offset);
    json_number(run, "bytes", tensor->data.size);
    json_number(run, "parameters", tensor->parameters);
    json_number(run, "shard", tensor->shard);
    if (tensor->flags & MF_TENSOR_DAMAGED)
        json_bool(run, "damaged", true);
    if (tensor->flags & MF_TENSOR_SIZE_INFERRED)
        json_bool(run, "size_inferred", true);
    mf_json_end(&run->json, '}');
}

static void list_json(struct run *run, const struct choice *choice)
{
    struct mf_tensor tensor;
    size_t at = 0;

    mf_json_key(&run->json, "tensors");
    mf_json_begin(&run->json, '[');
    for (uint64_t i = 0; i < choice->limit && next(choice, &at, &tensor); i++)
        tensor_json(run, &tensor);
    mf_json_end(&run->json, ']');
}

/* ---- the command ---- */

static void list(struct run *run, const struct choice *choice,
                 const struct widths *widths, const struct totals *totals)
{
    if (run->options.json)
        json_text(run, "format", mf_model_info(choice->model)->format);
    if (!run->options.totals && run->options.json)
        list_json(run, choice);
    else if (!run->options.totals)
        list_text(run, choice, *widths);
    totals_show(run, totals);
}

static void show(struct run *run, struct mf_model *model)
{
    const struct options *options = &run->options;
    enum sort by = (enum sort)options->sort;
    struct choice choice = {
        .model = model,
        .pattern = run->operand_count > 1 ? run->operand[1] : NULL,
        .by_offset = by == SORT_OFFSET,
        .limit = options->top > 0 ? options->top : UINT64_MAX
    };
    struct widths widths = {
        strlen("name"),
        strlen("type"),
        strlen("shape"),
        strlen("offset"),
        strlen("bytes"),
        mf_model_info(model)->shard_count > 1 ? strlen("  shard") : 0
    };
    struct totals totals = { 0 };

    if (by == SORT_FILE && options->top > 0)
        by = SORT_SIZE;
    if ((by == SORT_SIZE || by == SORT_NAME) && !sort(run, &choice, by)) {
        report_failure(run, run->operand[0]);
        return;
    }
    survey(&choice, &widths, &totals);
    if (choice.pattern && totals.all.tensors == 0)
        names_unmatched(run, model, NAMED_TENSOR, choice.pattern);
    else
        list(run, &choice, &widths, &totals);
    mf_env_resize(run->env, choice.sorted,
                  choice.sorted ? sorted_size(&choice) : 0, 0);
}

void command_tensors_info(struct run *run)
{
    inputs_one(run, false, show);
}
