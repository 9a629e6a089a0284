/* SPDX-License-Identifier: MIT
 *
 * test_plan_graph.c - rows of graphs, where tensors lie, and ten real models
 *
 * What llama.cpp v0.5.0 says of these models is in golden/plan of CONFORMANCE
 * (../shared), if it is there; some of it is here.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/plan/graph.h"
#include "tests/rows/rows_of.h"

#include "tests/plan/plan_models.h"

#define UNIT 32 /* bytes of a tensor of 8 numbers: what is aligned to */

enum { BLOCKS = 21 }; /* of a toy: enough for what repeats to be left out */

/* ---- graphs of a few rows ---- */

static struct mf_planner *toy;
static struct mf_plan_settings settings;

static void open_toy(struct mf_model **model, unsigned blocks)
{
    char keys[80];

    snprintf(keys, sizeof(keys), "block_count=%u embedding_length=8", blocks);
    *model = open_header("llama", keys);
    assert_int_equal(mf_planner_open(*model, NULL, &toy), MF_OK);
    memset(&settings, 0, sizeof(settings));
    settings.sequences = settings.streams = 1;
    settings.tokens = 2;
    settings.cells = settings.window_cells = 256;
}

static uint64_t bytes_of(const char *rows, bool every_step)
{
    bool rough;

    return mf_graph_lay_out(toy, &settings, rows_in(OF_GRAPH, "graph", rows),
                            every_step, &rough);
}

