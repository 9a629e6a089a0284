/* SPDX-License-Identifier: MIT
 *
 * test_card.c - model cards and their like as metadata of GGUF
 *
 * What is expected is what gguf-py of llama.cpp v0.5.0 writes of the same
 * files.
 */
#include "lib/folder/sidecar.h"
#include "lib/hf/card/card.h"
#include "lib/model/formats.h"
#include "tests/with_scratch.h"

static struct mf_model *model;
static struct mf_draft draft;
static struct mf_card_names names;
static struct mf_card_request request;

static void put_file(const char *name, const char *text)
{
    save(scratch_path(name), text, strlen(text));
}

static void begin(const char *card)
{
    empty_scratch();
    safetensors_save("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("model.safetensors"));
    put_file("config.json", "{\"_name_or_path\": \"org/Name-7B-chat\"}");
    if (card)
        put_file("README.md", card);
    request = (struct mf_card_request){ .model = NULL };
}

static enum mf_status run(void)
{
    struct mf_node *config;
    struct mf_card_request asked = request;

    mf_clear_error(env);
    model = open_model(scratch_path("model.safetensors"));
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    assert_int_equal(mf_sidecar_tree(model, &draft.arena, "config.json",
                                     MF_SIDECAR_LIMIT, &config),
                     MF_OK);
    asked.model = model;
    asked.config = config;
    return mf_card_put(&draft, &asked, &names);
}

static void finish(void)
{
    mf_draft_release(&draft);
    mf_model_close(model);
}

/* ---- the draft as text ---- */

static char shown[1 << 14];

__attribute__((format(printf, 1, 2))) static void show(const char *format, ...)
{
    size_t size = strlen(shown);
    va_list list;

    va_start(list, format);
    vsnprintf(shown + size, sizeof(shown) - size, format, list);
    va_end(list);
    assert_true(strlen(shown) + 1 < sizeof(shown));
}

/* With a point, wherever the test runs. */
static void show_double(double value)
{
    char *end = shown + strlen(shown);

    show("%g", value);
    end += strcspn(end, ",");
    if (*end)
        *end = '.';
}

static void show_number(enum mf_value_type type, union mf_number number)
{
    if (type == MF_VALUE_F32)
        show_double(number.f64);
    else if (type == MF_VALUE_BOOL)
        show("%s", number.boolean ? "true" : "false");
    else
        show("%" PRId64, number.i64);
}

/* "key type value" without "general.", one a line. */
static void show_entry(const struct mf_entry *entry)
{
    size_t head = strlen("general.");

    show("%.*s ", (int)(entry->key.size - head), entry->key.at + head);
    if (entry->type == MF_VALUE_STRING)
        show("'%.*s'", (int)entry->text.size, entry->text.at);
    else if (entry->type != MF_VALUE_ARRAY) {
        show("%s ", mf_value_type_name(entry->type));
        show_number(entry->type, entry->number);
    }
    for (uint64_t i = 0; i < entry->count && entry->type == MF_VALUE_ARRAY;
         i++) {
        const struct mf_str *text = entry->elements;
        const union mf_number *number = entry->elements;

        if (entry->of == MF_VALUE_STRING)
            show("'%.*s',", (int)text[i].size, text[i].at);
        else {
            show_number(entry->of, number[i]);
            show(":%s,", mf_value_type_name(entry->of));
        }
    }
    show("\n");
}

static void becomes(const char *expected)
{
    char reason[320];
    enum mf_status status = run();

    snprintf(reason, sizeof(reason), "%s", mf_env_error(env)->message);
    shown[0] = 0;
    for (size_t i = 0; status == MF_OK && i < draft.entry_count; i++)
        show_entry(&draft.entry[i]);
    finish();
    if (status != MF_OK)
        fail_msg("%s", reason);
    assert_string_equal(shown, expected);
}

static void is_refused(const char *message)
{
    enum mf_status status = run();

    finish();
    if (status == MF_OK || !strstr(mf_env_error(env)->message, message))
        fail_msg("not '%s': %s", message, mf_env_error(env)->message);
    mf_clear_error(env);
}

#define NAMED                                                                  \
    "name 'Name 7B Chat'\norganization 'Org'\nfinetune 'chat'\n"               \
    "basename 'Name'\nsize_label '7B'\n"

/* ---- tests ---- */

static void without_a_card_the_names_count(void **state)
{
    (void)state;
    begin(NULL);
    becomes(NAMED);
    put_file("config.json", "{}");
    request.model_name = "As Given";
    request.counts.total = 1234567;
    becomes("name 'As Given'\nsize_label '1.2M'\n");
    assert_true(names.name.at != NULL && names.parts.size_label.at != NULL);
}

static void a_card_becomes_keys(void **state)
{
    (void)state;
    begin("---\r\n"
          "license: [mit, apache-2.0]\r\n"
          "version: ''\n"
          "model_creator: Somebody\n"
          "url: https://a.b\n"
          "language:\n- en\n- no\n"
          "tags: chat\n"
          "pipeline_tag:\ttext-generation\n"
          "base_model:\n"
          "- meta-llama/Llama-3.1-8B-v2\n"
          "- https://huggingface.co/a-b/c-d-v1.0\n"
          "- https://huggingface.co/a/b/c\n"
          "- {name: N, uuid: U, x: y, version: ~}\n"
          "- 5\n"
          "- ./local\n"
          "datasets: c4\n"
          "---\nno: front: matter: \"\n");
    becomes("name 'Name 7B Chat'\nauthor 'Somebody'\norganization 'Org'\n"
            "finetune 'chat'\nbasename 'Name'\nsize_label '7B'\n"
            "license 'mit,apache-2.0'\nsource.url 'https://a.b'\n"
            "base_model.count u32 6\n"
            "base_model.0.name 'Llama 3.1 8B v2'\n"
            "base_model.0.version 'v2'\n"
            "base_model.0.organization 'Meta Llama'\n"
            "base_model.0.repo_url "
            "'https://huggingface.co/meta-llama/Llama-3.1-8B-v2'\n"
            "base_model.1.name 'C D v1.0'\n"
            "base_model.1.version 'v1.0'\n"
            "base_model.1.organization 'A B'\n"
            "base_model.1.repo_url 'https://huggingface.co/a-b/c-d-v1.0'\n"
            "base_model.2.repo_url 'https://huggingface.co/a/b/c'\n"
            "base_model.3.name 'N'\nbase_model.3.uuid 'U'\n"
            "base_model.5.name 'Local'\n"
            "dataset.count u32 1\ndataset.0.name 'C4'\n"
            "tags 'chat','text-generation',\nlanguages 'en','no',\n");
}

static void no_front_matter_says_nothing(void **state)
{
    static const char *const cards[] = { "",
                                         "# Title\n",
                                         "\n---\nname: x\n---\n",
                                         "--- \nname: x\n---\n",
                                         "\xef\xbb\xbf---\nname: x\n---\n",
                                         "---",
                                         "---\n---\n",
                                         "---\n- a list\n---\n",
                                         "---\n# remark\n---\n" };

    (void)state;
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
        begin(cards[i]);
        becomes(NAMED);
    }
    /* Lines end where Python ends them, and the last mark may be missing. */
    begin("---\xe2\x80\xa8name: x\x0bversion: \"1\"\xc2\x85tags:\xc2\xa0y");
    is_refused("'README.md': line 4: ");
    begin("---\xe2\x80\xa8name: x\x0bversion: \"1\"\xc2\x85tags: [\xc2\xa0]");
    becomes("name 'x'\nversion '1'\norganization 'Org'\nfinetune 'chat'\n"
            "basename 'Name'\nsize_label '7B'\ntags '\xc2\xa0',\n");
}

