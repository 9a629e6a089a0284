/* SPDX-License-Identifier: MIT
 *
 * tensors_ternary.c - weights of three values
 *
 * BitNet's weights are kept as they were trained, and become three values when
 * they are used.  The mean is computed of a sum in doubles: PyTorch adds
 * floats, in an order that depends on the machine.
 */
#include <math.h>

#include "lib/base/little.h"
#include "lib/hf/hub/tensors_made.h"

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