/* The memory of some rows, in tensors of 8 numbers. */
static const struct {
    const char *what, *rows;
    unsigned units;
} toys[] = {
    { "an input that nothing reads takes none", "input a f32: 8\n", 0 },
    { "an input that is expanded does", "input a f32: 8\nexpand a\n", 1 },
    { "a tensor that nothing expands takes none",
      "input a f32: 8\nexpand a\nb = new a: 8\n", 1 },
    { "the input is free when it was read",
      "input a f32: 8\nb = new a: 8\nc = new b: 8\nexpand c\n", 2 },
    { "unless something reads it later",
      "input a f32: 8\nb = new a: 8\nc = new b: 8\nd = new c a: 8\nexpand d\n",
      3 },
    { "some operations take their source's memory",
      "input a f32: 8\nb = new a: 8\nc = scale b\nd = add c c\nexpand d\n", 2 },
    { "not that of a view",
      "input a f32: 8\nb = new a: 8\nv = view b: 8\nc = scale v\n"
      "d = new c: 16\nexpand d\n",
      3 },
    { "nor that of a tensor of another shape",
      "input a f32: 8\nb = new a: 8\nw = new a: 16\nv = view b: 8\n"
      "c = add v w\nd = new c: 40\nexpand d\n",
      6 },
    { "nor that of an output",
      "input a f32: 8\nb = new a: 8\noutput b\nc = scale b\nd = new c: 8\n"
      "expand d\n",
      3 },
    { "nor what is read later",
      "input a f32: 8\nexpand a\nb = scale a\nc = scale a\nd = add b c\n"
      "expand d\n",
      2 },
    { "a view keeps its tensor",
      "input a f32: 8\nb = new a: 8\nv = view b: 4, 2\nc = new b: 8\n"
      "d = new c v: 8\nexpand d\n",
      3 },
    { "views of views as well",
      "input a f32: 8\nb = new a: 8\nv = view b: 4, 2\nv = permute v: 1, 0\n"
      "c = new b: 8\nd = new c v: 8\nexpand d\n",
      3 },
    { "of two sources the first is computed first",
      "input a f32: 8\nexpand a\nb = new a: 80\nc = new a: 8\nd = new b: 8\n"
      "e = new c d: 8\nexpand e\n",
      12 },
    { "the smallest hole is taken",
      /* a is at 0, b 1 to 4, c 5, d 6 to 7, e 8, f 9; then b and d leave */
      "input a f32: 8\nb = new a: 32\nexpand b\nc = new a: 8\nexpand c\n"
      "d = new a: 16\nexpand d\ne = new a: 8\nexpand e\n"
      "f = new b d: 8\noutput f\nexpand f\n"
      /* g fits where d was, h where b was */
      "g = new a: 16\noutput g\nexpand g\nh = new e: 32\noutput h\nexpand h\n"
      "i = new a c: 8\nexpand i\n",
      10 },
    { "of equal holes the last one",
      /* a is at 0, b 1, c 2, d 3, e 4, f 5; then b and d leave */
      "input a f32: 8\nb = new a: 8\nexpand b\nc = new a: 8\nexpand c\n"
      "d = new a: 8\nexpand d\ne = new a: 8\nexpand e\n"
      "f = new b d: 8\noutput f\nexpand f\n"
      /* g is where d was; when e leaves there is no hole of two */
      "g = new a: 8\noutput g\nexpand g\nz = new e: 0\nexpand z\n"
      "h = new a c: 16\nexpand h\n",
      8 },
    { "holes that touch become one",
      "input a f32: 8\nb = new a: 8\nexpand b\nc = new a: 8\nexpand c\n"
      "d = new b c a: 24\nexpand d\ne = new d: 24\nexpand e\n",
      6 },
    { "what is short is padded", "input a i32: 1\nexpand a\n", 1 },
    { "f16 is half as long", "input a f32: 16\nb = cast a f16\nexpand b\n", 3 },
    { "a loop carries a tensor",
      "carry x\ninput a f32: 8\nx = new a: 8\neach 0 .. layers\n"
      "y = new x: 8\nx = add y x\nend\nexpand x\n",
      2 },
    { "an output may be one that an earlier part has made",
      /* x of the last block stays where it is: y is after it, not before */
      "carry x\ninput a f32: 8\nx = new a: 16\neach 0 .. layers\n"
      "x = new x: 16\nend\noutput x\nx = scale x\ny = new x: 16\n"
      "z = new y: 40\nexpand z\n",
      11 },
    { "and keeps an input until it is read last",
      "carry x\ninput a f32: 8\ninput m f32: 8\nx = new a: 16\n"
      "each 0 .. layers\nif i == layers - 1\nx = new x m: 16\nelse\n"
      "x = new x: 16\nend\nend\nexpand x\n",
      6 },
    { "a tensor with a view is not overwritten",
      "input a f32: 8\nb = new a: 8\nv = view b: 8\nexpand v\nc = scale b\n"
      "d = new c v: 8\nexpand d\n",
      3 },
    { "nor is one of another type",
      "input a f32: 8\nb = new a: 8\nw = cast b f16\nv = view b: 8\n"
      "c = add v w\nexpand c\n",
      3 },
    { "what is read after its views stays",
      "input a f32: 8\nb = new a: 8\nv = view b: 8\nc = new v: 8\n"
      "e = new c: 8\nd = new b e: 8\nexpand d\n",
      3 },
    { "a row whose optional weight is missing does nothing",
      "input a f32: 8\nb = same a\nb = mul_mat? no.weight b: 800\n"
      "c = new b: 8\nexpand c\n",
      2 },
    { "what is written into is computed last",
      "input a f32: 8\nexpand a\nb = new a: 80\nd = new b: 8\nc = new a: 8\n"
      "r = set_rows c d a\ne = new r a: 8\nexpand e\n",
      12 },
    { "a view of a view with gaps is copied",
      "input a f32: 8\nb = new a: 8, 4\nv = view b: 4, 4\nw = view v: 16\n"
      "p = pack w: 16\nexpand p\n",
      7 },
    { "one of a whole tensor is not",
      "input a f32: 8\nb = new a: 8, 4\nv = view b: 4, 8\nw = view v: 32\n"
      "p = pack w: 16, 2\nexpand p\n",
      5 },
    { "a block reads an input only if its number is even",
      "vary i % 2\ncarry x\ninput a f32: 8\ninput m f32: 800\nx = new a: 8\n"
      "each 0 .. layers\nif i > 0 && i % 2 == 0 && i < layers - 1\n"
      "x = new x m: 8\nelse\nx = new x: 8\nend\nend\nx = new x: 800\n"
      "expand x\n",
      102 },
    { "a second tensor is carried up to the last block",
      "carry x w\ninput a f32: 8\nx = new a: 8\nw = new a: 128\n"
      "each 0 .. layers\nif i < layers - 1\nv = new x w: 8\n"
      "w = new x: 128\nx = new v w: 8\nelse\nx = new x: 256\nend\nend\n"
      "expand x\n",
      34 },
    { "two tensors change their names in each block",
      "carry x y\ninput a f32: 8\nx = new a: 64\ny = new a: 64\n"
      "each 0 .. layers\nt = same x\nx = same y\ny = same t\nend\n"
      "z = new x: 16\nexpand z\nw = new z y: 72\nexpand w\n",
      28 },
    { "a tensor grows from block to block",
      "carry x\ninput a f32: 8\nx = new a: 8\neach 0 .. layers\n"
      "x = new x: x[0] * 2\nend\nexpand x\n",
      1 << (BLOCKS + 1) },
    { "conditions choose rows",
      "input a f32: 8\nif tokens == 2\nb = new a: 8\nelse\nb = new a: 800\n"
      "end\nexpand b\n",
      2 },
    { "lengths of tensors are numbers",
      "input a f32: 8, 3\nb = new a: a[0] * 2, a[1] / 3\nexpand b\n", 5 },
};

