/* SPDX-License-Identifier: MIT
 *
 * mix.h - the plan of a model that is quantized, for tests
 */
#ifndef TESTS_MIX_H
#define TESTS_MIX_H

#include "lib/quantize/mix.h"
#include "lib/write/convert.h"
#include "tests/scratch.h"

struct plan {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_imatrix *imatrix;
    struct mf_draft draft;
    struct mf_mix_result result;
};

/* What becomes of the model at path; drop it in any case.  The env is the
 * plan's from there on.  matrix is where choices->imatrix lies; NULL: right
 * there. */
static inline enum mf_status
make_plan_in(struct mf_env *env, struct plan *plan, const char *path,
             const struct mf_quantize_options *choices, const char *matrix)
{
    struct mf_draft *drafts[] = { &plan->draft };
    struct mf_imatrix_choice choice = { choices->include, choices->exclude,
                                        choices->include_count,
                                        choices->exclude_count };
    size_t left_out;

    if (!matrix)
        matrix = choices->imatrix;
    *plan = (struct plan){ .env = env };
    mf_draft_init(&plan->draft, plan->env, &mf_format_gguf);
    if (mf_model_open(plan->env, path, NULL, &plan->model) != MF_OK ||
        (matrix && mf_imatrix_open(plan->env, matrix, &choice,
                                   &plan->imatrix) != MF_OK) ||
        mf_carry_metadata(&plan->draft, plan->model, &left_out) != MF_OK ||
        mf_draft_list_tensors(&plan->draft, plan->model, NULL, 0,
                              plan->model->index.tensor_count) != MF_OK ||
        mf_mix_apply(drafts, 1, plan->model, choices, plan->imatrix, false,
                     &plan->result) != MF_OK)
        return plan->env->error.status;
    return mf_draft_plan(&plan->draft);
}

static inline enum mf_status
make_plan(struct plan *plan, const char *path,
          const struct mf_quantize_options *choices)
{
    struct mf_env *env = mf_env_new(NULL);

    assert_non_null(env);
    return make_plan_in(env, plan, path, choices, NULL);
}

static inline void drop_plan(struct plan *plan)
{
    mf_draft_release(&plan->draft);
    mf_imatrix_close(plan->imatrix);
    mf_model_close(plan->model);
    mf_env_free(plan->env);
}

static inline const char *message_of(const struct plan *plan)
{
    return mf_env_error(plan->env)->message;
}

/* The tensor of that name in the plan. */
static inline const struct mf_draft_tensor *planned(const struct plan *plan,
                                                    const char *name)
{
    for (size_t i = 0; i < plan->draft.tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &plan->draft.tensor[i];

        if (tensor->name.size == strlen(name) &&
            memcmp(tensor->name.at, name, tensor->name.size) == 0)
            return tensor;
    }
    return NULL;
}

static inline const char *planned_type(const struct plan *plan,
                                       const char *name)
{
    const struct mf_draft_tensor *tensor = planned(plan, name);

    return tensor ? mf_types[tensor->type].name : "none";
}

/* ---- an old importance matrix ---- */

static inline void write_number(FILE *file, uint32_t number)
{
    in_file_order(&number, 1, sizeof(number));
    assert_int_equal(fwrite(&number, sizeof(number), 1, file), 1);
}

static inline void write_text(FILE *file, const char *text)
{
    write_number(file, (uint32_t)strlen(text));
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
}

/* A matrix of so many entries, which are written next. */
static inline FILE *start_matrix(const char *path, uint32_t entries)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    write_number(file, entries);
    return file;
}

static inline void write_entry(FILE *file, const char *name, uint32_t calls,
                               uint32_t count, float value)
{
    write_text(file, name);
    write_number(file, calls);
    write_number(file, count);
    in_file_order(&value, 1, sizeof(value));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(fwrite(&value, sizeof(value), 1, file), 1);
}

/* ---- the models of fixtures/mix/models.txt ---- */

struct making {
    struct mf_writer *writer;
    FILE *matrix; /* an entry for each matrix; NULL: none */
    uint32_t entries;
};

