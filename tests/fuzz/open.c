/* SPDX-License-Identifier: MIT
 *
 * open.c - fuzz target: open any bytes as a model and look at all of it
 *
 * -DTARGET= the name of a format narrows it to that one, so that the fuzzer
 * does not spend its time on magics; -DTARGET=zip is all that are archives,
 * -DTARGET=json the JSON tokenizer alone.
 * -DREPLAY adds a main, see replay.h.
 *
 * Beside crashes and sanitizer reports it stops on a broken promise: something
 * left on the heap, or more of it used than 32 times the bytes read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/full/full.h"
#include "lib/io/digest.h"
#include "lib/json/json.h"
#include "lib/model/format.h"
#include "lib/program.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET gguf
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

/* Window, piece buffer and smallest tables of an env, a model and a value. */
#define FIXED_HEAP ((size_t)384 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is(const char *format)
{
    return strcmp(TEXT(TARGET), format) == 0;
}

static void stop(const char *why, size_t value, size_t bound)
{
    fprintf(stderr, "%s: %zu, at most %zu\n", why, value, bound);
    abort();
}

static void walk_value(struct mf_model *model, size_t index)
{
    struct mf_values *values;
    struct mf_value value;

    if (mf_values_open(model, index, &values) != MF_OK)
        return;
    while (mf_values_next(values, &value) == MF_OK &&
           value.event != MF_EVENT_DONE)
        if (value.text.size > 0)
            mf_text_clean(value.text.at, value.text.size);
    mf_values_close(values);
}

static void walk_table(const struct mf_model *model)
{
    struct mf_column_chunk chunk;
    struct mf_table_info info;
    struct mf_column column;

    if (!mf_model_table(model, &info))
        return;
    for (size_t i = 0; i < info.chunk_count; i++)
        if (!mf_column_chunk_at(model, i, &chunk) ||
            !mf_column_at(model, chunk.column, &column) ||
            column.path.at[column.path.size] != 0)
            stop("a chunk without a column, number", i, 0);
}

static void walk(struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;
    struct mf_tensor tensor;
    struct mf_meta meta;

    for (size_t i = 0; i < info->tensor_count; i++)
        if (!mf_tensor_at(model, i, &tensor) ||
            !mf_tensor_find(model, tensor.name.at, tensor.name.size, &tensor,
                            NULL) ||
            !mf_tensor_by_offset(model, i, &tensor))
            stop("a listed tensor is not found, number", i, 0);
    walk_table(model);
    for (size_t i = 0; i < info->metadata_count; i++)
        walk_value(model, i);
    for (int fact = 0; fact < MF_FACT_COUNT; fact++)
        mf_model_fact(model, (enum mf_fact)fact, &meta, NULL);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.message[mf_text_clean(finding.message,
                                          strlen(finding.message))])
            stop("a message with control characters, number", i, 0);
}

static void open_model(const uint8_t *data, size_t size, bool metadata_only)
{
    struct mf_open_options options = { .size = sizeof(struct mf_open_options),
                                       .metadata_only = metadata_only };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_heap_stats heap;
    struct mf_io_stats io;
    struct mf_model *model = NULL;

    if (!env)
        abort();
    if (mf_model_open_memory(env, "fuzz", data, size, &options, &model) ==
        MF_OK)
        walk(model);
    mf_env_heap(env, &heap);
    mf_env_io(env, &io);
    if (model && !metadata_only && mf_model_validate_data(model) == MF_OK)
        walk(model); /* the findings that were added */
    mf_model_close(model);
    if (heap.peak > FIXED_HEAP + 32 * (size_t)io.bytes_read)
        stop("bytes on the heap", heap.peak,
             FIXED_HEAP + 32 * (size_t)io.bytes_read);
    mf_env_free(env);
}

static void tokenize(const uint8_t *data, size_t size)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
    enum mf_json_token token;

    mf_source_open_memory("fuzz", data, size, &source);
    if (mf_reader_init(&reader, env, &source, NULL, 0) != MF_OK)
        abort();
    mf_json_init(&json, &reader);
    do {
        char text[16];
        uint64_t length;
        bool more = true;

        token = mf_json_next(&json);
        /* Every second string is read in pieces, the others are skipped. */
        if ((token == MF_JSON_STRING || token == MF_JSON_KEY) &&
            json.token_offset % 2 == 0)
            while (more && mf_json_text(&json, text, sizeof(text), &length,
                                        &more) == MF_OK)
                continue;
    } while (token != MF_JSON_ERROR && token != MF_JSON_END);
    mf_reader_release(&reader);
    mf_env_free(env);
}

/* A mutated APR header would nearly always have a wrong checksum, and nothing
 * after it would be read: half of the inputs get the right one. */
static void mend_checksum(uint8_t *bytes, size_t size)
{
    uint32_t crc;

    if (size < 65 || bytes[size - 1] % 2 != 0)
        return;
    crc = mf_crc32(mf_crc32(0, bytes, 40), bytes + 44, 20);
    for (int i = 0; i < 4; i++)
        bytes[40 + i] = (uint8_t)(crc >> 8 * i);
}

/* Rows of a folder have its name in their own, or in their rules' names;
 * archives begin as a zip file does. */
static bool is_of(const struct mf_format *format)
{
    const char *target = TEXT(TARGET);

    if (is("zip"))
        return format->tail_after &&
               strcmp(format->tail_after[0], "PK\3\4") == 0;
    return strstr(format->name, target) ||
           (format->rules &&
            strncasecmp(format->rules, target, strlen(target)) == 0);
}

/* Whether a row of that name recognizes the bytes. */
static bool is_format(const uint8_t *data, size_t size)
{
    size_t tail = size < MF_TAIL_SIZE ? size : MF_TAIL_SIZE;
    struct mf_head head = { .at = data,
                            .size = size < MF_HEAD_SIZE ? size : MF_HEAD_SIZE,
                            .file_size = size,
                            .tail = (uint8_t *)(uintptr_t)data + (size - tail),
                            .tail_size = tail };
    struct mf_detection unused = { 0 };

    for (size_t i = 0; mf_formats[i]; i++)
        if (is_of(mf_formats[i]) && mf_formats[i]->probe(&head, &unused))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (is("json")) {
        tokenize(data, size);
        return 0;
    }
    if (!is_format(data, size))
        return -1;
    copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    if (is("apr"))
        mend_checksum(copy, size);
    open_model(copy, size, false);
    open_model(copy, size, true);
    free(copy);
    return 0;
}
