/* SPDX-License-Identifier: MIT
 *
 * fit_mixes.c - the model in each mix, and whether that fits
 */
#include "lib/plan/fit.h"

#include "lib/base/sort.h"
#include "lib/plan/devices.h"
#include "lib/quantize/mix_sizes.h"

_Static_assert(MF_FIT_MIXES >= MF_MIX_MAX, "room for all mixes");
_Static_assert(MF_MIX_PLACES == 1 + MF_PLAN_DEVICES, "a place for each device");
_Static_assert(MF_MIX_LOAN == MF_PLAN_LOAN, "the same bit");

/* plan: without room for a tensor of the host, which depends on the mix. */
static struct mf_fit_mix row_of(const struct mf_fitting *fitting,
                                const struct mf_plan *plan, bool has_loan,
                                const struct mf_mix_sizes *sizes,
                                const struct mf_mix_size *size)
{
    struct mf_fit_mix row = { .name = size->name,
                              .needs_imatrix = size->needs_imatrix,
                              .file_size = MF_PLAN_UNKNOWN,
                              .data_size = MF_PLAN_UNKNOWN };

    struct mf_plan lent = *plan;

    if (!size->known)
        return row;
    row.file_size = size->file_size;
    row.data_size = size->data_size;
    if (sizes->elements > 0)
        row.bits_per_weight =
            (double)size->data_size * 8 / (double)sizes->elements;
    if (plan->device_count > 1 && has_loan)
        lent.device[1].total = mf_plan_add(lent.device[1].total, size->loan);
    row.fits = mf_fits(fitting, &lent, size->place);
    return row;
}

/* Most bits first; of mixes with equally many, in their usual order. */
static bool before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_mix_size *size = table;

    if (size[a].known != size[b].known)
        return size[a].known;
    if (size[a].known && size[a].data_size != size[b].data_size)
        return size[a].data_size > size[b].data_size;
    return a < b;
}

static uint32_t place(void *user, struct mf_str name)
{
    return mf_plan_place(user, name);
}

enum mf_status mf_fit_mixes(const struct mf_fitting *fitting,
                            const struct mf_plan *plan, struct mf_fit *out)
{
    struct mf_env *env = mf_planner_env(fitting->planner);
    struct mf_mix_sizes *sizes = mf_alloc(env, sizeof(*sizes));
    struct mf_plan lean = *plan;
    struct mf_plan_places places;
    uint32_t order[MF_MIX_MAX];
    uint64_t loan;
    enum mf_status status;

    if (!sizes)
        return env->error.status;
    mf_plan_places_of(fitting->planner, &fitting->options, &places);
    loan = mf_plan_loan(fitting->planner, &places,
                        mf_plan_min(plan->context, plan->ubatch));
    if (loan > 0 && mf_plan_is_number(lean.device[1].total))
        lean.device[1].total -= loan;
    status =
        mf_mix_sizes(mf_planner_asked(fitting->planner), place, &places, sizes);
    for (size_t i = 0; status == MF_OK && i < sizes->count; i++)
        order[i] = (uint32_t)i;
    if (status == MF_OK) {
        mf_sort(order, sizes->count, before, sizes->mix);
        for (size_t i = 0; i < sizes->count; i++)
            out->mix[i] =
                row_of(fitting, &lean, loan > 0, sizes, &sizes->mix[order[i]]);
        out->mix_count = sizes->count;
    }
    mf_release(env, sizes, sizeof(*sizes));
    return status;
}
