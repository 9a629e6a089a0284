/* SPDX-License-Identifier: MIT
 *
 * test_derive_write.c - files with derived tensors: the bytes match
 * files whose tensors were computed before
 */
#include <math.h>

#include "lib/derive/derive.h"
#include "lib/write/convert.h"
#include "tests/with_scratch.h"

/* ---- models in memory ---- */

static struct {
    size_t size;
    uint8_t at[4 * 1024 * 1024];
} file;

static void put(const void *bytes, size_t size)
{
    assert_true(size <= sizeof(file.at) - file.size);
    memcpy(file.at + file.size, bytes, size);
    file.size += size;
}

static void put_number(uint64_t value, size_t size)
{
    in_file_order(&value, 1, sizeof(value));
    put(&value, size);
}

struct part {
    const char *type;
    size_t size; /* of an element */
    uint64_t dim[3];
    uint32_t rank;
};

static uint64_t count_of(const struct part *part)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < part->rank; i++)
        count *= part->dim[i];
    return count;
}

/* The header; the data follow. */
static void put_header(const struct part *parts, size_t count)
{
    char header[4096] = "{";
    size_t used = 1;
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t begin = end;

        end += count_of(&parts[i]) * parts[i].size;
        used += (size_t)sprintf(header + used,
                                "%s\"t%zu\":{\"dtype\":\"%s\",\"shape\":[",
                                i > 0 ? "," : "", i, parts[i].type);
        for (uint32_t d = 0; d < parts[i].rank; d++)
            used += (size_t)sprintf(header + used, "%s%" PRIu64,
                                    d > 0 ? "," : "", parts[i].dim[d]);
        used += (size_t)sprintf(header + used,
                                "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                                begin, end);
    }
    header[used++] = '}';
    file.size = 0;
    put_number(used, 8);
    put(header, used);
}

static struct mf_model *open_file(void)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "m", file.at, file.size, NULL, &model) !=
        MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

/* ---- what is derived ---- */

static const struct part sources[] = {
    { "F32", 4, { 96, 64 }, 2 },     { "BF16", 2, { 384, 256 }, 2 },
    { "F16", 2, { 4, 32, 64 }, 3 },  { "BF16", 2, { 256 }, 1 },
    { "BF16", 2, { 1000, 512 }, 2 },
};

