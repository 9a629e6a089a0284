/* SPDX-License-Identifier: MIT
 *
 * tensor_types.c - types that llama.cpp can compute with, tensor by tensor
 *
 * Its loader accepts any type that its tensor library knows.  Whether the type
 * works is decided when the graph is computed: a norm in f16 ends the process,
 * a matrix of integers calls a function that is not there.
 *
 * What a tensor is used for depends on its name, and hardly on the
 * architecture.  Tensors that the table does not have are not checked.
 */
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/str.h"
#include "lib/check/check.h"
#include "lib/modelfile.h"

/* ---- the name of a tensor without its numbers ---- */

/* "blk.7.attn_q.weight" becomes "blk.*.attn_q.weight", so that one row of a
 * table stands for the tensors of all blocks. */

/* The longest pattern of any table takes 55 bytes. */
#define MF_NAME_PATTERN_MAX 64

struct mf_name_pattern {
    char text[MF_NAME_PATTERN_MAX];
    struct mf_str name; /* with "*" for each number between dots */
    bool has_block;
    uint64_t block; /* the first number */
};

/* The count of digits from `at` on, if they are a whole part between dots. */
static size_t digits_at(struct mf_str name, size_t at)
{
    size_t end = at;

    if (at > 0 && name.at[at - 1] != '.')
        return 0;
    while (end < name.size && name.at[end] >= '0' && name.at[end] <= '9')
        end++;
    return end == name.size || name.at[end] != '.' ? 0 : end - at;
}

/* False for a name that no table can have: too long, or with a number of more
 * than nine digits. */
static bool mf_name_pattern_make(struct mf_str name,
                                 struct mf_name_pattern *out)
{
    size_t size = 0, at = 0;

    out->has_block = false;
    out->block = 0;
    while (at < name.size) {
        size_t digits = digits_at(name, at);

        if (digits > 9 || size == MF_NAME_PATTERN_MAX)
            return false;
        if (digits == 0) {
            out->text[size++] = name.at[at++];
            continue;
        }
        for (size_t i = 0; i < digits && !out->has_block; i++)
            out->block = out->block * 10 + (uint64_t)(name.at[at + i] - '0');
        out->has_block = true;
        out->text[size++] = '*';
        at += digits;
    }
    out->name = (struct mf_str){ out->text, size };
    return true;
}

/* ---- types that llama.cpp can compute with, tensor by tensor ---- */

#define BIT(NAME)    (UINT64_C(1) << MF_TYPE_##NAME)
#define F32_ONLY     BIT(F32)
#define F32_F16      (BIT(F32) | BIT(F16))
#define F32_F16_BF16 (BIT(F32) | BIT(F16) | BIT(BF16))
#define I32_ONLY     BIT(I32)
#define I64_ONLY     BIT(I64)
/* Those that have a dot product.  q8_1 and q8_k are for activations. */
#define MATRIX_TYPES                                                           \
    (F32_F16_BF16 | BIT(Q4_0) | BIT(Q4_1) | BIT(Q5_0) | BIT(Q5_1) |            \
     BIT(Q8_0) | BIT(Q2_K) | BIT(Q3_K) | BIT(Q4_K) | BIT(Q5_K) | BIT(Q6_K) |   \
     BIT(IQ1_S) | BIT(IQ1_M) | BIT(IQ2_XXS) | BIT(IQ2_XS) | BIT(IQ2_S) |       \
     BIT(IQ3_XXS) | BIT(IQ3_S) | BIT(IQ4_NL) | BIT(IQ4_XS) | BIT(TQ1_0) |      \
     BIT(TQ2_0) | BIT(MXFP4) | BIT(NVFP4) | BIT(Q1_0) | BIT(Q2_0))
#define MATRIX_TEXT "f32, f16, bf16 and the quantized types but q8_1 and q8_k"

_Static_assert(MF_TYPE_COUNT <= 64, "a type is a bit of a set");

enum kind {
#define KIND(NAME, types, reason) KIND_##NAME,
#include "lib/check/tensor_uses.def"
};

static const struct {
    uint64_t types;
    const char *reason;
} kinds[] = {
#define KIND(NAME, types, reason) { types, reason },
#include "lib/check/tensor_uses.def"
};

static const struct use {
    const char *name;
    enum kind kind;
} uses[] = {
#define USE(name, NAME) { name, KIND_##NAME },
#include "lib/check/tensor_uses.def"
};

