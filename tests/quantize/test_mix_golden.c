/* SPDX-License-Identifier: MIT
 *
 * test_mix_golden.c - the plan of a file is what llama-quantize wrote
 *
 * The folder fixtures/llama has models, and lists of what llama-quantize made
 * of them: files.tsv, tensors.tsv, kv.json.  CONFORMANCE (../shared) has more
 * models in golden/e2e, and lists of the same version in golden/e2e-2026.
 */
#include <strings.h>
#include <unistd.h>

#include "tests/quantize/mix.h"

static char models[512], lists[512];

static const char *in_folder(const char *folder, const char *name)
{
    static char path[4][640];
    static unsigned turn;
    char *out = path[turn++ % 4];

    snprintf(out, sizeof(path[0]), "%s/%s", folder, name);
    return out;
}

struct job { /* a row of files.tsv */
    char source[32], type[16], options[128], status[512];
    uint64_t bytes;
};

/* The options of llama-quantize, the words of options[]. */
static void take_options(char *options, struct mf_quantize_options *choices,
                         struct mf_edit *edit)
{
    char *equals;

    for (char *word = strtok(options, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "-") == 0)
            continue;
        if (strcmp(word, "--pure") == 0)
            choices->pure = true;
        else if (strcmp(word, "--leave-output-tensor") == 0)
            choices->leave_output = true;
        else if (strcmp(word, "--output-tensor-type") == 0)
            choices->output_type = strtok(NULL, " ");
        else if (strcmp(word, "--token-embedding-type") == 0)
            choices->embedding_type = strtok(NULL, " ");
        else if (strcmp(word, "--imatrix") == 0)
            choices->imatrix = strtok(NULL, " ");
        else if (strcmp(word, "--override-kv") == 0) {
            word = strtok(NULL, " ");
            equals = strstr(word, "=str:");
            assert_non_null(equals);
            *equals = 0;
            *edit = (struct mf_edit){ .key = word, .type = MF_VALUE_STRING };
            edit->text = (struct mf_str){ equals + 5, strlen(equals + 5) };
            choices->edits = edit;
            choices->edit_count = 1;
        } else
            fail_msg("the option %s is not known here", word);
    }
}

/* Rows of tensors.tsv for the job, in their order. */
static void check_tensors(const struct job *job, const char *options,
                          const struct plan *plan)
{
    FILE *file = fopen(in_folder(lists, "tensors.tsv"), "r");
    char line[1024], source[32], type[16], asked[128], name[128], is[16];
    unsigned long long offset, bytes;
    size_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        const struct mf_draft_tensor *tensor = &plan->draft.tensor[count];

        if (sscanf(line,
                   "%31[^\t]\t%15[^\t]\t%127[^\t]\t%127[^\t]\t%15[^\t]\t"
                   "%*[^\t]\t%llu\t%llu",
                   source, type, asked, name, is, &offset, &bytes) != 7 ||
            strcmp(source, job->source) != 0 || strcmp(type, job->type) != 0 ||
            strcmp(asked, options) != 0)
            continue;
        assert_true(count++ < plan->draft.tensor_count);
        assert_int_equal(tensor->name.size, strlen(name));
        assert_memory_equal(tensor->name.at, name, tensor->name.size);
        assert_int_equal(strcasecmp(mf_types[tensor->type].name, is), 0);
        assert_int_equal(plan->draft.data_offset + tensor->offset, offset);
        assert_int_equal(tensor->size, bytes);
    }
    fclose(file);
    assert_int_equal(count, plan->draft.tensor_count);
}

/* ---- kv.json ---- */

/* The file has a line for each bracket, key and value. */
struct listing {
    FILE *file;
    char line[4096];
};

/* The next line, without commas and quotation marks; false at a bracket. */
static bool next_word(struct listing *listing)
{
    char *line = listing->line;
    size_t size;

    assert_non_null(fgets(line, sizeof(listing->line), listing->file));
    size = strcspn(line, "\n");
    while (size > 0 && strchr(",\"", line[size - 1]))
        size--;
    line[size] = 0;
    if (line[0] == '"')
        memmove(line, line + 1, size);
    return strcmp(line, "]") != 0 && strcmp(line, "}") != 0;
}

static void find_section(struct listing *listing, const struct job *job,
                         const char *options)
{
    char wanted[256];

    snprintf(wanted, sizeof(wanted), "\"%s|%s|%s\": {", job->source, job->type,
             options);
    do
        assert_non_null(
            fgets(listing->line, sizeof(listing->line), listing->file));
    while (strncmp(listing->line, wanted, strlen(wanted)) != 0);
    do
        next_word(listing);
    while (strncmp(listing->line, "kv_in_order", 11) != 0);
}

