/* SPDX-License-Identifier: MIT
 *
 * tensors.c - section "tensors": a table in columns
 *
 * 100,000 tensors have to fit into a page, so a column repeats nothing: names
 * share beginnings with the name before, types and shapes are places in lists,
 * and offsets are what lies between two tensors, mostly nothing.  A column is
 * a pass over the index, and none needs memory.
 */
#include <stdio.h>
#include <string.h>

#include "lib/report/put.h"

/* ---- lists of what differs ---- */

/* What was listed last.  A text or shape that is not among these is listed
 * again: models repeat the same few in every block, and a hostile one cannot
 * make the search long. */
#define RECENT 128

struct recent {
    struct mf_tensor tensor[RECENT]; /* that has it */
    size_t count;                    /* listed */
};

static bool same_type(const struct mf_tensor *a, const struct mf_tensor *b)
{
    return strcmp(a->type, b->type) == 0;
}

static bool same_shape(const struct mf_tensor *a, const struct mf_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 ||
            memcmp(a->dim, b->dim, a->rank * sizeof(*a->dim)) == 0);
}

typedef bool same_tensors(const struct mf_tensor *a, const struct mf_tensor *b);

/* Its place in the list; listed now if *is_new. */
static size_t place_of(const struct mf_model *model, struct recent *recent,
                       size_t index, same_tensors *same, bool *is_new)
{
    size_t first = recent->count > RECENT ? recent->count - RECENT : 0;
    struct mf_tensor tensor;

    *is_new = false;
    mf_tensor_at(model, index, &tensor);
    for (size_t i = recent->count; i > first; i--)
        if (same(&tensor, &recent->tensor[(i - 1) % RECENT]))
            return i - 1;
    *is_new = true;
    recent->tensor[recent->count % RECENT] = tensor;
    return recent->count++;
}

static void type_put(const struct mf_tensor *tensor, struct mf_json_out *json)
{
    struct mf_type_info info;

    mf_json_begin(json, '{');
    mf_put_string(json, "name", tensor->type);
    if (mf_type_find(tensor->type, &info)) {
        mf_put_number(json, "elements", info.block);
        mf_put_number(json, "bytes", info.size);
    }
    mf_json_end(json, '}');
}

static void shape_put(const struct mf_tensor *tensor, struct mf_json_out *json)
{
    mf_json_begin(json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_report_number(json, tensor->dim[i]);
    mf_json_end(json, ']');
}

/* What is listed, and for each tensor its place in the list. */
static void list_put(const struct mf_model *model, const char *list,
                     const char *column, same_tensors *same,
                     void (*put)(const struct mf_tensor *tensor,
                                 struct mf_json_out *json),
                     struct mf_json_out *json)
{
    size_t count = mf_model_info(model)->tensor_count;

    for (int pass = 0; pass < 2; pass++) {
        struct recent recent = { .count = 0 };

        mf_json_key(json, pass == 0 ? list : column);
        mf_json_begin(json, '[');
        for (size_t i = 0; i < count; i++) {
            bool is_new;
            size_t place = place_of(model, &recent, i, same, &is_new);
            struct mf_tensor tensor;

            if (pass == 1)
                mf_report_number(json, place);
            else if (is_new && mf_tensor_at(model, i, &tensor))
                put(&tensor, json);
        }
        mf_json_end(json, ']');
    }
}

/* ---- names ---- */

/* How many bytes both begin with that are one character each, in the document
 * as in the file. */
static size_t shared(struct mf_str a, struct mf_str b)
{
    size_t i = 0;

    while (i < a.size && i < b.size && a.at[i] == b.at[i] && a.at[i] >= ' ' &&
           a.at[i] <= '~')
        i++;
    return i;
}

static void names_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct mf_str before = { "", 0 };
    struct mf_tensor tensor;

    mf_json_key(json, "names");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        size_t same = shared(before, tensor.name);

        mf_json_u64(json, same);
        mf_json_string(json, tensor.name.at + same, tensor.name.size - same);
        before = tensor.name;
    }
    mf_json_end(json, ']');
}

/* ---- places ---- */

/* Sums of two numbers below this are exact in a double. */
#define PLACE_MAX ((uint64_t)1 << 52)

/* Where tensors begin, told from where the one before it in the shard ends. */
struct walk {
    uint32_t shard;
    uint64_t end;
    bool began;
};

