/* SPDX-License-Identifier: MIT
 * check.c - what is wrong with a model, its data included */
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mf_validate_options options = { .size = sizeof(options),
                                           .data = true };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL;
    struct mf_finding finding;
    int code = 1;

    if (!env || argc != 2)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) != MF_OK ||
        mf_model_validate_with(model, &options) != MF_OK)
        fprintf(stderr, "%s: %s\n", argv[1], mf_env_error(env)->message);
    else
        code = mf_model_info(model)->error_count > 0;
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        printf("%s %s: %s\n", mf_severity_name(finding.severity), finding.rule,
               finding.message);
    mf_model_close(model);
    mf_env_free(env);
    return code;
}