static const char *const scaled[] = {
#define SCALE(name) name,
#include "lib/check/tensor_uses.def"
};

static const struct {
    const char *architecture, *head;
} scaled_by[] = {
#define SCALED(architecture, head) { architecture, head },
#include "lib/check/tensor_uses.def"
};

static const struct {
    const char *architecture, *name;
} idle[] = {
#define IDLE(architecture, name) { architecture, name },
#include "lib/check/tensor_uses.def"
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct mf_str use_name(const void *table, size_t row)
{
    const struct use *use = table;

    return (struct mf_str){ use[row].name, strlen(use[row].name) };
}

static bool is_scaled(struct mf_str architecture, struct mf_str name)
{
    for (size_t i = 0; i < COUNT(scaled); i++)
        if (mf_str_is(name, scaled[i]))
            return true;
    for (size_t i = 0; i < COUNT(scaled_by); i++)
        if (mf_str_is(architecture, scaled_by[i].architecture) &&
            mf_str_begins(name, scaled_by[i].head))
            return true;
    return false;
}

static bool is_idle(struct mf_str architecture, struct mf_str name)
{
    for (size_t i = 0; i < COUNT(idle); i++)
        if (mf_str_is(architecture, idle[i].architecture) &&
            mf_str_is(name, idle[i].name))
            return true;
    return false;
}

/* The kind of tensor that has a name of the table and ".last". */
static bool kind_of_part(struct mf_str architecture, struct mf_str name,
                         struct mf_str last, enum kind row, enum kind *kind)
{
    *kind = row;
    if (mf_str_is(last, "weight"))
        return true;
    *kind = KIND_TERM;
    if (mf_str_is(last, "bias"))
        return true;
    *kind = KIND_MATRIX;
    if (mf_str_is(last, "lora_a") || mf_str_is(last, "lora_b"))
        return true;
    *kind = KIND_FACTOR;
    return mf_str_is(last, "scale") && is_scaled(architecture, name);
}

/* What a tensor is used for, by its name with "*" for numbers; false if the
 * table does not say. */
static bool find_kind(const struct mf_names *names, struct mf_str architecture,
                      struct mf_str name, enum kind *kind)
{
    struct mf_str stem = name, last = { NULL, 0 };
    size_t row = mf_names_find(names, name);

    if (row != MF_NOT_FOUND) {
        *kind = uses[row].kind;
        return true;
    }
    while (stem.size > 0 && name.at[--stem.size] != '.')
        ;
    last.at = name.at + stem.size + 1;
    last.size = name.size - stem.size - 1;
    row = stem.size > 0 ? mf_names_find(names, stem) : MF_NOT_FOUND;
    return row != MF_NOT_FOUND &&
           kind_of_part(architecture, stem, last, uses[row].kind, kind);
}

static void check_tensor(struct mf_model *model, const struct mf_record *record,
                         const struct mf_names *names,
                         struct mf_str architecture)
{
    struct mf_name_pattern pattern;
    enum kind kind;

    if (record->type == MF_TYPE_UNKNOWN ||
        !mf_name_pattern_make(
            (struct mf_str){ record->name, record->name_size }, &pattern) ||
        !find_kind(names, architecture, pattern.name, &kind) ||
        kinds[kind].types >> record->type & 1 ||
        is_idle(architecture, pattern.name))
        return;
    mf_index_note_of(&model->index, record, MF_ERROR, MF_RULE_MODEL_TYPE,
                     record->entry, "tensor '%s' is %s, but %s",
                     mf_record_name(record).text, mf_types[record->type].name,
                     kinds[kind].reason);
}

enum mf_status mf_tensor_types_check(struct mf_model *model,
                                     struct mf_str architecture)
{
    struct mf_index *index = &model->index;
    struct mf_names names = { .name_at = use_name, .table = uses };

    if (model->format->naming != MF_NAMING_GGUF)
        return MF_OK;
    if (mf_names_init(&names, &index->arena, COUNT(uses)) != MF_OK)
        return index->env->error.status;
    for (size_t i = 0; i < COUNT(uses); i++)
        mf_names_add(&names, i);
    for (size_t i = 0; i < index->tensor_count; i++)
        check_tensor(model, &index->tensor[i], &names, architecture);
    return MF_OK;
}
