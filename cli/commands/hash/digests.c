/* SPDX-License-Identifier: MIT
 *
 * digests.c - digests of a model's tensors
 */
#include "cli/commands/hash/hash.h"
#include "cli/remote/remote.h"
#include "cli/report.h"

struct hex_text hex_text(const uint8_t *digest, size_t size)
{
    struct hex_text text;
    char *at = text.at;

    for (size_t i = 0; i < size; i++) {
        *at++ = "0123456789abcdef"[digest[i] >> 4];
        *at++ = "0123456789abcdef"[digest[i] & 15];
    }
    *at = 0;
    return text;
}

static size_t digests_size(const struct mf_model *model,
                           const struct digests *digests)
{
    return (mf_model_info(model)->tensor_count + 1) * digests->info.size;
}

bool digests_compute(struct run *run, const char *path, struct mf_model *model,
                     struct digests *digests)
{
    digests->tensor =
        mf_env_resize(run->env, NULL, 0, digests_size(model, digests));
    if (digests->tensor &&
        mf_model_hash_tensors(model, digests->info.kind, digests->tensor) ==
            MF_OK &&
        remote_check(run, model, path) == MF_OK)
        return true;
    report_failure(run, path);
    return false;
}

void digests_release(struct run *run, const struct mf_model *model,
                     struct digests *digests)
{
    if (digests->tensor)
        mf_env_resize(run->env, digests->tensor, digests_size(model, digests),
                      0);
}