static void tensors_take_memory(void **state)
{
    struct mf_model *model;

    (void)state;
    open_toy(&model, BLOCKS);
    for (size_t i = 0; i < COUNT(toys); i++) {
        uint64_t bytes = bytes_of(toys[i].rows, false);

        if (bytes != toys[i].units * UNIT)
            fail_msg("%s: %u bytes, expected %u", toys[i].what, (unsigned)bytes,
                     toys[i].units * UNIT);
        assert_int_equal(bytes, bytes_of(toys[i].rows, true));
    }
    mf_planner_close(toy);
    mf_model_close(model);
}

static void nonsense_is_unknown(void **state)
{
    static const char *const rows[] = {
        "input a f32: 1 / 0\n",
        "input a f32: 0 - 1\n",
        "input a f32: 8\nb = sum_experts a: 1025\n",
        "input a f32: 8\nb = sum_experts a: 0\n",
        "input a f32: 8\nb = mul_mat some.weight a\nexpand b\n",
        "if unheard\nend\n",
    };
    struct mf_model *model;

    (void)state;
    open_toy(&model, BLOCKS);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(bytes_of(rows[i], false) == MF_PLAN_UNKNOWN);
    assert_true(bytes_of("input a f32: 4294967296, 4294967296, 4\nexpand a\n",
                         false) == MF_PLAN_HUGE);
    mf_planner_close(toy);
    mf_model_close(model);
}

/* Every block is of another kind: more than are kept apart. */
static void blocks_of_too_many_kinds_are_rough(void **state)
{
    static const char text[] =
        "vary i\ncarry x\ninput a f32: 8\nx = new a: 8\neach 0 .. layers\n"
        "x = new x: 8 * (1 + i)\nend\nexpand x\n";
    struct mf_code rows = rows_in(OF_GRAPH, "graph", text);
    struct mf_model *model;
    bool rough;

    (void)state;
    open_toy(&model, MF_GRAPH_PARTS_MAX - 2);
    mf_graph_lay_out(toy, &settings, rows, false, &rough);
    assert_false(rough);
    mf_planner_close(toy);
    mf_model_close(model);
    open_toy(&model, 500);
    assert_true(mf_graph_lay_out(toy, &settings, rows, false, &rough) <
                MF_PLAN_HUGE);
    assert_true(rough);
    mf_planner_close(toy);
    mf_model_close(model);
}

/* ---- real models ---- */

struct row {
    char model[32], type_k[8], type_v[8], flash[4], compute[16];
    unsigned context, ubatch, sequences, full;
};

static struct mf_plan_options options_of(const struct row *row)
{
    return (struct mf_plan_options){
        .size = sizeof(struct mf_plan_options),
        .context = row->context,
        .ubatch = row->ubatch,
        .sequences = row->sequences,
        .type_k = row->type_k,
        .type_v = row->type_v,
        .flash = strcmp(row->flash, "on") == 0 ? MF_FLASH_ON : MF_FLASH_OFF,
        .full_windows = row->full,
    };
}

/* To the digit that llama.cpp prints, and the same without leaving out what
 * repeats. */
static void check_row(struct mf_planner *planner, const struct row *row)
{
    struct mf_plan_options options = options_of(row);
    struct mf_plan_settings with;
    bool estimated;
    uint64_t bytes;
    char text[32];

    assert_int_equal(mf_plan_settings_of(planner, &options, &with), MF_OK);
    bytes = mf_graph_bytes(planner, &with, false, &estimated);
    snprintf(text, sizeof(text), "%.4f", (double)bytes / (1024 * 1024));
    if (estimated || strcmp(text, row->compute) != 0)
        fail_msg("%s, context %u, ubatch %u, %s %s, flash %s, %u sequences: "
                 "%s MiB, expected %s",
                 row->model, row->context, row->ubatch, row->type_k,
                 row->type_v, row->flash, row->sequences, text, row->compute);
    assert_true(mf_graph_bytes(planner, &with, true, &estimated) == bytes);
}

