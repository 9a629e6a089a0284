/* SPDX-License-Identifier: MIT
 * quantize.c - an array as blocks of 4.5 bits a number, and back */
#include <math.h>
#include <modelfile.h>
#include <stdio.h>

#define COUNT 1024

int main(void)
{
    static float row[COUNT], again[COUNT];
    static uint8_t blocks[COUNT];
    struct mf_env *env = mf_env_new(NULL);
    struct mf_kernel kernel;
    double error = 0;

    if (!env || !mf_kernel_find("q4_k", NULL, &kernel))
        return 2;
    for (int i = 0; i < COUNT; i++)
        row[i] = sinf((float)i / 10);
    if (mf_env_encode(env, &kernel, row, NULL, blocks, COUNT) != MF_OK)
        fprintf(stderr, "%s\n", mf_env_error(env)->message);
    kernel.decode(blocks, again, COUNT);
    for (int i = 0; i < COUNT; i++)
        error += ((double)row[i] - again[i]) * ((double)row[i] - again[i]);
    printf("%s: %u bytes instead of %zu, rms error %.4f\n", kernel.type,
           COUNT / kernel.block * kernel.size, sizeof(row),
           sqrt(error / COUNT));
    mf_env_free(env);
    return 0;
}