static const char *type_word(enum mf_value_type type)
{
    static const char *const words[] = {
        "UINT8", "INT8",   "UINT16", "INT16",  "UINT32", "INT32",   "FLOAT32",
        "BOOL",  "STRING", "ARRAY",  "UINT64", "INT64",  "FLOAT64",
    };

    return words[type];
}

static void check_value(struct listing *listing, const struct mf_entry *entry)
{
    const char *word = listing->line;

    next_word(listing);
    if (entry->type == MF_VALUE_ARRAY) {
        assert_string_equal(word, type_word(entry->of));
        next_word(listing);
        assert_int_equal(entry->count, strtoul(word, NULL, 10));
        next_word(listing); /* a digest: arrays are not touched */
    } else if (entry->type == MF_VALUE_STRING) {
        assert_int_equal(entry->text.size, strlen(word));
        assert_memory_equal(entry->text.at, word, entry->text.size);
    } else if (entry->type == MF_VALUE_F32) {
        assert_true((float)entry->number.f64 == strtof(word, NULL));
    } else if (entry->type == MF_VALUE_BOOL) {
        assert_string_equal(word, entry->number.boolean ? "true" : "false");
    } else {
        assert_int_equal(entry->number.u64, strtoul(word, NULL, 10));
    }
}

static void check_metadata(const struct job *job, const char *options,
                           const struct plan *plan)
{
    struct listing listing = { .file =
                                   fopen(in_folder(lists, "kv.json"), "r") };
    size_t count = 0;

    assert_non_null(listing.file);
    find_section(&listing, job, options);
    for (; next_word(&listing); count++) {
        const struct mf_entry *entry = &plan->draft.entry[count];
        char *end = strstr(listing.line, "\": [");

        assert_true(count < plan->draft.entry_count);
        assert_non_null(end);
        *end = 0;
        assert_int_equal(entry->key.size, strlen(listing.line));
        assert_memory_equal(entry->key.at, listing.line, entry->key.size);
        next_word(&listing);
        assert_string_equal(listing.line, type_word(entry->type));
        check_value(&listing, entry);
        assert_false(next_word(&listing));
    }
    assert_int_equal(count, plan->draft.entry_count);
    fclose(listing.file);
}

/* ---- all of it ---- */

static void check_job(const struct job *job)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = job->type
    };
    struct mf_edit edit;
    char options[sizeof(job->options)], path[64];
    const char *matrix;
    struct plan plan;

    strcpy(options, job->options);
    take_options(options, &choices, &edit);
    matrix = choices.imatrix ? in_folder(models, choices.imatrix) : NULL;
    snprintf(path, sizeof(path), "%s.gguf", job->source);
    if (make_plan_in(mf_env_new(NULL), &plan, in_folder(models, path), &choices,
                     matrix) != MF_OK) {
        if (strncmp(job->status, "FAIL", 4) != 0)
            fail_msg("%s %s %s: %s", job->source, job->type, job->options,
                     message_of(&plan));
    } else {
        print_message("%s %s %s\n", job->source, job->type, job->options);
        assert_string_equal(job->status, "OK");
        assert_int_equal(plan.draft.file_size, job->bytes);
        check_tensors(job, job->options, &plan);
        check_metadata(job, job->options, &plan);
    }
    drop_plan(&plan);
}

/* Every row of files.tsv; returns how many. */
static size_t check_folder(void)
{
    FILE *file = fopen(in_folder(lists, "files.tsv"), "r");
    char line[2048];
    size_t jobs = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        struct job job;
        unsigned long long bytes;

        if (sscanf(line,
                   "%31[^\t]\t%15[^\t]\t%127[^\t]\t%llu\t%*[^\t]\t%*[^\t]\t"
                   "%511[^\n]",
                   job.source, job.type, job.options, &bytes,
                   job.status) != 5 ||
            strcmp(job.type, "SOURCE") == 0)
            continue;
        job.bytes = bytes;
        check_job(&job);
        jobs++;
    }
    fclose(file);
    return jobs;
}

static void plans_are_the_files_of_llama_quantize(void **state)
{
    const char *shared = getenv("CONFORMANCE");

    (void)state;
    snprintf(models, sizeof(models), "%s", fixture_path("llama"));
    strcpy(lists, models);
    assert_int_equal(check_folder(), 35);
    snprintf(models, sizeof(models), "%s/golden/e2e",
             shared ? shared : "../shared");
    snprintf(lists, sizeof(lists), "%s/golden/e2e-2026",
             shared ? shared : "../shared");
    if (access(lists, R_OK) == 0)
        assert_int_equal(check_folder(), 69);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_files_of_llama_quantize),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
