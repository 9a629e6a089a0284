/* SPDX-License-Identifier: MIT
 *
 * test_config_defaults.c - what a config.json lacks is what transformers fills
 * in
 *
 * tests/data/config_defaults.txt has small ones, and the values that AutoConfig
 * gives the fields of the rows `default` and `set`.
 */
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/keys.h"
#include "tests/with_scratch.h"

/* One of the files that may be read next to a model. */
#define FILLED "special_tokens_map.json"

static unsigned values, others;
static char config[1 << 12], line[1 << 12];

static void write_text(const char *name, const char *text)
{
    save(scratch_path(name), text, strlen(text));
}

static double number_of(const struct mf_node *node)
{
    return node->type == MF_VALUE_F64   ? node->number.f64
           : node->type == MF_VALUE_I64 ? (double)node->number.i64
                                        : (double)node->number.u64;
}

static bool is_same(const struct mf_node *ours, const struct mf_node *known);

static bool are_same(const struct mf_node *ours, const struct mf_node *known)
{
    while (ours && known && is_same(ours, known)) {
        ours = ours->next;
        known = known->next;
    }
    return !ours && !known;
}

static bool is_same(const struct mf_node *ours, const struct mf_node *known)
{
    if (!ours || ours->kind != known->kind)
        return false;
    if (known->kind == MF_NODE_NUMBER)
        return number_of(ours) == number_of(known);
    if (known->kind == MF_NODE_STRING)
        return mf_str_same(ours->text, known->text);
    return known->kind != MF_NODE_ARRAY || are_same(ours->first, known->first);
}

/* A value that is null may as well be missing. */
static void compare(const struct mf_node *ours, const struct mf_node *known)
{
    for (const struct mf_node *value = known->first; value;
         value = value->next) {
        const struct mf_node *own = mf_node_get(ours, value->key);

        if (value->kind == MF_NODE_OBJECT) {
            compare(own, value);
            continue;
        }
        values++;
        if (is_same(own, value) || (!own && value->kind == MF_NODE_NULL))
            continue;
        print_error("'%s' is another one in %s", value->key.at, config);
        others++;
    }
}

static void compare_with(const char *known)
{
    static const char tensors[] = "\2\0\0\0\0\0\0\0{}";
    struct mf_arena arena;
    struct mf_recipe recipe = { .env = env, .arena = &arena };
    struct mf_node *file = NULL, *filled;
    struct mf_model *model;
    struct mf_str class;

    save(scratch_path("model.safetensors"), tensors, sizeof(tensors) - 1);
    write_text(FILLED, known);
    model = open_model(scratch_path("model.safetensors"));
    mf_arena_init(&arena, env);
    recipe.model = model;
    if (mf_hub_projector_config(&recipe, &file, &class) != MF_OK ||
        mf_sidecar_tree(model, &arena, FILLED, MF_SIDECAR_LIMIT, &filled) !=
            MF_OK)
        fail_msg("%s: %s", mf_env_error(env)->message, config);
    compare(file, filled);
    mf_arena_release(&arena);
    mf_model_close(model);
}

static void transformers_fills_in_the_same(void **state)
{
    FILE *list = fopen("tests/data/config_defaults.txt", "r");

    (void)state;
    assert_non_null(list);
    while (fgets(line, sizeof(line), list)) {
        assert_non_null(strchr(line, '\n'));
        if (strncmp(line, "config ", 7) == 0) {
            strcpy(config, line + 7);
            write_text("config.json", config);
        } else if (strncmp(line, "filled ", 7) == 0) {
            compare_with(line + 7);
        }
    }
    fclose(list);
    assert_true(values > 400);
    assert_int_equal(others, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformers_fills_in_the_same),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