/* False: the tensor is not part of the walk, and has an offset of its own. */
static bool step(const struct mf_model *model, struct walk *walk,
                 const struct mf_tensor *tensor, int64_t *gap)
{
    struct mf_shard shard = { .path = "" };

    if (!walk->began || walk->shard != tensor->shard) {
        mf_shard_at(model, tensor->shard, &shard);
        *walk = (struct walk){ tensor->shard, shard.data_offset, true };
    }
    *gap = 0;
    if ((tensor->flags & MF_TENSOR_DAMAGED) || walk->end > PLACE_MAX ||
        tensor->data.offset > PLACE_MAX || tensor->data.size > PLACE_MAX)
        return false;
    *gap = (int64_t)tensor->data.offset - (int64_t)walk->end;
    walk->end = tensor->data.offset + tensor->data.size;
    return true;
}

static void gaps_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct walk walk = { 0 };
    struct mf_tensor tensor;
    int64_t gap;

    mf_json_key(json, "gap");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        step(model, &walk, &tensor, &gap);
        mf_json_i64(json, gap);
    }
    mf_json_end(json, ']');
}

static void index_key(struct mf_json_out *json, size_t index)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%zu", index);
    mf_json_key(json, digits);
}

static void offsets_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct walk walk = { 0 };
    struct mf_tensor tensor;
    int64_t gap;

    mf_json_key(json, "offset");
    mf_json_begin(json, '{');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (!step(model, &walk, &tensor, &gap)) {
            index_key(json, i);
            mf_report_number(json, tensor.data.offset);
        }
    mf_json_end(json, '}');
}

/* Whether the product of the shape is 0 because it overflows. */
static bool overflows(const struct mf_tensor *tensor)
{
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (tensor->dim[i] == 0)
            return false;
    return tensor->parameters == 0;
}

/* Whether type and shape say how many bytes the tensor has. */
static bool usual_size(const struct mf_tensor *tensor)
{
    struct mf_type_info info;

    return mf_type_find(tensor->type, &info) && info.block > 0 &&
           !overflows(tensor) && tensor->parameters <= PLACE_MAX &&
           tensor->data.size <= PLACE_MAX &&
           tensor->parameters % info.block == 0 &&
           tensor->parameters / info.block * info.size == tensor->data.size;
}

static void sizes_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct mf_tensor tensor;

    mf_json_key(json, "size");
    mf_json_begin(json, '{');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (!usual_size(&tensor)) {
            index_key(json, i);
            mf_report_number(json, tensor.data.size);
        }
    mf_json_end(json, '}');
}

static void shards_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct mf_tensor tensor = { .shard = 0 };
    uint32_t shard = 0;
    size_t run = 0;

    mf_json_key(json, "shards");
    mf_json_begin(json, '[');
    for (size_t i = 0;; i++) {
        bool more = mf_tensor_at(model, i, &tensor);

        if (run > 0 && (!more || tensor.shard != shard)) {
            mf_json_begin(json, '[');
            mf_json_u64(json, shard);
            mf_json_u64(json, run);
            mf_json_end(json, ']');
            run = 0;
        }
        if (!more)
            break;
        shard = tensor.shard;
        run++;
    }
    mf_json_end(json, ']');
}

/* ---- flags ---- */

static void flags_put(const struct mf_model *model, struct mf_json_out *json)
{
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {
        { MF_TENSOR_DAMAGED, "damaged" },
        { MF_TENSOR_SIZE_INFERRED, "inferred" },
        { MF_TENSOR_PACKED, "packed" },
        { MF_TENSOR_STRIDED, "strided" },
        { MF_TENSOR_SWAPPED, "swapped" },
    };
    bool big = mf_model_info(model)->byte_order == MF_BIG_ENDIAN;
    unsigned known = big ? ~(unsigned)MF_TENSOR_SWAPPED : ~0u;
    struct mf_tensor tensor;

    mf_json_key(json, "flags");
    mf_json_begin(json, '{');
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        if ((tensor.flags & known) == 0)
            continue;
        index_key(json, i);
        mf_json_begin(json, '[');
        for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
            if (tensor.flags & known & names[j].flag)
                mf_json_string(json, names[j].name, strlen(names[j].name));
        mf_json_end(json, ']');
    }
    mf_json_end(json, '}');
}

enum mf_status mf_report_tensors(struct mf_model *model,
                                 const struct mf_report_options *options,
                                 struct mf_json_out *json)
{
    const struct mf_model_info *info = mf_model_info(model);

    (void)options;
    mf_json_key(json, "tensors");
    mf_json_begin(json, '{');
    mf_put_number(json, "count", info->tensor_count);
    mf_put_bool(json, "fastest_first", info->fastest_first);
    list_put(model, "types", "type", same_type, type_put, json);
    list_put(model, "shapes", "shape", same_shape, shape_put, json);
    names_put(model, json);
    gaps_put(model, json);
    shards_put(model, json);
    sizes_put(model, json);
    offsets_put(model, json);
    flags_put(model, json);
    mf_json_end(json, '}');
    return MF_OK;
}