static inline void make_key(struct mf_writer *writer, const char *key,
                            const char *type, const char *value)
{
    struct mf_edit edit = { .key = key, .type = MF_VALUE_STRING };

    edit.text = (struct mf_str){ value, strlen(value) };
    if (strcmp(type, "u32") == 0) {
        edit.type = MF_VALUE_U32;
        edit.number.u64 = strtoul(value, NULL, 10);
    } else if (strcmp(type, "f32") == 0) {
        edit.type = MF_VALUE_F32;
        edit.number.f64 = (double)strtof(value, NULL);
    }
    assert_int_equal(mf_writer_set(writer, &edit), MF_OK);
}

/* dims: "256 2", the fastest first.  "#" in the name is the number. */
static inline void make_tensor(struct making *making, const char *name,
                               unsigned number, const char *type,
                               const char *dims)
{
    uint64_t fastest[4], dim[4];
    struct mf_new_tensor tensor = { .type = type, .dim = dim };
    const char *hash = strchr(name, '#');
    char full[128];
    char *end;

    for (; *dims && *dims != '\n'; dims = end)
        fastest[tensor.rank++] = strtoul(dims, &end, 10);
    for (uint32_t i = 0; i < tensor.rank; i++)
        dim[i] = fastest[tensor.rank - 1 - i];
    if (hash)
        snprintf(full, sizeof(full), "%.*s%u%s", (int)(hash - name), name,
                 number, hash + 1);
    else
        snprintf(full, sizeof(full), "%s", name);
    tensor.name = (struct mf_str){ full, strlen(full) };
    assert_int_equal(mf_writer_add(making->writer, &tensor, NULL), MF_OK);
    if (!making->matrix || tensor.rank < 2)
        return;
    making->entries++;
    write_entry(making->matrix, full, 2,
                (uint32_t)(fastest[0] * (tensor.rank > 2 ? fastest[2] : 1)), 3);
}

static inline void make_line(struct making *making, const char *line)
{
    char name[64], type[16], value[64];
    unsigned times;
    int at;

    if (sscanf(line, "key %63s %15s %63s", name, type, value) == 3)
        make_key(making->writer, name, type, value);
    if (sscanf(line, "tensor %63s %u %15s %n", name, &times, type, &at) == 3)
        for (unsigned i = 0; i < times; i++)
            make_tensor(making, name, i, type, line + at);
}

static inline enum mf_status
no_bytes(void *user, size_t tensor, uint64_t offset, void *buffer, size_t size)
{
    (void)user;
    (void)tensor;
    (void)offset;
    memset(buffer, 0, size);
    return MF_OK;
}

/* Writes the model of that name, and an importance matrix for it (matrix may be
 * NULL). */
static inline void make_model(const char *wanted, const char *path,
                              const char *matrix)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_writer_options options = { .size =
                                             sizeof(struct mf_writer_options),
                                         .format = "gguf",
                                         .replace = true };
    FILE *file = fopen(fixture_path("mix/models.txt"), "r");
    struct making making = { .matrix = matrix ? fopen(matrix, "wb") : NULL };
    char line[256], name[64];
    bool inside = false;

    assert_non_null(file);
    assert_int_equal(mf_writer_new(env, &options, &making.writer), MF_OK);
    if (making.matrix)
        write_number(making.matrix, 0);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "model %63s", name) == 1)
            inside = strcmp(name, wanted) == 0;
        if (inside)
            make_line(&making, line);
    }
    fclose(file);
    assert_int_equal(mf_writer_open(making.writer, path), MF_OK);
    assert_int_equal(mf_writer_fill(making.writer, no_bytes, NULL), MF_OK);
    assert_int_equal(mf_writer_commit(making.writer), MF_OK);
    mf_writer_free(making.writer);
    mf_env_free(env);
    if (!making.matrix)
        return;
    rewind(making.matrix);
    write_number(making.matrix, making.entries);
    assert_int_equal(fclose(making.matrix), 0);
}

#endif
