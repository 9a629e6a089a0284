/* SPDX-License-Identifier: MIT
 *
 * tensors_back.c - a GGUF file's tensors as a Hugging Face model has them
 *
 * The rows and steps are the other way's; names are the rows' own, so a
 * tensor that none of them named is refused.
 */
#include "lib/hf/hub/tensors_made.h"
#include "lib/hf/hub/tensors_work.h"

struct back {
    struct mf_tensor_work *work;
    bool decode; /* quantized tensors */
    mf_hub_put *put;
    void *user;
};

static enum mf_status put(void *user, struct mf_str name,
                          const struct mf_derived *node)
{
    struct back *back = user;

    if (node && !back->work->named)
        return mf_decline(back->work->env, MF_REASON_NAMES_UNKNOWN,
                          MF_NO_OFFSET,
                          "tensor '%s' has no counterpart in a Hugging Face "
                          "model of this architecture",
                          mf_quote(name).text);
    return back->put(back->user, name, node);
}

static enum mf_status run(struct back *back, const struct mf_model *model)
{
    struct mf_tensor_work *work = back->work;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < model->index.tensor_count && status == MF_OK; i++) {
        const struct mf_record *record = &model->index.tensor[i];
        const struct mf_derived *node;
        bool skipped;

        work->derive.name = (struct mf_str){ record->name, record->name_size };
        work->named = false;
        status = mf_tensor_filter(work, record, &skipped);
        if (status != MF_OK || skipped)
            continue;
        node = mf_derive_tensor(&work->derive, model, i);
        if (node && back->decode &&
            mf_type_is_quantized((enum mf_type)node->type))
            node = mf_derive_decoded(&work->derive, node);
        status = node
                     ? mf_tensor_flow(work, work->rows.first, &work->name, node)
                     : mf_work_failed(work);
    }
    if (status == MF_OK)
        status = mf_group_check(work);
    work->named = true;
    return status == MF_OK ? mf_tensor_extras(work) : status;
}

enum mf_status mf_hub_tensors_back(struct mf_recipe *recipe,
                                   const struct mf_rows_part *part, bool decode,
                                   mf_hub_put *visit, void *user)
{
    struct mf_hub_tensors hub = { .recipe = recipe };
    struct mf_tensor_work *work = mf_arena_take(recipe->arena, sizeof(*work));
    struct back back = {
        .work = work, .decode = decode, .put = visit, .user = user
    };

    if (!work)
        return recipe->env->error.status;
    *work = (struct mf_tensor_work){ .hub = &hub,
                                     .env = recipe->env,
                                     .pass = MF_ROW_TENSOR,
                                     .put = put,
                                     .user = &back };
    recipe->lets = recipe->given;
    if (mf_derivation_init(&work->derive, recipe->env, recipe->arena) !=
            MF_OK ||
        mf_tensor_rows_of(&work->rows, recipe, part) != MF_OK)
        return recipe->env->error.status;
    return run(&back, recipe->model);
}
