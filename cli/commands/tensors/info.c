/* SPDX-License-Identifier: MIT
 *
 * info.c - modelfile tensors info: list tensors
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/commands/tensors/tensors.h"
#include "cli/describe.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/totals.h"
#include "cli/tsv.h"

enum sort { SORT_FILE, SORT_SIZE, SORT_NAME, SORT_OFFSET };

static struct {
    unsigned sort; /* enum sort */
    uint64_t top;  /* 0: all */
    bool totals, tsv;
} options;

static const struct option table[] = {
    OPTION_CHOICE("--sort", "size|name|offset", SORT_SIZE, options.sort,
                  "sort the list; size: largest first"),
    OPTION_COUNT("--top", "N", options.top,
                 "list only the first N; without --sort the N largest"),
    OPTION_FLAG("--totals", options.totals, "print only the sums by type"),
    OPTION_FLAG("--tsv", options.tsv,
                "a line of tab-separated values per tensor, without sums"),
    OPTION_ONE_FILE,
    OPTION_TENSORS_ONLY,
    OPTION_FILES_FROM,
    OPTIONS_JOBS,
    { 0 },
};

/* ---- which tensors, in which order ---- */

/* The tensors to show, in the file's order or sorted. */
struct choice {
    const struct mf_model *model;
    const char *pattern; /* NULL: all */
    bool by_offset;
    uint32_t *sorted; /* NULL: not sorted */
    size_t count;     /* of sorted */
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

/* False after an error of the env. */
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

/* Columns of shape_text, without formatting it. */
static size_t shape_width(const struct mf_tensor *tensor)
{
    size_t width = tensor->rank > 0 ? 0 : strlen("scalar");

    if (tensor->rank > 4)
        return strlen(shape_text(tensor).at);
    for (uint32_t i = 0; i < tensor->rank; i++)
        width += (i > 0 ? strlen("x") : 0) + digits(tensor->dim[i]);
    return width;
}

static void widen(size_t *width, size_t to)
{
    *width = to > *width ? to : *width;
}

/* Columns of out_hex and out_number. */
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

/* Columns and totals, before the first line is printed. */
static void measure(const struct choice *choice, struct widths *widths,
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

/* On a narrow terminal names are shortened, to 8 columns if need be. */
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
    if (tensor->flags & MF_TENSOR_PACKED)
        out_text(out, "  packed");
    if (tensor->flags & MF_TENSOR_STRIDED)
        out_text(out, "  strided");
    if (tensor->flags & MF_TENSOR_SWAPPED)
        out_text(out, "  big-endian");
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

static void tensor_json(struct run *run, const struct mf_model *model,
                        const struct mf_tensor *tensor)
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
    storage_json(run, model, tensor);
    mf_json_end(&run->json, '}');
}

static void list_json(struct run *run, const struct choice *choice)
{
    struct mf_tensor tensor;
    size_t at = 0;

    mf_json_key(&run->json, "tensors");
    mf_json_begin(&run->json, '[');
    for (uint64_t i = 0; i < choice->limit && next(choice, &at, &tensor); i++)
        tensor_json(run, choice->model, &tensor);
    mf_json_end(&run->json, ']');
}

/* ---- for scripts ---- */

static void notes_tsv(struct out *out, const struct mf_tensor *tensor)
{
    static const struct {
        unsigned flag;
        const char *name;
    } notes[] = {
        { MF_TENSOR_DAMAGED, "damaged" },
        { MF_TENSOR_SIZE_INFERRED, "size_inferred" },
        { MF_TENSOR_PACKED, "packed" },
        { MF_TENSOR_STRIDED, "strided" },
        { MF_TENSOR_SWAPPED, "big_endian" },
    };
    const char *between = "";

    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
        if (tensor->flags & notes[i].flag) {
            out_text(out, between);
            out_text(out, notes[i].name);
            between = ",";
        }
}

static void tensor_tsv(struct out *out, const struct mf_tensor *tensor)
{
    const uint64_t numbers[] = { tensor->data.offset, tensor->data.size,
                                 tensor->parameters, tensor->shard };

    tsv_text(out, tensor->name);
    tsv_next(out);
    out_text(out, tensor->type);
    tsv_next(out);
    tsv_shape(out, tensor);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        tsv_next(out);
        tsv_number(out, numbers[i]);
    }
    tsv_next(out);
    notes_tsv(out, tensor);
    out_text(out, "\n");
}