static void sampling_is_of_generation_config(void **state)
{
    (void)state;
    begin(NULL);
    put_file("generation_config.json",
             "{\"temperature\": 0, \"top_k\": true, \"top_p\": 0.5,"
             " \"min_p\": null, \"repetition_penalty\": 2,"
             " \"sequence\": \"\", \"mirostat\": 1}");
    becomes("sampling.top_k i32 1\nsampling.top_p f32 0.5\n"
            "sampling.temp f32 0\nsampling.penalty_repeat f32 2\n"
            "sampling.mirostat i32 1\n" NAMED);
    put_file("generation_config.json", "{\"temperature\": 1,}");
    becomes(NAMED); /* as the converter passes over what is not JSON */
    put_file("generation_config.json", "[]");
    becomes(NAMED);
    put_file("generation_config.json", "[1]");
    is_refused("'generation_config.json': it is a list, not an object");
    put_file("generation_config.json", "{\"top_k\": 1.5}");
    is_refused("'generation_config.json': 1.5 is not a valid i32");
    put_file("generation_config.json", "{\"top_p\": \"1\"}");
    is_refused("'generation_config.json': the value for "
               "'general.sampling.top_p' is a string, not a number");
}

static void a_file_of_metadata_goes_first(void **state)
{
    static char path[4096];

    (void)state;
    begin("---\nlicense: mit\nauthor: A\ntags: [x]\nname: C\n---\n");
    snprintf(path, sizeof(path), "%s", scratch_path("meta.json"));
    put_file("generation_config.json", "{\"top_k\": 1, \"top_p\": 1}");
    put_file("meta.json",
             "{\"general.author\": null, \"general.url\": \"u\","
             " \"general.license\": \"gpl\", \"general.name\": \"M\","
             " \"general.sampling.top_k\": 9, \"general.sampling.top_p\":"
             " null, \"general.tags\": [1, 2],"
             " \"general.base_models\": [{\"name\": \"B\", \"url\": 0}, {}],"
             " \"general.languages\": [true]}");
    request.metadata = path;
    becomes("sampling.top_k i32 9\nname 'M'\norganization 'Org'\n"
            "finetune 'chat'\nbasename 'Name'\nsize_label '7B'\n"
            "license 'mit'\nurl 'u'\nbase_model.count u32 2\n"
            "base_model.0.name 'B'\ntags 1:i32,2:i32,\n"
            "languages true:bool,\n");
    put_file("meta.json", "{\"general.tags\": \"x\"}");
    is_refused("the value for 'general.tags' is a string, not a list");
    put_file("meta.json", "{\"general.tags\": [\"x\", 1]}");
    is_refused("not a string as the others are");
    put_file("meta.json", "{\"general.tags\": [2147483648]}");
    is_refused("not a number of 32 bits");
    put_file("meta.json", "{\"general.base_models\": [\"x\"]}");
    is_refused("'general.base_model.count' is a string, not an object");
    put_file("meta.json", "[]");
    is_refused("meta.json': it is a list, not an object");
    put_file("meta.json", "{");
    is_refused("meta.json': ");
    request.metadata = "/no/such/file";
    is_refused("/no/such/file");
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    begin("---\nversion: 1.0\n---\n");
    is_refused("'README.md': the value for 'general.version' is a number, not "
               "a string");
    begin("---\nversion: 2024-01-02\n---\n");
    is_refused("is a date, not a string");
    begin("---\nlicense: [a, 1]\n---\n");
    is_refused("'general.license' is a number");
    begin("---\na: b: c\n---\n");
    is_refused("'README.md': line 2: a ':' is not allowed here");
    begin("---\na: b\n---\n\xff");
    is_refused("'README.md': it is not UTF-8");
    begin(NULL);
    put_file("config.json", "{\"_name_or_path\": 5}");
    is_refused("'config.json': '_name_or_path' is a number, not a string");
}

