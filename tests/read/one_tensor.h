/* SPDX-License-Identifier: MIT
 *
 * one_tensor.h - a safetensors file in memory with one tensor
 */
#ifndef TESTS_ONE_TENSOR_H
#define TESTS_ONE_TENSOR_H

#include "tests/with_env.h"

#define NAME "t"

static inline struct mf_model *tensor_in_memory(const char *type,
                                                const void *bytes, size_t count,
                                                size_t element)
{
    static uint8_t file[4 << 20];
    char *head = (char *)file + 8;
    struct mf_model *model = NULL;
    uint64_t size;

    size = (uint64_t)sprintf(head,
                             "{\"" NAME "\":{\"dtype\":\"%s\",\"shape\":[%zu],"
                             "\"data_offsets\":[0,%zu]}}",
                             type, count, count * element);
    assert_true(8 + size + count * element <= sizeof(file));
    set_number(file, size, sizeof(size));
    memcpy(head + size, bytes, count * element);
    in_file_order(head + size, count, element);
    assert_int_equal(mf_model_open_memory(env, "memory", file,
                                          8 + (size_t)size + count * element,
                                          NULL, &model),
                     MF_OK);
    return model;
}

#endif
