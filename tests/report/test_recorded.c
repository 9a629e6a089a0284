/* SPDX-License-Identifier: MIT
 *
 * test_recorded.c - what a report takes over from a record
 */
#include "tests/report/recorded.h"

/* ---- a record ---- */

#define RECORD_HEAD                                                            \
    "{\"recorded\":{\"kind\":\"folder\",\"version\":\"0.3\",\"command\":"      \
    "\"quantize\",\"exit_code\":0,\"fingerprint\":\"ab\","
#define RECORD_HOST                                                            \
    ",\"tau\":2},\"host\":{\"system\":\"Linux\",\"threads\":2},\"latency\":{"  \
    "\"samples\":1,\"p50_us\":2010},\"totals\":{\"peak_heap_bytes\":"          \
    "\"9007199254740994\"},\"energy\":{\"zones\":[\"p\"],\"status\":"          \
    "\"none\"},\"settings\":[{\"setting\":\"s\",\"threads\":1,\"latency\":{"   \
    "\"p99_us\":3}}],"
#define RECORD_TABLES                                                          \
    "\"memory\":{\"unit\":\"us\",\"samples\":3,\"every\":1,\"time\":[0,"       \
    "100000,-100000],\"resident\":[4096,8192,4096],\"library\":[100,300,200]," \
    "\"other\":[8,9,10]},\"samples\":{\"unit\":\"us\",\"samples\":1,"          \
    "\"every\":1,\"wall\":[2010],\"kernel\":[1000],\"elements\":[90]},"        \
    "\"result_count\":1,\"results\":[{\"setting\":\"baseline\","               \
    "\"coherence_delta\":0,\"kv_cache_reduction\":0,"                          \
    "\"peak_mem_reduction\":-0.8689314570085525,\"p95_latency_us\":1500,"      \
    "\"accuracy\":1}],\"problem_count\":0,\"problems\":[]}}"

static void a_record_has_no_moment_and_no_path(void **state)
{
    (void)state;
    save_record();
    expect(scratch_folder, false,
           RECORD_HEAD "\"seconds\":2.5,\"configuration\":{\"model_commit\":"
                       "\"modelfile 0.3 quantize *.gguf Q4_0 --imatrix=... "
                       "--rounds=7 ...\"" RECORD_HOST RECORD_TABLES);
}

static void paths_are_there_if_they_are_wanted(void **state)
{
    (void)state;
    save_record();
    expect(scratch_folder, true,
           RECORD_HEAD "\"command_line\":[\"modelfile\",\"quantize\","
                       "\"/home/me/a.gguf\"],\"seconds\":2.5,"
                       "\"configuration\":{\"model_commit\":\"modelfile 0.3 "
                       "quantize *.gguf Q4_0 --imatrix=my\\\\ own.dat "
                       "--rounds=7 /x\"" RECORD_HOST RECORD_TABLES);
}

static void long_integers_are_strings(void **state)
{
    (void)state;
    save_record();
    save_text("run.json", "{\"exit_code\":-9223372036854775808,\"version\":"
                          "-9007199254740992}");
    expect_part(scratch_folder, "\"version\":-9007199254740992,"
                                "\"exit_code\":\"-9223372036854775808\"");
    save_text("memory.csv",
              "timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,"
              "temp_buffer_bytes\n0,1,0,1,1\n9223372036854775807,1,0,1,1\n");
    expect_part(scratch_folder, "\"time\":[0,\"9223372036854775807\"]");
}

/* ---- problems ---- */

static void expect_problem(const char *problem)
{
    char text[512];

    snprintf(text, sizeof(text), "\"problem_count\":1,\"problems\":[\"%s\"]",
             problem);
    expect_part(scratch_folder, text);
}

static void a_changed_file_is_a_problem(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(record_names); i++) {
        char text[1200], problem[100];

        save_record();
        snprintf(text, sizeof(text), "%s", record_texts[i]);
        *strrchr(text, '1') = '2';
        save_text(record_names[i], text);
        snprintf(problem, sizeof(problem), "%s is not what SHA256SUMS says",
                 record_names[i]);
        expect_problem(problem);
    }
}

static void a_missing_file_is_a_problem(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(record_names); i++) {
        char problem[100];

        save_record();
        assert_int_equal(unlink(scratch_path(record_names[i])), 0);
        snprintf(problem, sizeof(problem), "%s is missing", record_names[i]);
        expect_problem(problem);
    }
    save_record();
    assert_int_equal(unlink(scratch_path("SHA256SUMS")), 0);
    expect_problem("SHA256SUMS is missing");
}

