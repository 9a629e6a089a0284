/* SPDX-License-Identifier: MIT
 *
 * apr_image.h - APR files of version 2 made in memory, for tests of one fault
 * at a time
 */
#ifndef TESTS_APR_IMAGE_H
#define TESTS_APR_IMAGE_H

#include <inttypes.h>

#include "lib/model/format.h"
#include "tests/image.h"
#include "tests/with_env.h"

/* ---- files made in memory ---- */

/* Offsets of fields in the header. */
enum {
    AT_FLAGS = 6,
    AT_COUNT = 8,
    AT_METADATA = 12,
    AT_METADATA_SIZE = 20,
    AT_INDEX = 24,
    AT_DATA = 32,
    AT_CHECKSUM = 40
};

enum { LZ4 = 1, ZSTD = 2, ROW_MAJOR = 0x400 };

static inline void put_text(const char *text)
{
    put(text, strlen(text));
}

static inline void pad(void)
{
    while (image.size % 64 != 0)
        image.at[image.size++] = 0;
}

static inline void set(size_t at, uint64_t value, size_t size)
{
    set_number(image.at + at, value, size);
}

static inline void seal(void)
{
    uint32_t crc = mf_crc32(0, image.at, AT_CHECKSUM);

    set(AT_CHECKSUM, mf_crc32(crc, image.at + 44, 64 - 44), 4);
}

/* A header and the metadata; the index comes next. */
static inline void begin(unsigned flags, uint32_t count, const char *metadata)
{
    memset(image.at, 0, 64);
    memcpy(image.at, "APR\0\2", 5);
    image.size = 64;
    set(AT_FLAGS, flags, 2);
    set(AT_COUNT, count, 4);
    set(AT_METADATA, 64, 8);
    set(AT_METADATA_SIZE, strlen(metadata), 4);
    put_text(metadata);
    pad();
    set(AT_INDEX, image.size, 8);
}

struct entry {
    const char *name;
    uint8_t dtype, rank;
    uint64_t dim[9], offset, size;
};

static inline void put_entry(const struct entry *entry)
{
    put_number(strlen(entry->name), 2);
    put_text(entry->name);
    put_number(entry->dtype, 1);
    put_number(entry->rank, 1);
    for (uint8_t i = 0; i < entry->rank; i++)
        put_number(entry->dim[i], 8);
    put_number(entry->offset, 8);
    put_number(entry->size, 8);
}

/* The data begins; so many bytes of it, padded. */
static inline void end(size_t size)
{
    pad();
    set(AT_DATA, image.size, 8);
    assert_true(size <= sizeof(image.at) - image.size - 64);
    memset(image.at + image.size, 0, size);
    image.size += size;
    pad();
    seal();
}

static inline struct mf_model *open_image(const char *what)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.apr", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s: %s", what, mf_env_error(env)->message);
    return model;
}

static inline void check_rules(const struct mf_model *model, const char *what,
                               const char *expected)
{
    struct mf_finding finding;
    char rules[256] = "";

    for (size_t k = 0; mf_finding_at(model, k, &finding); k++) {
        strcat(rules, finding.rule);
        strcat(rules, " ");
    }
    if (strcmp(rules, expected) != 0)
        fail_msg("%s: found %s", what, rules);
}

static inline void expect_rules(const char *what, const char *rules)
{
    struct mf_model *model = open_image(what);

    check_rules(model, what, rules);
    walk_model(model);
    mf_model_close(model);
}

static inline void expect_refusal(const char *what, enum mf_status status)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.apr", image.at, image.size, NULL,
                             &model) == MF_OK)
        fail_msg("%s: opens", what);
    if (mf_env_error(env)->status != status)
        fail_msg("%s: %s", what, mf_env_error(env)->message);
}

#endif