/* Floats of all types that are finite and not small. */
static void put_sources(void)
{
    put_header(sources, COUNT(sources));
    for (size_t i = 0; i < COUNT(sources); i++)
        for (uint64_t at = 0; at < count_of(&sources[i]); at++) {
            uint64_t random = (at + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20;

            if (sources[i].size == 4)
                put_number((random & 0x80ffffff) | 0x3e000000, 4);
            else
                put_number((random & 0x83ff) | 0x3800, 2);
        }
}

static const struct mf_derived *derive(const struct mf_derivation *d,
                                       const struct mf_model *model,
                                       size_t which)
{
    const struct mf_derived *a = mf_derive_tensor(d, model, 0), *both[3];
    const struct mf_derived *b = mf_derive_tensor(d, model, 1);
    const struct mf_derived *c = mf_derive_tensor(d, model, 2);

    switch (which) {
    case 0: /* the rows of heads, in another order */
        b = mf_derive_reshape(d, b, 4, (uint64_t[]){ 6, 2, 32, 256 });
        b = mf_derive_swap(d, b, 1, 2);
        return mf_derive_reshape(d, b, 2, (uint64_t[]){ 384, 256 });
    case 1:
        return mf_derive_swap(d, b, 0, 1);
    case 2:
        both[0] = both[1] = both[2] = a;
        return mf_derive_stack(d, both, 3);
    case 3:
        return mf_derive_swap(d, c, 1, 2);
    case 4:
        return mf_derive_map(d, mf_derive_tensor(d, model, 3), MF_MAP_ADD, 1);
    case 5:
        both[0] = c;
        both[1] = mf_derive_slice(
            d, c,
            (struct mf_derived_slice){ .axis = 1, .from = 3, .count = 17 });
        return mf_derive_join(d, 1, both, 2);
    case 6:
        return mf_derive_tensor(d, model, 4);
    default:
        return mf_derive_cast(d, mf_derive_tensor(d, model, 4), MF_TYPE_F16);
    }
}

#define DERIVED 8

static enum mf_type type_of(const struct mf_derived *node, size_t turn)
{
    static const enum mf_type types[] = { MF_TYPE_F16, MF_TYPE_Q8_0,
                                          MF_TYPE_BF16, MF_TYPE_F32,
                                          MF_TYPE_UNKNOWN };
    enum mf_type type = types[turn % COUNT(types)];

    return type == MF_TYPE_UNKNOWN || node->rank < 2 ? (enum mf_type)node->type
                                                     : type;
}

/* ---- files ---- */

struct work {
    struct mf_outputs outputs;
    struct mf_derivation derivation;
};

static struct mf_draft *begin(struct work *work, struct mf_model *model,
                              const char *path)
{
    struct mf_draft *draft;

    mf_outputs_init(&work->outputs, model);
    work->outputs.finite_only = true;
    assert_int_equal(mf_outputs_make(&work->outputs,
                                     mf_output_format(model, path, "gguf"),
                                     path, 1, false),
                     MF_OK);
    draft = &work->outputs.output->draft;
    assert_int_equal(mf_derivation_init(&work->derivation, env, &draft->arena),
                     MF_OK);
    return draft;
}

static enum mf_status end(struct work *work)
{
    enum mf_status status = mf_draft_plan(&work->outputs.output->draft);

    if (status == MF_OK)
        status = mf_outputs_write(&work->outputs, true, false);
    mf_outputs_release(&work->outputs);
    return status;
}

/* The tensors of the model, each derived or, with parts, as it is. */
static enum mf_status write_file(struct mf_model *model, const char *path,
                                 bool derived, size_t turn)
{
    struct work work;
    struct mf_draft *draft = begin(&work, model, path);
    char name[8];

    for (size_t i = 0; i < DERIVED; i++) {
        const struct mf_derived *node =
            derived ? derive(&work.derivation, model, i)
                    : mf_derive_tensor(&work.derivation, model, i);

        assert_non_null(node);
        snprintf(name, sizeof(name), "t%zu", i);
        assert_int_equal(mf_derived_add(draft,
                                        (struct mf_str){ name, strlen(name) },
                                        node, type_of(node, turn + i)),
                         MF_OK);
    }
    return end(&work);
}

/* A model whose tensors are what the nodes say. */
static void put_computed(void)
{
    struct mf_model *model;
    struct mf_arena arena;
    struct mf_derivation d;
    struct part parts[DERIVED];
    uint8_t *bytes[DERIVED];

    put_sources();
    model = open_file();
    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
    for (size_t i = 0; i < DERIVED; i++) {
        const struct mf_derived *node = derive(&d, model, i);
        struct mf_source source;

        assert_non_null(node);
        parts[i].rank = node->rank;
        memcpy(parts[i].dim, node->dim, sizeof(parts[i].dim));
        parts[i].size = mf_types[node->type].bytes;
        parts[i].type = node->type == MF_TYPE_F32   ? "F32"
                        : node->type == MF_TYPE_F16 ? "F16"
                                                    : "BF16";
        mf_derived_open(node, "t", &source);
        bytes[i] = malloc((size_t)source.size);
        assert_non_null(bytes[i]);
        assert_int_equal(
            mf_source_read(env, &source, 0, bytes[i], (size_t)source.size),
            MF_OK);
    }
    mf_arena_release(&arena);
    mf_model_close(model);
    put_header(parts, DERIVED);
    for (size_t i = 0; i < DERIVED; i++) {
        put(bytes[i], (size_t)count_of(&parts[i]) * parts[i].size);
        free(bytes[i]);
    }
}

static void files_are_as_in_computed_tensors(void **state)
{
    const char *derived = scratch_path("derived.gguf");
    const char *computed = scratch_path("computed.gguf");

    (void)state;
    for (size_t turn = 0; turn < 5; turn++) {
        struct mf_model *model;

        put_sources();
        model = open_file();
        assert_int_equal(write_file(model, derived, true, turn), MF_OK);
        mf_model_close(model);
        put_computed();
        model = open_file();
        assert_int_equal(write_file(model, computed, false, turn), MF_OK);
        mf_model_close(model);
        assert_true(same_files(derived, computed));
    }
    empty_scratch();
}

/* ---- values that are not finite ---- */

static void what_becomes_infinite_is_refused(void **state)
{
    static const struct part parts[] = { { "F32", 4, { 2, 32 }, 2 } };
    struct mf_model *model;
    struct work work;
    struct mf_draft *draft;
    const struct mf_derived *node;
    float value = 3e4F;
    uint32_t bits;

    (void)state;
    memcpy(&bits, &value, sizeof(bits));
    put_header(parts, 1);
    for (size_t i = 0; i < 64; i++)
        put_number(bits, 4);
    model = open_file();
    for (size_t turn = 0; turn < 2; turn++) {
        draft = begin(&work, model, scratch_path("out.gguf"));
        work.derivation.name = (struct mf_str){ "blk.0.x.weight", 14 };
        node = mf_derive_tensor(&work.derivation, model, 0);
        node = mf_derive_map(&work.derivation, node, MF_MAP_MUL,
                             turn == 0 ? 1e35 : 3);
        assert_non_null(node);
        assert_int_equal(
            mf_derived_add(draft, work.derivation.name, node, MF_TYPE_F16),
            MF_OK);
        assert_int_equal(end(&work), MF_ERR_UNSUPPORTED);
        assert_string_equal(
            mf_env_error(env)->message,
            turn == 0
                ? "tensor 'blk.0.x.weight' as f32: element 0 is infinite or "
                  "NaN (row 0, column 0)"
                : "tensor 'blk.0.x.weight' as f16: element 0 would be infinite "
                  "or NaN (row 0, column 0), made from f32");
        mf_clear_error(env);
    }
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_as_in_computed_tensors),
        cmocka_unit_test(what_becomes_infinite_is_refused),
    };

    return RUN_WITH_SCRATCH(tests);
}
