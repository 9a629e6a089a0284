/* SPDX-License-Identifier: MIT
 *
 * test_hub_keys.c - the keys that the families' recipes write
 *
 * fixtures/hub/keys.txt has config.json of a small model of each family, as far
 * as any row reads it, and the keys that llama.cpp's converter (v0.5.0, with
 * transformers 4.57.6) made of it.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/hub/keys.h"
#include "lib/model/formats.h"
#include "tests/with_env.h"

static char folder[64], path[96];

static int set_up(void **state)
{
    strcpy(folder, "/tmp/modelfile-keys.XXXXXX");
    return mkdtemp(folder) && env_setup(state) == 0 ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int tear_down(void **state)
{
    unlink(in_folder("config.json"));
    unlink(in_folder("tokenizer.json"));
    unlink(in_folder("model.safetensors"));
    rmdir(folder);
    return env_teardown(state);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- a draft as lines ---- */

/* With a point, wherever the test runs. */
static void with_point(char *out)
{
    out += strcspn(out, ",");
    if (*out)
        *out = '.';
}

static void print_number(char *out, enum mf_value_type type,
                         union mf_number number)
{
    if (type == MF_VALUE_F32) {
        sprintf(out, "%.9g", number.f64);
        with_point(out);
    } else if (type == MF_VALUE_BOOL) {
        strcpy(out, number.boolean ? "true" : "false");
    } else {
        sprintf(out, "%lld", (long long)number.i64);
    }
}

static void print_array(char *out, const struct mf_entry *entry)
{
    const struct mf_str *texts = entry->elements;
    const union mf_number *numbers = entry->elements;

    out += sprintf(
        out, "arr[%s]\t[",
        entry->of == MF_VALUE_STRING ? "str" : mf_value_type_name(entry->of));
    for (uint64_t i = 0; i < entry->count; i++) {
        if (i > 0)
            strcat(out, ", ");
        if (entry->of == MF_VALUE_STRING)
            strncat(out, texts[i].at, texts[i].size);
        else
            print_number(out + strlen(out), entry->of, numbers[i]);
    }
    strcat(out, "]");
}

static void print_entry(char *out, const struct mf_entry *entry)
{
    out += sprintf(out, "%s\t", entry->key.at);
    if (entry->type == MF_VALUE_STRING) {
        sprintf(out, "str\t%s", entry->text.at);
    } else if (entry->type == MF_VALUE_ARRAY) {
        print_array(out, entry);
    } else {
        out += sprintf(out, "%s\t", mf_value_type_name(entry->type));
        print_number(out, entry->type, entry->number);
    }
}

/* ---- running a recipe ---- */

struct run {
    struct mf_draft *draft;
    struct mf_str arch;
    bool first; /* only what comes before the others */
};

static enum mf_status visit(struct mf_recipe *recipe, enum mf_code_row word,
                            struct mf_code row, void *user)
{
    struct run *run = user;

    if (word == MF_DO_ARCH)
        run->arch = mf_code_text(&row);
    if (!run->draft || word != (run->first ? MF_DO_PUT_FIRST : MF_DO_PUT))
        return MF_OK;
    return mf_hub_key(recipe, run->draft, row);
}

static enum mf_status walk(struct mf_recipe *recipe, struct mf_draft *draft)
{
    struct run run = { .draft = NULL };
    enum mf_status status = mf_recipe_walk(recipe, visit, &run);

    run.draft = draft;
    run.first = true;
    if (status == MF_OK)
        status = mf_set_text(draft, "general.architecture", run.arch);
    if (status == MF_OK)
        status = mf_recipe_walk(recipe, visit, &run);
    run.first = false;
    return status == MF_OK ? mf_recipe_walk(recipe, visit, &run) : status;
}

/* Qwen3-Next's number of layers is found among its tensors, and numbers of
 * Apertus are in some: 0.5 and -0.25. */
static const char tensors[] =
    "\xf5\0\0\0\0\0\0\0"
    "{\"mtp.layers.0.fc.weight\":{\"dtype\":\"F32\","
    "\"shape\":[0],\"data_offsets\":[0,0]}"
    ",\"model.layers.1.mlp.act_fn.alpha_n\":{\"dtype\":\"F32\","
    "\"shape\":[1],\"data_offsets\":[0,4]}"
    ",\"model.layers.0.mlp.act_fn.alpha_n\":{\"dtype\":\"F32\","
    "\"shape\":[1],\"data_offsets\":[4,8]}}"
    "\0\0\0\x3f\0\0\x80\xbe";

/* The keys of a config.json, without those of the vocabulary. */
static enum mf_status keys_of(const char *config, size_t size, int64_t type,
                              struct mf_draft *draft)
{
    struct mf_recipe recipe = { .env = env, .arena = &draft->arena };
    struct mf_node *file = NULL;
    struct mf_model *model;
    struct mf_str class;
    enum mf_status status;