static void list_tsv(struct run *run, const struct choice *choice)
{
    struct mf_tensor tensor;
    size_t at = 0;

    out_text(&run->out,
             "name\ttype\tshape\toffset\tbytes\tparameters\tshard\tnotes\n");
    for (uint64_t i = 0; i < choice->limit && next(choice, &at, &tensor); i++)
        tensor_tsv(&run->out, &tensor);
}

/* ---- the command ---- */

static void list(struct run *run, const struct choice *choice,
                 const struct widths *widths, const struct totals *totals)
{
    if (options.tsv) {
        list_tsv(run, choice);
        return;
    }
    if (run->options->json)
        json_text(run, "format", mf_model_info(choice->model)->format);
    if (!options.totals && run->options->json)
        list_json(run, choice);
    else if (!options.totals)
        list_text(run, choice, *widths);
    totals_show(run, totals);
    storages_show(run, choice->model);
}

static bool show_table(struct run *run, const struct mf_model *model,
                       enum sort by)
{
    static const enum mf_order orders[] = { [SORT_SIZE] = MF_ORDER_SIZE,
                                            [SORT_NAME] = MF_ORDER_NAME,
                                            [SORT_OFFSET] = MF_ORDER_OFFSET };
    const struct chunk_choice choice = {
        .model = model,
        .pattern = run->operand_count > 1 ? run->operand[1] : NULL,
        .sorted = by != SORT_FILE,
        .totals = options.totals,
        .tsv = options.tsv,
        .order = orders[by == SORT_FILE ? SORT_SIZE : by],
        .limit = options.top > 0 ? options.top : UINT64_MAX
    };

    return chunks_show(run, &choice);
}

static void show(struct run *run, struct mf_model *model)
{
    enum sort by = (enum sort)options.sort;
    struct choice choice = {
        .model = model,
        .pattern = run->operand_count > 1 ? run->operand[1] : NULL,
        .by_offset = by == SORT_OFFSET,
        .limit = options.top > 0 ? options.top : UINT64_MAX
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

    files_from_heading(run);
    if (by == SORT_FILE && options.top > 0)
        by = SORT_SIZE;
    if (show_table(run, model, by))
        return;
    if ((by == SORT_SIZE || by == SORT_NAME) && !sort(run, &choice, by)) {
        report_failure(run, run->operand[0]);
        return;
    }
    measure(&choice, &widths, &totals);
    if (choice.pattern && totals.all.tensors == 0)
        names_unmatched(run, model, NAMED_TENSOR, choice.pattern);
    else
        list(run, &choice, &widths, &totals);
    if (!options.tsv && !run->options->json)
        missing_list(run, model);
    mf_env_resize(run->env, choice.sorted,
                  choice.sorted ? sorted_size(&choice) : 0, 0);
}

static bool check_operands(struct run *run)
{
    return run->options->files_from ? files_from_first(run)
                                    : names_one_file(run, NAMED_TENSOR);
}

static void tensors_info(struct run *run)
{
    run->lists_missing = !options.tsv;
    if (options.tsv && options.totals)
        report_usage(run, "'--tsv' and '--totals' cannot both be given");
    else if (options.tsv && files_from_several(run))
        report_usage(run, "'--tsv' is about one file");
    else if (!options.tsv || tsv_fits(run))
        inputs_listed(run, false, show);
}

const struct command command_tensors_info = {
    .name = "tensors",
    .sub = "info",
    .operands = "FILE [PATTERN]",
    .operands_min = 1,
    .operands_max = 2,
    .summary = "list tensors: name, type, shape, offset, bytes",
    .about = "Lists the tensors of a model whose names match PATTERN, a "
             "glob such as 'blk.0.*', with type, shape, offset in the "
             "file and bytes, and the sum for each type. Only the header "
             "is read. Of a Parquet file it lists the column chunks.\n\n"
             "`modelfile tensors FILE` is the same.\n",
    .examples = "modelfile tensors info model.gguf\n"
                "modelfile tensors model.gguf 'blk.0.*'\n"
                "modelfile tensors model.gguf --top 10\n"
                "modelfile tensors model.gguf --totals --json\n"
                "modelfile tensors model.gguf --tsv | cut -f1,3\n"
                "find . -name '*.gguf' | modelfile tensors --files-from - "
                "--totals\n"
                "modelfile tensors data.parquet     its column chunks\n",
    .exit_no = "no tensor matches PATTERN",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = tensors_info,
    .check_operands = check_operands,
};