static void a_killed_run_is_shown_as_far_as_it_came(void **state)
{
    (void)state;
    empty_scratch();
    save(scratch_path("memory.csv"), memory_text, strlen(memory_text) - 1);
    expect_part(scratch_folder, "\"time\":[0,100000],");
    expect_part(scratch_folder,
                "\"problem_count\":5,\"problems\":[\"SHA256SUMS is missing\","
                "\"run.json is missing\",\"memory.csv ends within a line\","
                "\"latency.csv is missing\",\"results.csv is missing\"]");
    save_text("memory.csv", "");
    expect_part(scratch_folder, "\"memory\":{\"unit\":\"us\",\"samples\":0,");
}

static void sums_are_not_believed(void **state)
{
    static const char *const names[] = {
        "../latency.csv",   "/etc/passwd", "csv/../x.csv", "csv/.x.csv",
        "figs/a/b.svg",     "model.gguf",  "csv/",         "x/latency.csv",
        "witness/a\\b.svg", "SHA256SUMS",  "csv"
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char line[400];

        save_record();
        memset(line, '0', 64);
        snprintf(line + 64, sizeof(line) - 64, "  %s\n", names[i]);
        sums_size = (size_t)(strstr(sums_text, "# seal") - sums_text);
        sums_size += (size_t)sprintf(sums_text + sums_size, "%s", line);
        add_seal();
        save(scratch_path("SHA256SUMS"), sums_text, sums_size);
        expect_problem("line 5 of SHA256SUMS is not the digest of a file of a "
                       "record");
    }
}

static void a_seal_is_of_all_lines(void **state)
{
    (void)state;
    save_record();
    sums_text[sums_size - 2] = sums_text[sums_size - 2] == '0' ? '1' : '0';
    save(scratch_path("SHA256SUMS"), sums_text, sums_size);
    expect_problem("the seal of SHA256SUMS is not of its lines");
    sums_size = (size_t)(strstr(sums_text, "# seal") - sums_text);
    save(scratch_path("SHA256SUMS"), sums_text, sums_size);
    expect_problem("SHA256SUMS has no seal");
}