static const struct row rows[] = {
#define ROW(model, context, ubatch, k, v, flash, sequences, full, compute)     \
    {                                                                          \
        model, k, v, flash, compute, context, ubatch, sequences, full          \
    }
    ROW("llama-2-7b", 4096, 512, "f16", "f16", "off", 1, 0, "320.0098"),
    ROW("llama-2-7b", 1000, 128, "f16", "f16", "off", 1, 0, "30.5024"),
    ROW("llama-2-7b", 32768, 512, "q8_0", "f16", "on", 1, 0, "128.5762"),
    ROW("llama-2-7b", 16384, 512, "f16", "f16", "on", 4, 0, "100.5137"),
    ROW("llama-2-7b", 3000, 500, "f16", "f16", "on", 3, 0, "95.4187"),
    ROW("llama-2-7b", 8192, 512, "f32", "f32", "on", 1, 0, "176.0137"),
    ROW("llama-3.1-8b", 131072, 512, "q4_0", "q4_0", "on", 1, 0, "274.5020"),
    ROW("mistral-7b", 32768, 2048, "f16", "f16", "on", 1, 0, "592.0547"),
    ROW("mixtral-8x7b", 4096, 512, "f16", "f16", "off", 1, 0, "308.0098"),
    ROW("mixtral-8x7b", 8192, 512, "f16", "f16", "on", 1, 0, "208.0137"),
    ROW("qwen2.5-7b", 8192, 512, "f16", "f16", "off", 1, 0, "501.0098"),
    ROW("qwen3-30b-a3b", 32768, 512, "q8_0", "f16", "on", 1, 0, "308.7520"),
    ROW("gemma-2-9b", 32768, 512, "q8_0", "f16", "on", 1, 0, "521.0020"),
    ROW("gemma-3-27b", 8192, 512, "f16", "f16", "off", 1, 0, "594.5137"),
    ROW("gemma-3-27b", 8192, 512, "f16", "f16", "on", 1, 1, "543.6270"),
    ROW("phi-3-mini", 16384, 512, "f16", "f16", "on", 4, 0, "90.6387"),
    ROW("qwen2-0.5b", 8192, 512, "f16", "f16", "on", 1, 0, "300.2520"),
#undef ROW
};

static void check_in(const struct row *row, struct mf_model **model,
                     struct mf_planner **planner, char *open)
{
    if (strcmp(open, row->model) != 0) {
        if (*model) {
            mf_planner_close(*planner);
            mf_model_close(*model);
        }
        strcpy(open, row->model);
        *model = open_real(open);
        assert_non_null(*model);
        assert_int_equal(mf_planner_open(*model, NULL, planner), MF_OK);
    }
    check_row(*planner, row);
}

static void real_models_take_what_llama_cpp_says(void **state)
{
    struct mf_model *model = NULL;
    struct mf_planner *planner = NULL;
    char open[32] = "";

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_in(&rows[i], &model, &planner, open);
    mf_planner_close(planner);
    mf_model_close(model);
}

/* "4096 x 21: 336.00 + 336.00; ...\t0.98\t17628.31": caches, output and model,
 * as llama.cpp prints them. */
static void check_others(struct mf_planner *planner, const struct row *row,
                         const char *expected)
{
    struct mf_plan_options options = options_of(row);
    struct mf_plan plan;
    char text[256];
    size_t used;

    assert_int_equal(mf_plan_with(planner, &options, &plan), MF_OK);
    print_caches(&plan, text, sizeof(text));
    used = strlen(text);
    snprintf(text + used, sizeof(text) - used, "\t%.2f\t%.2f",
             mib(plan.line[MF_PLAN_OUTPUT]), mib(plan.line[MF_PLAN_WEIGHTS]));
    if (strcmp(text, expected) != 0)
        fail_msg("%s, context %u: %s, expected %s", row->model, row->context,
                 text, expected);
}

/* The ninth column is the caches, the tenth the compute buffer. */
static void check_file(FILE *file)
{
    struct mf_model *model = NULL;
    struct mf_planner *planner = NULL;
    char open[32] = "", line[512], caches[200], others[40], expected[256];
    struct row row;
    unsigned count = 0;

    while (fgets(line, sizeof(line), file)) {
        memset(&row, 0, sizeof(row));
        if (sscanf(line,
                   "%31[^\t]\t%u\t%u\t%7[^\t]\t%7[^\t]\t%3[^\t]\t%u\t%u\t"
                   "%199[^\t]\t%15[^\t]\t%39[^\n]",
                   row.model, &row.context, &row.ubatch, row.type_k, row.type_v,
                   row.flash, &row.sequences, &row.full, caches, row.compute,
                   others) != 11)
            continue;
        check_in(&row, &model, &planner, open);
        snprintf(expected, sizeof(expected), "%s\t%s", caches, others);
        check_others(planner, &row, expected);
        count++;
    }
    assert_int_equal(count, 100);
    mf_planner_close(planner);
    mf_model_close(model);
}

static void golden_rows(void **state)
{
    const char *shared = getenv("CONFORMANCE");
    char path[512];
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/golden/plan/llama-cpp.tsv",
             shared ? shared : "../shared");
    file = fopen(path, "r");
    if (!file) {
        print_message("# no %s; CONFORMANCE is explained in CONTRIBUTING.md\n",
                      path);
        skip();
    }
    check_file(file);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(tensors_take_memory),
        WITH_ENV(nonsense_is_unknown),
        WITH_ENV(blocks_of_too_many_kinds_are_rough),
        WITH_ENV(real_models_take_what_llama_cpp_says),
        WITH_ENV(golden_rows),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
