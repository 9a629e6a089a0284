/* SPDX-License-Identifier: MIT
 *
 * dump.c - all tensors of a model as numbers, for programs that know them
 *
 *     dump MODEL FOLDER
 *
 * Prints a line for each tensor: the kind of its numbers (i64, f64 or none),
 * how many there are, and its name.  Number N of them is in FOLDER/N, as the
 * library reads it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/modelfile.h"

static int save(const char *folder, size_t number, const void *bytes,
                size_t size)
{
    char path[1024];
    FILE *file;
    size_t wrote;

    snprintf(path, sizeof(path), "%s/%zu", folder, number);
    file = fopen(path, "wb");
    if (!file)
        return 1;
    wrote = fwrite(bytes, 1, size, file);
    return fclose(file) != 0 || wrote != size;
}

/* Reads a tensor in pieces of odd sizes, from the end to the start. */
static enum mf_status read_all(struct mf_model *model, size_t index,
                               uint64_t count, enum mf_read_as as, void *out)
{
    enum mf_status status = MF_OK;
    uint64_t some;

    for (uint64_t left = count; left > 0 && status == MF_OK; left -= some) {
        some = left < 1001 ? left : 1001;
        status = mf_tensor_read(model, index, left - some, some, as,
                                (char *)out + (left - some) * 8);
    }
    return status;
}

static int dump(struct mf_model *model, const char *folder)
{
    struct mf_tensor tensor;
    int code = 0;

    for (size_t i = 0; code == 0 && mf_tensor_at(model, i, &tensor); i++) {
        size_t count = (size_t)tensor.parameters;
        void *numbers = malloc(count * 8 + 1);
        const char *kind = "i64";

        if (!numbers)
            return 1;
        if (read_all(model, i, count, MF_READ_I64, numbers) != MF_OK || !count)
            kind = read_all(model, i, count, MF_READ_F64, numbers) == MF_OK
                       ? "f64"
                       : "none";
        printf("%s %zu %s\n", kind, count, tensor.name.at);
        code = save(folder, i, numbers, count * 8);
        free(numbers);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    int code = 1;

    if (!env || argc != 3)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) == MF_OK) {
        code = dump(model, argv[2]);
        mf_model_close(model);
    } else {
        fprintf(stderr, "%s: %s\n", argv[1], mf_env_error(env)->message);
    }
    mf_env_free(env);
    return code;
}
