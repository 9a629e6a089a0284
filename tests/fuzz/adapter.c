/* SPDX-License-Identifier: MIT
 *
 * adapter.c - fuzz target: any bytes as a file of a LoRA adapter
 *
 * -DTARGET=adapter|adapter_config says whether they are its tensors or its
 * configuration; the other file is a good one.  The adapter is described,
 * validated, converted for a small model and added to it.  -DREPLAY adds a
 * main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on memory that leaks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/program.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET adapter
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

#define BASE "fixtures/good-hf-llama"
#define Q    "base_model.model.model.layers.0.self_attn.q_proj.lora_"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tensors[] =
    "{\"" Q "A.weight\":{\"dtype\":\"F32\",\"shape\":[2,8],"
    "\"data_offsets\":[0,64]},\"" Q "B.weight\":{\"dtype\":\"F32\","
    "\"shape\":[8,2],\"data_offsets\":[64,128]}}";
static const char config[] =
    "{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":4}";

static char folder[64];

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static const char *path_in(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    int fd =
        open(path_in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        stop(name, "cannot be written");
}

static void remove_folder(void)
{
    unlink(path_in("adapter_config.json"));
    unlink(path_in("adapter_model.safetensors"));
    unlink(path_in("out.safetensors"));
    rmdir(folder);
}

static void make_folder(void)
{
    uint8_t bytes[8 + sizeof(tensors) - 1 + 128] = { 0 };

    if (*folder)
        return;
    snprintf(folder, sizeof(folder), "%s", "/tmp/modelfile-adapter.XXXXXX");
    if (!mkdtemp(folder) || atexit(remove_folder) != 0)
        stop(folder, "cannot be made");
    bytes[0] = (sizeof(tensors) - 1) & 0xff;
    bytes[1] = (sizeof(tensors) - 1) >> 8;
    memcpy(bytes + 8, tensors, sizeof(tensors) - 1);
    put_file("adapter_model.safetensors", bytes, sizeof(bytes));
    put_file("adapter_config.json", config, sizeof(config) - 1);
}

/* Which of the calls succeed does not matter. */
static void use(struct mf_env *env)
{
    struct mf_convert_options how = { .size = sizeof(how),
                                      .names = MF_NAMING_GGUF,
                                      .base = BASE,
                                      .dry_run = true };
    char path[128], out[128];
    struct mf_adapter_info info;
    struct mf_model *model;

    snprintf(path, sizeof(path), "%s", path_in("adapter_model.safetensors"));
    snprintf(out, sizeof(out), "%s", path_in("out.safetensors"));
    if (mf_model_open(env, path, NULL, &model) == MF_OK) {
        mf_model_adapter_info(model, &info);
        mf_model_validate(model);
        mf_model_convert(model, "out.gguf", &how, NULL);
        mf_model_close(model);
    }
    how = (struct mf_convert_options){ .size = sizeof(how),
                                       .lora = path,
                                       .replace = true };
    if (mf_model_open(env, BASE "/model.safetensors", NULL, &model) == MF_OK) {
        mf_model_convert(model, out, &how, NULL);
        mf_model_close(model);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mf_options options = { .size = sizeof(options),
                                  .heap_limit = 64 << 20,
                                  .threads = 1 };
    struct mf_heap_stats before, after;
    struct mf_env *env;

    make_folder();
    put_file(strcmp(TEXT(TARGET), "adapter") == 0 ? "adapter_model.safetensors"
                                                  : "adapter_config.json",
             data, size);
    env = mf_env_new(&options);
    if (!env)
        stop("env", "cannot be made");
    mf_env_heap(env, &before);
    use(env);
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("memory", "is left");
    mf_env_free(env);
    return 0;
}