static void many_problems_are_counted(void **state)
{
    const struct mf_node *root;
    struct mf_arena arena;
    FILE *file;

    (void)state;
    save_record();
    file = fopen(scratch_path("SHA256SUMS"), "w");
    for (int i = 0; i < 4096; i++)
        fprintf(file, "nothing\n");
    fclose(file);
    assert_int_equal(record(scratch_folder, false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.problem_count"), 4101);
    assert_int_equal(mf_node_at(root, "recorded.problems")->count, 100);
    mf_arena_release(&arena);
    file = fopen(scratch_path("SHA256SUMS"), "a");
    fprintf(file, "nothing\n");
    fclose(file);
    expect_error(scratch_folder, MF_ERR_LIMIT, 4097 * 8,
                 "more than 4096 lines");
}

/* ---- tables ---- */

#define MEMORY_HEAD                                                            \
    "timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,"             \
    "temp_buffer_bytes\n"
#define RESULTS_HEAD                                                           \
    "setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,"           \
    "energy_reduction,p95_latency_us,accuracy\n"

static void a_wrong_line_says_where_and_what(void **state)
{
    static const struct {
        const char *name, *text;
        uint64_t offset;
        const char *message;
    } rows[] = {
        { "latency.csv", "sample_id,wall_time_us\n", 0,
          "line 1 has 2 fields, not 4" },
        { "latency.csv", "sample_id,wall_time_us,kernel_us,seq_len\n", 0,
          "line 1: a column is 'kernel_us', not kernel_time_us" },
        { "memory.csv", MEMORY_HEAD "1,2,3,4\n", sizeof(MEMORY_HEAD) - 1,
          "line 2 has 4 fields, not 5" },
        { "memory.csv", MEMORY_HEAD "1,2,3,4,5\n\n", sizeof(MEMORY_HEAD) + 9,
          "line 3 has 1 fields, not 5" },
        { "memory.csv", MEMORY_HEAD "1,2,-3,4,5\n", sizeof(MEMORY_HEAD) - 1,
          "line 2: kv_cache_bytes is '-3', not an integer from 0 to "
          "9223372036854775807" },
        { "memory.csv", MEMORY_HEAD "9223372036854775808,2,3,4,5\n",
          sizeof(MEMORY_HEAD) - 1, "timestamp_us is '9223372036854775808'" },
        { "memory.csv", MEMORY_HEAD "99999999999999999999999,2,3,4,5\n",
          sizeof(MEMORY_HEAD) - 1, "timestamp_us is '9999" },
        { "memory.csv", MEMORY_HEAD "1,,3,4,5\n", sizeof(MEMORY_HEAD) - 1,
          "peak_rss_bytes is ''" },
        { "results.csv", RESULTS_HEAD "a,0,0,0,0,0,1e999\n",
          sizeof(RESULTS_HEAD) - 1,
          "accuracy is '1e999', not NaN or a number that a double has" },
        { "results.csv", RESULTS_HEAD "a,0,0,0,0,0,inf\n",
          sizeof(RESULTS_HEAD) - 1, "accuracy is 'inf'" },
        { "results.csv", RESULTS_HEAD "a,0,0,0x1,0,0,1\n",
          sizeof(RESULTS_HEAD) - 1, "peak_mem_reduction is '0x1'" },
        { "results.csv", RESULTS_HEAD "\"a\",0,0,0,0,0,1\n",
          sizeof(RESULTS_HEAD) - 1, "setting is '\"a\"'" },
        { "run.json", "[1]", 0, "the document is a list, not an object" },
        { "run.json", "{\"a\":}", 5, "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        empty_scratch();
        save_text(rows[i].name, rows[i].text);
        expect_error(scratch_folder, MF_ERR_CORRUPT, rows[i].offset,
                     rows[i].message);
        assert_true(has_suffix(mf_env_error(env)->path, rows[i].name));
    }
}

static void a_line_has_a_bound(void **state)
{
    char text[2000];

    (void)state;
    empty_scratch();
    memset(text, '7', sizeof(text));
    save(scratch_path("memory.csv"), text, sizeof(text));
    expect_error(scratch_folder, MF_ERR_CORRUPT, 0,
                 "line 1 has more than 1024 bytes");
}

static void save_samples(size_t count)
{
    FILE *file = fopen(scratch_path("memory.csv"), "w");

    assert_non_null(file);
    fprintf(file, MEMORY_HEAD);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%zu,%" PRIu64 ",0,%zu,1\n", 1000 + 10 * i, sample(i), i);
    fclose(file);
}

static void check_buckets(size_t count, uint64_t every)
{
    const struct mf_node *root, *time, *resident;
    struct mf_arena arena;
    size_t buckets = (count + every - 1) / every;

    save_samples(count);
    assert_int_equal(record(scratch_folder, false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.memory.samples"), count);
    assert_int_equal(number_at(root, "recorded.memory.every"), every);
    resident = mf_node_at(root, "recorded.memory.resident");
    time = mf_node_at(root, "recorded.memory.time");
    assert_int_equal(resident->count, buckets);
    assert_int_equal(time->count, buckets);
    resident = resident->first;
    time = time->first;
    for (size_t i = 0; i < buckets;
         i++, resident = resident->next, time = time->next) {
        uint64_t largest = 0;

        for (size_t k = i * every; k < count && k < (i + 1) * every; k++)
            largest = sample(k) > largest ? sample(k) : largest;
        assert_int_equal(resident->number.u64, largest);
        assert_int_equal(time->number.u64, 10 * i * every);
    }
    mf_arena_release(&arena);
}

static void many_samples_become_the_largest_of_buckets(void **state)
{
    (void)state;
    empty_scratch();
    check_buckets(2047, 1);
    check_buckets(2048, 1);
    check_buckets(2049, 2);
    check_buckets(4096, 2);
    check_buckets(4097, 4);
    check_buckets(30001, 16);
}

static void many_results_are_counted(void **state)
{
    FILE *file;

    (void)state;
    empty_scratch();
    file = fopen(scratch_path("results.csv"), "w");
    fprintf(file, RESULTS_HEAD);
    for (int i = 0; i < 1003; i++)
        fprintf(file, "s%d,0,0,0,0,0,1\n", i);
    fclose(file);
    expect_part(scratch_folder, "\"result_count\":1003,");
    assert_non_null(strstr(document.at, "\"s999\""));
    assert_null(strstr(document.at, "\"s1000\""));
}

static void what_is_not_there_is_an_error(void **state)
{
    (void)state;
    empty_scratch();
    expect_error(scratch_path("none"), MF_ERR_IO, MF_NO_OFFSET,
                 "cannot be opened");
    expect_error(scratch_folder, MF_ERR_FORMAT, MF_NO_OFFSET,
                 "not a record: the folder has none of run.json");
    expect_error("/dev/null", MF_ERR_ARGUMENT, MF_NO_OFFSET, "a device");
    assert_int_equal(record(NULL, false), MF_OK);
    assert_string_equal(document.at, "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(a_record_has_no_moment_and_no_path),
        WITH_ENV(paths_are_there_if_they_are_wanted),
        WITH_ENV(long_integers_are_strings),
        WITH_ENV(a_changed_file_is_a_problem),
        WITH_ENV(a_missing_file_is_a_problem),
        WITH_ENV(a_killed_run_is_shown_as_far_as_it_came),
        WITH_ENV(sums_are_not_believed),
        WITH_ENV(a_seal_is_of_all_lines),
        WITH_ENV(many_problems_are_counted),
        WITH_ENV(a_wrong_line_says_where_and_what),
        WITH_ENV(a_line_has_a_bound),
        WITH_ENV(many_samples_become_the_largest_of_buckets),
        WITH_ENV(many_results_are_counted),
        WITH_ENV(what_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
