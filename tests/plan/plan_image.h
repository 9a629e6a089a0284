/* SPDX-License-Identifier: MIT
 *
 * plan_image.h - GGUF headers in memory, from a line of text
 *
 *     "block_count=32 attention.head_count_kv=[0,8] attention.causal=false"
 *
 * A number is a u32, with a sign an i32, with a point an f32; a list is an
 * array of i32, of bool if it has true or false; anything else is a string. The
 * architecture's name comes before each key.  There are no tensors.
 */
#ifndef TESTS_PLAN_IMAGE_H
#define TESTS_PLAN_IMAGE_H

#include "tests/image.h"
#include "tests/plan/plan_fit.h"

static inline void put_text(const char *text, size_t size)
{
    put_number(size, 8);
    put(text, size);
}

static inline bool is_bool(const char *text)
{
    return strncmp(text, "true", 4) == 0 || strncmp(text, "false", 5) == 0;
}

static inline void put_list(const char *value)
{
    bool bools = is_bool(value + 1);
    uint64_t count = 1;

    for (const char *at = value; *at && *at != ' '; at++)
        count += *at == ',';
    put_number(MF_VALUE_ARRAY, 4);
    put_number(bools ? MF_VALUE_BOOL : MF_VALUE_I32, 4);
    put_number(count, 8);
    for (const char *at = value + 1; count-- > 0; at += strcspn(at, ",]") + 1)
        if (bools)
            put_number(*at == 't', 1);
        else
            put_number((uint64_t)strtoll(at, NULL, 10), 4);
}

static inline void put_value(const char *value, size_t size)
{
    float real;

    if (*value == '[') {
        put_list(value);
    } else if (is_bool(value)) {
        put_number(MF_VALUE_BOOL, 4);
        put_number(*value == 't', 1);
    } else if (*value == '+' || *value == '-') {
        put_number(MF_VALUE_I32, 4);
        put_number((uint64_t)strtoll(value, NULL, 10), 4);
    } else if (*value < '0' || *value > '9') {
        put_number(MF_VALUE_STRING, 4);
        put_text(value, size);
    } else if (memchr(value, '.', size)) {
        real = strtof(value, NULL);
        put_number(MF_VALUE_F32, 4);
        in_file_order(&real, 1, sizeof(real));
        put(&real, sizeof(real));
    } else {
        put_number(MF_VALUE_U32, 4);
        put_number(strtoull(value, NULL, 10), 4);
    }
}

static inline void make_header(const char *arch, const char *keys)
{
    uint64_t count = 2;
    char name[256];

    for (const char *at = keys; *at; at++)
        count += *at == '=';
    image.size = 0;
    put("GGUF", 4);
    put_number(3, 4);
    put_number(0, 8);
    put_number(count, 8);
    put_text("general.architecture", strlen("general.architecture"));
    put_number(MF_VALUE_STRING, 4);
    put_text(arch, strlen(arch));
    put_text("tokenizer.ggml.model", strlen("tokenizer.ggml.model"));
    put_number(MF_VALUE_STRING, 4);
    put_text("no_vocab", strlen("no_vocab"));
    while (*keys) {
        size_t key = strcspn(keys, "="), size;

        snprintf(name, sizeof(name), "%s.%.*s", arch, (int)key, keys);
        put_text(name, strlen(name));
        keys += key + 1;
        size = strcspn(keys, " ");
        put_value(keys, size);
        keys += size;
        keys += strspn(keys, " ");
    }
}

/* Opens what was put together; close it. */
static inline struct mf_model *open_image(void)
{
    struct mf_model *model;

    while (image.size % 32 != 0)
        put("", 1);
    if (mf_model_open_memory(env, "made.gguf", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

/* Close it. */
static inline struct mf_model *open_header(const char *arch, const char *keys)
{
    make_header(arch, keys);
    return open_image();
}

static inline struct mf_plan plan_header(const char *arch, const char *keys,
                                         const struct mf_plan_options *options)
{
    struct mf_model *model = open_header(arch, keys);
    struct mf_plan plan;

    if (mf_plan(model, options, &plan) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_model_close(model);
    return plan;
}

static inline double mib(uint64_t bytes)
{
    return (double)bytes / (1024 * 1024);
}

/* As logs print it: "4096 x 32: 1024.00 + 1024.00; R 0.98 S 72.00" */
static inline void print_caches(const struct mf_plan *plan, char *out,
                                size_t room)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; i < plan->cache_count; i++)
        used += (size_t)snprintf(
            out + used, room - used, "%s%llu x %llu: %.2f + %.2f",
            i > 0 ? "; " : "", (unsigned long long)plan->cache[i].cells,
            (unsigned long long)plan->cache[i].layers,
            mib(plan->cache[i].k_bytes), mib(plan->cache[i].v_bytes));
    if (plan->state_conv || plan->state_ssm)
        snprintf(out + used, room - used, "%sR %.2f S %.2f",
                 used > 0 ? "; " : "", mib(plan->state_conv),
                 mib(plan->state_ssm));
}

#endif