static void a_front_matter_has_a_limit(void **state)
{
    static char text[(2 << 20) + 8];

    (void)state;
    memset(text, ' ', sizeof(text) - 1);
    memcpy(text, "---\n", 4);
    begin(text);
    is_refused("'README.md': the front matter has more than 1048576 bytes");
    memset(text, 'x', sizeof(text) - 1); /* a long text has none */
    begin(text);
    becomes(NAMED);
}

static void many_base_models_are_refused(void **state)
{
    static char text[16384];
    size_t size = 0;

    (void)state;
    size = (size_t)snprintf(text, sizeof(text), "---\nbase_model:\n");
    for (int i = 0; i <= MF_CARD_ORIGINS; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "- a/b\n");
    begin(text);
    is_refused("would be 1025, at most 1024 are supported");
}

static void the_folder_names_the_model(void **state)
{
    static const struct {
        const char *path, *name;
    } rows[] = { { "a/b-7b/m.safetensors", "b-7b" },
                 { "a/b//m", "b" },
                 { "a/./m", "a" },
                 { "a/.././m", ".." },
                 { "./m", "" },
                 { "m", "" },
                 { "/m", "" },
                 { "/a/m", "a" } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mf_file file = { .path = rows[i].path };
        struct mf_model open = { .file = &file };
        struct mf_str name = mf_card_folder(&open);

        assert_int_equal(name.size, strlen(rows[i].name));
        assert_memory_equal(name.at, rows[i].name, name.size);
    }
}

/* Every allocation fails once, and all from it on do; nothing is left. */
static void refused_memory_is_an_error(void **state)
{
    static const char card[] =
        "---\nlicense: mit\ntags: [a, b]\nbase_model:\n- org/Base-7B\n"
        "datasets:\n- name: x\n  version: \"2\"\n---\n";
    enum mf_status status = MF_ERR_MEMORY;
    struct mf_env *usual = env;
    char metadata[4096];

    (void)state;
    begin(card);
    put_file("generation_config.json", "{\"temperature\": 0.5}");
    put_file("metadata.json", "{\"general.author\": \"x\"}");
    snprintf(metadata, sizeof(metadata), "%s", scratch_path("metadata.json"));
    request.metadata = metadata;
    for (unsigned after = 0; after < 2; after++) {
        struct test_heap heap = { 0 };

        for (uint64_t at = 1; at == 1 || heap.calls >= heap.fail_at; at++) {
            heap = (struct test_heap){ .fail_after = after };
            env = test_env(&heap);
            model = open_model(scratch_path("model.safetensors"));
            mf_draft_init(&draft, env, mf_format_to_write("gguf"));
            request.model = model;
            heap.calls = 0;
            heap.fail_at = at;
            status = mf_card_put(&draft, &request, &names);
            if (heap.calls >= at && after)
                assert_int_equal(status, MF_ERR_MEMORY);
            finish();
            mf_env_free(env);
            assert_int_equal(heap.live, 0);
        }
        assert_int_equal(status, MF_OK);
    }
    env = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_card_the_names_count),
        cmocka_unit_test(a_card_becomes_keys),
        cmocka_unit_test(no_front_matter_says_nothing),
        cmocka_unit_test(sampling_is_of_generation_config),
        cmocka_unit_test(a_file_of_metadata_goes_first),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(a_front_matter_has_a_limit),
        cmocka_unit_test(many_base_models_are_refused),
        cmocka_unit_test(the_folder_names_the_model),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    return RUN_WITH_SCRATCH(tests);
}
