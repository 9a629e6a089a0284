/* SPDX-License-Identifier: MIT
 *
 * same_model.h - whether one model is the other in another file or format
 */
#ifndef TESTS_SAME_MODEL_H
#define TESTS_SAME_MODEL_H

#include <sys/stat.h>

#include "lib/model/model.h"
#include "tests/with_scratch.h"

static const char *const formats[] = { "gguf", "apr", "safetensors" };

static inline const char *output(const char *stem, const char *format)
{
    char name[64];

    snprintf(name, sizeof(name), "%s.%s", stem, format);
    return scratch_path(name);
}

/* ---- the same model ---- */

static inline uint8_t *file_bytes(const struct mf_model *model,
                                  const struct mf_tensor *of)
{
    size_t size = (size_t)of->data.size;
    uint8_t *bytes = malloc(size + 1);
    struct mf_shard shard;
    FILE *file;

    assert_non_null(bytes);
    assert_true(mf_shard_at(model, of->shard, &shard));
    file = fopen(shard.path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)of->data.offset, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    return bytes;
}

/* Of a tensor that is compressed, or turned around, in its file: as all readers
 * of the library get it.  test_stored.c knows what they should get. */
static inline uint8_t *computed_bytes(const struct mf_model *model,
                                      const struct mf_tensor *of)
{
    size_t size = (size_t)of->data.size, at;
    uint8_t *bytes = malloc(size + 1);
    struct mf_tensor unused;

    assert_non_null(bytes);
    assert_true(
        mf_tensor_find(model, of->name.at, of->name.size, &unused, &at));
    assert_int_equal(
        mf_source_read(model->env, &model->file[of->shard].source,
                       mf_record_data(model, &model->index.tensor[at]), bytes,
                       size),
        MF_OK);
    return bytes;
}

static inline uint8_t *bytes_of(const struct mf_model *model,
                                const struct mf_tensor *of)
{
    return of->flags &
                   (MF_TENSOR_PACKED | MF_TENSOR_STRIDED | MF_TENSOR_SWAPPED)
               ? computed_bytes(model, of)
               : file_bytes(model, of);
}

static inline void same_bytes(const struct mf_model *a,
                              const struct mf_tensor *of_a,
                              const struct mf_model *b,
                              const struct mf_tensor *of_b)
{
    uint8_t *bytes[2] = { bytes_of(a, of_a), bytes_of(b, of_b) };

    for (uint64_t at = 0; at < of_a->data.size; at++)
        if (bytes[0][at] != bytes[1][at])
            fail_msg("byte %" PRIu64 " of '%s' differs", at, of_a->name.at);
    free(bytes[0]);
    free(bytes[1]);
}

/* Elements that are neighbours stay neighbours, whichever dimension a format
 * counts first. */
static inline bool same_shape(const struct mf_model *a,
                              const struct mf_tensor *of_a,
                              const struct mf_model *b,
                              const struct mf_tensor *of_b)
{
    bool turned =
        mf_model_info(a)->fastest_first != mf_model_info(b)->fastest_first;

    if (of_a->rank + of_b->rank == 1) /* a scalar in GGUF */
        return of_a->parameters == 1 && of_b->parameters == 1;
    for (uint32_t i = 0; i < of_a->rank && of_a->rank == of_b->rank; i++)
        if (of_a->dim[i] != of_b->dim[turned ? of_a->rank - 1 - i : i])
            return false;
    return of_a->rank == of_b->rank;
}

static inline void same_tensors(const struct mf_model *a,
                                const struct mf_model *b)
{
    struct mf_tensor of_a, of_b;

    assert_int_equal(mf_model_info(a)->tensor_count,
                     mf_model_info(b)->tensor_count);
    for (size_t i = 0; mf_tensor_at(a, i, &of_a); i++) {
        if (!mf_tensor_find(b, of_a.name.at, of_a.name.size, &of_b, NULL))
            fail_msg("tensor '%s' is gone", of_a.name.at);
        if (strcmp(of_a.type, of_b.type) != 0 ||
            of_a.data.size != of_b.data.size || !same_shape(a, &of_a, b, &of_b))
            fail_msg("tensor '%s' is another", of_a.name.at);
        same_bytes(a, &of_a, b, &of_b);
    }
}

/* ---- nothing new is wrong ---- */

static inline bool has_rule(const struct mf_model *model, const char *rule)
{
    struct mf_finding finding;

    return find_rule(model, rule, &finding);
}

/* What only the new format, or its readers, require. */
static inline bool is_of_gguf_alone(const char *rule)
{
    static const char *const rules[] = { "GGUF-DIM-ZERO", "GGUF-KEY-STYLE" };

    for (size_t i = 0; i < COUNT(rules); i++)
        if (strcmp(rule, rules[i]) == 0)
            return true;
    return strncmp(rule, "TOKENS-", 7) == 0 || strncmp(rule, "MODEL-", 6) == 0;
}

/* Numbers for each layer have no key in APR: they name their type, and no rule
 * of models finds them. */
static inline bool is_of_apr_alone(const char *path, const char *rule)
{
    return strcmp(path, "good-uneven.gguf") == 0 &&
           strcmp(rule, "MODEL-KEY") == 0;
}

/* Not all files with tensors say of which model they are. */
static inline bool is_of_models_alone(const struct mf_model *from,
                                      const char *rule)
{
    struct mf_meta architecture;

    return strcmp(rule, "MODEL-ARCHITECTURE") == 0 &&
           !mf_model_fact(from, MF_FACT_ARCHITECTURE, &architecture, NULL);
}

static inline void nothing_new(const char *path, const struct mf_model *from,
                               struct mf_model *to)
{
    bool into_gguf = strcmp(mf_model_info(to)->format, "gguf") == 0 &&
                     strcmp(mf_model_info(from)->format, "gguf") != 0;
    struct mf_finding finding;

    assert_int_equal(mf_model_validate_data(to), MF_OK);
    for (size_t i = 0; mf_finding_at(to, i, &finding); i++)
        if (finding.severity != MF_NOTE && !has_rule(from, finding.rule) &&
            !(into_gguf && is_of_gguf_alone(finding.rule)) &&
            !is_of_models_alone(from, finding.rule) &&
            !is_of_apr_alone(path, finding.rule))
            fail_msg("%s: %s: %s", path, finding.rule, finding.message);
}

#endif