    write_file("config.json", config, size);
    write_file("tokenizer.json", "{}", 2); /* rows ask whether it is there */
    write_file("model.safetensors", tensors, sizeof(tensors) - 1);
    model = open_model(in_folder("model.safetensors"));
    recipe.model = model;
    status = mf_hub_config(&recipe, &file, &class);
    if (status == MF_OK)
        recipe.family = mf_recipe_find(MF_ROWS_family, class);
    if (status == MF_OK && !recipe.family)
        status = mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET, "no family");
    if (status == MF_OK) {
        mf_recipe_give(&recipe, "class", mf_node_of_text(&draft->arena, class));
        mf_recipe_give(&recipe, "file", file);
        mf_recipe_give(&recipe, "no_mtp", &mf_node_false);
        mf_recipe_give(&recipe, "file_type",
                       mf_node_of_int(&draft->arena, type));
        status = walk(&recipe, draft);
    }
    mf_model_close(model);
    return status;
}

static bool is_compared(const struct mf_entry *entry)
{
    return !mf_str_begins(entry->key, "tokenizer.");
}

/* ---- the fixture ---- */

static char *fixture;

/* The line at *at, terminated, which moves after it; NULL at the end. */
static char *next_line(char **at)
{
    char *line = *at;

    if (!*line)
        return NULL;
    *at += strcspn(line, "\n");
    *(*at)++ = 0;
    return line;
}

static void compare(const char *name, const struct mf_draft *draft, char **at)
{
    char text[4096];

    for (size_t i = 0; i < draft->entry_count; i++) {
        char *line;

        if (!is_compared(&draft->entry[i]))
            continue;
        print_entry(text, &draft->entry[i]);
        line = strncmp(*at, "== ", 3) == 0 ? NULL : next_line(at);
        if (!line || strcmp(text, line) != 0)
            fail_msg("%s: '%s' should be '%s'", name, text,
                     line ? line : "the end");
    }
    if (**at && strncmp(*at, "== ", 3) != 0)
        fail_msg("%s: missing '%s'", name, next_line(at));
}

static void load_fixture(void)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("hub/keys.txt"), &size);

    fixture = malloc(size + 1);
    memcpy(fixture, bytes, size);
    fixture[size] = 0;
    free(bytes);
}

static void keys_are_as_in_the_converter(void **state)
{
    size_t count = 0;
    char *at, *head;

    (void)state;
    load_fixture();
    at = fixture;
    while ((head = next_line(&at))) {
        struct mf_draft draft;
        const char *config = next_line(&at);
        char name[64];
        int type;

        assert_int_equal(sscanf(head, "== %63s %d", name, &type), 2);
        mf_draft_init(&draft, env, mf_format_to_write("gguf"));
        if (keys_of(config, strlen(config), type, &draft) != MF_OK)
            fail_msg("%s: %s", name, mf_env_error(env)->message);
        compare(name, &draft, &at);
        mf_draft_release(&draft);
        count++;
    }
    assert_true(count > 40);
    free(fixture);
}

/* ---- values of other kinds ---- */

/* The end of the value that begins at `at`: brackets and strings count. */
static const char *value_end(const char *at)
{
    int depth = 0;
    bool inside = false;

    for (; *at; at++) {
        if (*at == '"')
            inside = !inside;
        if (inside)
            continue;
        if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    }
    return at;
}

/* Each value becomes one of another kind: success or a message, and no more. */
static void values_of_all_kinds_are_survived(void **state)
{
    static const char *const others[] = {
        "null",  "\"text\"",    "[]",
        "{}",    "[1,\"a\"]",   "-1",
        "1e999", "true",        "18446744073709551615",
        "0",     "[{\"a\":[]}]"
    };
    char *at, *head, changed[8192];

    (void)state;
    load_fixture();
    at = fixture;
    while ((head = next_line(&at))) {
        const char *config = next_line(&at);

        while (*at && strncmp(at, "== ", 3) != 0)
            next_line(&at);
        for (const char *colon = strchr(config, ':'); colon;
             colon = strchr(colon + 1, ':')) {
            const char *end = value_end(colon + 1);
            size_t kind = (size_t)(colon - config) % 11;
            struct mf_draft draft;
            int size =
                snprintf(changed, sizeof(changed), "%.*s%s%s",
                         (int)(colon + 1 - config), config, others[kind], end);

            assert_true(size > 0 && (size_t)size < sizeof(changed));
            mf_draft_init(&draft, env, mf_format_to_write("gguf"));
            if (keys_of(changed, (size_t)size, 1, &draft) != MF_OK)
                assert_true(mf_env_error(env)->message[0] != 0);
            mf_clear_error(env);
            mf_draft_release(&draft);
        }
    }
    free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_as_in_the_converter, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(values_of_all_kinds_are_survived,
                                        set_up, tear_down),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
