/* SPDX-License-Identifier: MIT
 *
 * tensors_made.c - tensors that a folder does not have
 *
 *     llama3 THETA, WIDTH, FACTOR, LOW, HIGH, CONTEXT [, COUNT]
 *     numbers LIST
 *     fill N, X, M, Y              N times X, then M times Y
 */
#include "lib/hf/hub/tensors_made.h"

#include <assert.h>
#include <math.h>

#include "lib/base/little.h"
#include "lib/hf/hub/pytorch.h"

#define FLOATS_MAX 65536

static const struct mf_derived *wrong(struct mf_tensor_work *work,
                                      const char *what)
{
    mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': tensor '%s' cannot be made: %s",
            mf_recipe_file(work->hub->recipe), mf_quote(work->derive.name).text,
            what);
    return NULL;
}

/* ---- Llama 3 ---- */

static bool is_positive(double number)
{
    return number > 0 && number <= 1e30;
}

static const struct mf_derived *make_llama3(struct mf_tensor_work *work,
                                            const struct mf_tensor_step *step)
{
    float factors[MF_LLAMA3_WIDTH / 2 + 1];
    struct mf_llama3 llama3;
    int64_t count;
    double number[MF_STEP_NUMBERS_MAX];

    for (size_t i = 0; i < step->numbers; i++) {
        if (!mf_node_is_number(step->value[i]))
            return wrong(work, "a number expected");
        number[i] = mf_node_real(step->value[i]);
        if (!is_positive(number[i]))
            return wrong(work, "a number above 0 expected");
    }
    if (step->number[1] < 1 || step->number[1] > MF_LLAMA3_WIDTH)
        return wrong(work, "a head of so many elements is not supported");
    llama3 = (struct mf_llama3){ .theta = number[0],
                                 .width = step->number[1],
                                 .factor = number[2],
                                 .low = number[3],
                                 .high = number[4],
                                 .original = number[5],
                                 .wide = step->numbers > 6 };
    if (llama3.high == llama3.low)
        return wrong(work, "low_freq_factor and high_freq_factor are equal");
    mf_llama3_factors(&llama3, factors);
    count = (llama3.width + 1) / 2;
    if (llama3.wide && step->number[6] > MF_LLAMA3_WIDTH / 2)
        return wrong(work, "a head of so many elements is not supported");
    while (llama3.wide && count < step->number[6])
        factors[count++] = 1;
    return mf_derive_floats(&work->derive, factors, (uint64_t)count);
}

/* ---- lists ---- */

static float *take_floats(struct mf_tensor_work *work, uint64_t count)
{
    if (count == 0 || count > FLOATS_MAX) {
        wrong(work, "too few or too many numbers");
        return NULL;
    }
    return mf_arena_take(work->derive.arena, (size_t)count * sizeof(float));
}

static const struct mf_derived *make_numbers(struct mf_tensor_work *work,
                                             const struct mf_node *list)
{
    const struct mf_node *element;
    float *floats;
    size_t count = 0;

    if (list->kind != MF_NODE_ARRAY)
        return wrong(work, "a list of numbers expected");
    floats = take_floats(work, list->count);
    if (!floats)
        return NULL;
    for (element = list->first; element; element = element->next) {
        if (!mf_node_is_number(element))
            return wrong(work, "a list of numbers expected");
        floats[count++] = (float)mf_node_real(element);
    }
    return mf_derive_floats(&work->derive, floats, count);
}

static const struct mf_derived *make_fill(struct mf_tensor_work *work,
                                          const struct mf_tensor_step *step)
{
    int64_t first = step->number[0], second = step->number[2];
    float *floats;

    if (first < 0 || second < 0 || first > FLOATS_MAX || second > FLOATS_MAX)
        return wrong(work, "too few or too many numbers");
    floats = take_floats(work, (uint64_t)(first + second));
    for (int64_t i = 0; floats && i < first + second; i++)
        floats[i] = (float)mf_node_real(step->value[i < first ? 1 : 3]);
    return floats ? mf_derive_floats(&work->derive, floats,
                                     (uint64_t)(first + second))
                  : NULL;
}

