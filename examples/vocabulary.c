/* SPDX-License-Identifier: MIT
 * vocabulary.c - the tokens of a GGUF file with their scores */
#include <modelfile.h>
#include <stdio.h>
#include <string.h>

static const struct mf_array *array(struct mf_model *model, const char *key)
{
    const struct mf_array *out = NULL;
    struct mf_meta meta;
    size_t at;

    if (mf_meta_find(model, key, strlen(key), &meta, &at))
        mf_values_read(model, at, &out);
    return out;
}

int main(int argc, char **argv)
{
    struct mf_env *env = argc == 2 ? mf_env_new(NULL) : NULL;
    struct mf_model *model = NULL;
    const struct mf_array *tokens, *scores;

    mf_model_open(env, argv[1], NULL, &model);
    tokens = array(model, "tokenizer.ggml.tokens");
    scores = array(model, "tokenizer.ggml.scores");
    for (size_t i = 0; tokens && i < tokens->count; i++) {
        printf("%s", ((const struct mf_str *)tokens->elements)[i].at);
        if (scores && scores->of == MF_VALUE_F32 && i < scores->count)
            printf("\t%g", (double)((const float *)scores->elements)[i]);
        printf("\n");
    }
    mf_array_free(tokens);
    mf_array_free(scores);
    mf_model_close(model);
    mf_env_free(env);
    return tokens ? 0 : 1;
}