/* What the steps of an `extra` row make; NULL after mf_fail. */
static const struct mf_derived *make(struct mf_tensor_work *work,
                                     const struct mf_tensor_step *step)
{
    assert(step && !step->next);
    switch (step->kind) {
    case MF_STEP_LLAMA3:
        return make_llama3(work, step);
    case MF_STEP_NUMBERS:
        return make_numbers(work, step->value[0]);
    default:
        assert(step->kind == MF_STEP_FILL);
        return make_fill(work, step);
    }
}

enum mf_status mf_tensor_extras(struct mf_tensor_work *work)
{
    enum mf_status status = MF_OK;

    work->bid = -1;
    for (const struct mf_tensor_row *row = work->rows.first;
         row && status == MF_OK; row = row->next) {
        const struct mf_derived *node;

        if (row->kind != MF_ROW_EXTRA)
            continue;
        work->derive.name = row->pattern;
        node = make(work, row->step);
        if (!node)
            return mf_work_failed(work);
        status = work->put ? work->put(work->user, row->pattern, node)
                           : mf_tensor_emit(work, row->pattern, node);
    }
    return status;
}

/* ---- zeros ---- */

/* Whether all elements of so many bytes are 0; -0 is 0, too. */
static bool are_zero(const uint8_t *bytes, size_t size, size_t width,
                     bool is_signed)
{
    for (size_t i = 0; i < size; i++) {
        bool top = is_signed && i % width == width - 1;

        if ((bytes[i] & (top ? 0x7f : 0xff)) != 0)
            return false;
    }
    return true;
}

enum mf_status mf_tensor_check_zero(struct mf_tensor_work *work,
                                    const struct mf_tensor_name *name,
                                    const struct mf_derived *node)
{
    size_t width = mf_types[node->type].bytes;
    bool is_float = node->type == MF_TYPE_F32 || node->type == MF_TYPE_F16 ||
                    node->type == MF_TYPE_BF16 || node->type == MF_TYPE_F64;
    uint8_t bytes[4096];
    struct mf_source source;

    mf_derived_open(node, name->at, &source);
    for (uint64_t at = 0; at < source.size;) {
        size_t size = sizeof(bytes);

        if (size > source.size - at)
            size = (size_t)(source.size - at);
        if (mf_source_read(work->env, &source, at, bytes, size) != MF_OK)
            return mf_work_failed(work);
        if (!are_zero(bytes, size, width, is_float))
            return mf_decline(work->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                              "tensor '%s' has no counterpart in GGUF, and is "
                              "not all 0",
                              mf_quote(mf_tensor_name_text(name)).text);
        at += size;
    }
    return MF_OK;
}

/* ---- weights of three values ---- */

/* BitNet's weights are kept as they were trained, and become three values when
 * they are used.  The mean is computed of a sum in doubles: PyTorch adds
 * floats, in an order that depends on the machine. */

#define CHUNK 1024 /* numbers read at once */

static enum mf_status sum_of(struct mf_tensor_work *work,
                             const struct mf_source *source, double *sum)
{
    uint8_t bytes[CHUNK * 4];

    *sum = 0;
    for (uint64_t at = 0; at < source->size;) {
        size_t size = sizeof(bytes);

        if (size > source->size - at)
            size = (size_t)(source->size - at);
        if (mf_source_read(work->env, source, at, bytes, size) != MF_OK)
            return mf_work_failed(work);
        for (size_t i = 0; i + 4 <= size; i += 4)
            *sum += fabs((double)mf_little_float(bytes + i));
        at += size;
    }
    return MF_OK;
}

enum mf_status mf_tensor_ternary(struct mf_tensor_work *work,
                                 const struct mf_tensor_name *name,
                                 const struct mf_derived **node)
{
    const struct mf_derived *floats =
        mf_derive_cast(&work->derive, *node, MF_TYPE_F32);
    struct mf_source source;
    double sum;
    float mean;

    if (!floats)
        return mf_work_failed(work);
    mf_derived_open(floats, name->at, &source);
    if (sum_of(work, &source, &sum) != MF_OK)
        return mf_work_failed(work);
    mean = (float)sum / (float)floats->count;
    if (mean < 1e-5F)
        mean = 1e-5F;
    *node = mf_derive_map(&work->derive, *node, MF_MAP_TERNARY, 1 / mean);
    return *node ? MF_OK : mf_work_failed(work);
}
