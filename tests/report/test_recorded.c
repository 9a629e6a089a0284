/* SPDX-License-Identifier: MIT
 *
 * test_recorded.c - what a report takes over from a run that was recorded
 */
#include "lib/json/tree.h"
#include "lib/report/report.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

/* ---- the document ---- */

static struct {
    char at[4 << 20];
    size_t size;
} document;

static void collect(void *user, const char *at, size_t size)
{
    (void)user;
    assert_true(size < sizeof(document.at) - document.size);
    memcpy(document.at + document.size, at, size);
    document.size += size;
    document.at[document.size] = 0;
}

/* Into `document`, as an object of its own. */
static enum mf_status record(const char *path, bool paths)
{
    const struct mf_report_options options = { .size = sizeof(options),
                                               .recorded = path,
                                               .paths = paths };
    struct mf_json_out json = { .write = collect };
    enum mf_status status;

    document.size = 0;
    mf_clear_error(env);
    mf_json_begin(&json, '{');
    status = mf_report_recorded(env, &options, &json);
    mf_json_end(&json, '}');
    assert_int_equal(status, mf_env_error(env)->status);
    return status;
}

static void expect(const char *path, bool paths, const char *text)
{
    if (record(path, paths) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    if (strcmp(document.at, text) != 0)
        fail_msg("%s is\n%s, not\n%s", path, document.at, text);
}

static void expect_part(const char *path, const char *text)
{
    if (record(path, false) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    if (!strstr(document.at, text))
        fail_msg("%s is\n%s, without\n%s", path, document.at, text);
}

static void expect_error(const char *path, enum mf_status status,
                         uint64_t offset, const char *message)
{
    const struct mf_error *error = mf_env_error(env);

    if (record(path, false) != status || error->offset != offset ||
        !strstr(error->message, message))
        fail_msg("%s: %s at %" PRIu64 ": %s\nnot %s at %" PRIu64 ": %s", path,
                 mf_status_name(error->status), error->offset, error->message,
                 mf_status_name(status), offset, message);
    assert_true(error->path[0] != 0);
}

/* The document as nodes: that it is JSON is checked as well. */
static const struct mf_node *read_document(struct mf_arena *arena)
{
    struct mf_node *root = NULL;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;

    mf_source_open_memory("document", document.at, document.size, &source);
    mf_arena_init(arena, env);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    mf_json_init(&json, &reader);
    if (mf_tree_read(&json, arena, document.size + 1, &root) != MF_OK)
        fail_msg("%s: %s", document.at, mf_env_error(env)->message);
    mf_reader_release(&reader);
    return root;
}

static uint64_t number_at(const struct mf_node *node, const char *path)
{
    const struct mf_node *found = mf_node_at(node, path);

    if (!found || found->type != MF_VALUE_U64)
        fail_msg("no number %s", path);
    return found->number.u64;
}

/* ---- a record ---- */

static const char memory_text[] =
    "timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,"
    "temp_buffer_bytes\n"
    "1700000000000000,4096,0,100,8\n"
    "1700000000100000,8192,0,300,9\n"
    "1699999999900000,4096,0,200,10\n";
static const char latency_text[] =
    "sample_id,wall_time_us,kernel_time_us,seq_len\n"
    "0,2010,1000,90\n";
static const char results_text[] =
    "setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,"
    "energy_reduction,p95_latency_us,accuracy\n"
    "baseline,0,0,-0.8689314570085525,NaN,1.5e3,1\n";
static const char run_text[] =
    "{\"schema\":1,\"version\":\"0.3\",\"command\":\"quantize\","
    "\"command_line\":[\"modelfile\",\"quantize\",\"/home/me/a.gguf\"],"
    "\"exit_code\":0,\"started_us\":1700000000000000,"
    "\"ended_us\":1700000002500000,\"fingerprint\":\"ab\","
    "\"configuration\":{\"model_commit\":\"modelfile 0.3 quantize *.gguf "
    "Q4_0 --imatrix=my\\\\ own.dat --rounds=7 /x\",\"tau\":2},"
    "\"host\":{\"system\":\"Linux\",\"nodename\":\"desk\",\"threads\":2},"
    "\"latency\":{\"samples\":1,\"p50_us\":2010},"
    "\"memory\":{\"samples\":3,\"peak_heap_bytes\":9007199254740994},"
    "\"energy\":{\"status\":\"none\",\"joules\":null,\"zones\":[\"p\"]},"
    "\"settings\":[{\"setting\":\"s\",\"type\":null,\"threads\":1,"
    "\"latency\":{\"p99_us\":3}}]}\n";

static const char *const record_names[] = { "latency.csv", "memory.csv",
                                            "run.json", "results.csv" };
static const char *const record_texts[] = { latency_text, memory_text, run_text,
                                            results_text };

static size_t add_digest(char *out, const void *bytes, size_t size)
{
    struct mf_sha256 sha;
    uint8_t digest[32];

    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, bytes, size);
    mf_sha256_end(&sha, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        sprintf(out + 2 * i, "%02x", digest[i]);
    return 64;
}

static char sums_text[1024];
static size_t sums_size;

static void add_seal(void)
{
    char digest[65];

    add_digest(digest, sums_text, sums_size);
    sums_size += (size_t)sprintf(sums_text + sums_size, "# seal %s\n", digest);
}

/* In the scratch folder. */
static void save_record(void)
{
    empty_scratch();
    sums_size = 0;
    for (size_t i = 0; i < COUNT(record_names); i++) {
        size_t size = strlen(record_texts[i]);

        save(scratch_path(record_names[i]), record_texts[i], size);
        sums_size += add_digest(sums_text + sums_size, record_texts[i], size);
        sums_size +=
            (size_t)sprintf(sums_text + sums_size, "  %s\n", record_names[i]);
    }
    add_seal();
    save(scratch_path("SHA256SUMS"), sums_text, sums_size);
}

static void save_text(const char *name, const char *text)
{
    save(scratch_path(name), text, strlen(text));
}

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

static uint64_t sample(size_t i)
{
    return (i * 2654435761u) % 100003;
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

/* ---- heap profiles ---- */

#define PROFILE_HEAD                                                           \
    "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\","         \
    "\"bklt\":true,\"bkacc\":false,\"tu\":\"us\",\"Mtu\":\"s\",\"tuth\":10,"   \
    "\"cmd\":\"/home/me/x y\",\"pid\":15951,\"te\":3288,\"tg\":1131,"
static const char profile_text[] = PROFILE_HEAD
    "\"pps\":[{\"tb\":10,\"tbk\":2,\"tl\":9,\"mb\":8,\"mbk\":1,\"gb\":3,"
    "\"gbk\":1,\"eb\":1,\"ebk\":1,\"fs\":[2,4]},"
    "{\"tb\":20,\"tbk\":1,\"tl\":9,\"mb\":20,\"mbk\":1,\"gb\":8,\"gbk\":1,"
    "\"eb\":0,\"ebk\":0,\"acc\":[-3,[1]],\"fs\":[1,4]}],"
    "\"ftbl\":[\"[root]\",\"0x1F: f(int) (/src/a.c:5)\","
    "\"0xAB: ??? (in /usr/lib/x.so)\",\"unused\","
    "\"main (in /home/(me)/prog)\"]}";

#define PROFILE_SITES                                                          \
    "\"heap\":{\"mode\":\"heap\",\"unit\":\"us\",\"at\":1131,\"end\":3288,"    \
    "\"peak\":11,\"peak_blocks\":2,\"total\":30,\"blocks\":3,\"left\":1,"      \
    "\"left_blocks\":1,\"site_count\":2,\"sites\":[{\"bytes\":20,\"blocks\":"  \
    "1,\"at_peak\":8,\"peak_blocks\":1,\"left\":0,\"left_blocks\":0,\"most\":" \
    "20,\"most_blocks\":1,\"lifetime\":9,\"stack\":[0,2]},{\"bytes\":10,"      \
    "\"blocks\":2,\"at_peak\":3,\"peak_blocks\":1,\"left\":1,\"left_blocks\":" \
    "1,\"most\":8,\"most_blocks\":1,\"lifetime\":9,\"stack\":[1,2]}],"

static void a_profile_has_the_frames_that_it_shows(void **state)
{
    const char *path = scratch_path("p");

    (void)state;
    save_text("p", profile_text);
    expect(path, false,
           "{\"recorded\":{\"kind\":\"heap\"," PROFILE_SITES
           "\"frames\":[\"f(int) (a.c:5)\",\"0xAB: ??? (in x.so)\","
           "\"main (in prog)\"]}}}");
    expect(path, true,
           "{\"recorded\":{\"kind\":\"heap\",\"command_text\":"
           "\"/home/me/x y\"," PROFILE_SITES
           "\"frames\":[\"f(int) (/src/a.c:5)\","
           "\"0xAB: ??? (in /usr/lib/x.so)\","
           "\"main (in /home/(me)/prog)\"]}}}");
}

static void a_long_frame_is_marked(void **state)
{
    static char text[8000];
    size_t size = (size_t)sprintf(text, "%s",
                                  PROFILE_HEAD
                                  "\"pps\":[{\"tb\":1,\"tbk\":1,\"fs\":[0]}],"
                                  "\"ftbl\":[\"f (in /home/");
    (void)state;
    memset(text + size, 'a', 3000);
    memcpy(text + size + 3000, "/x)\"]}", 7);
    save_text("p", text);
    expect_part(scratch_path("p"), "\"frames\":[\"f (in ...\"]");
}

/* Site i: random bytes in all and at the peak. */
static void save_sites(FILE *file, size_t count, size_t depth)
{
    fprintf(file, PROFILE_HEAD "\"pps\":[");
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s{\"tb\":%" PRIu64 ",\"tbk\":%zu,\"gb\":%" PRIu64 ",",
                i > 0 ? "," : "", sample(i), i, sample(i + 777));
        fprintf(file, "\"fs\":[%zu", i);
        for (size_t k = 1; k < depth; k++)
            fprintf(file, ",%zu", k % count);
        fprintf(file, "]}");
    }
    fprintf(file, "],\"ftbl\":[");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\"f%zu\"", i > 0 ? "," : "", i);
    fprintf(file, "]}");
    fclose(file);
}

/* How many sites have more bytes: at the peak, or in all. */
static size_t rank_of(size_t site, size_t count, size_t shift)
{
    size_t rank = 0;

    for (size_t i = 0; i < count; i++)
        rank += sample(i + shift) > sample(site + shift) ||
                (sample(i + shift) == sample(site + shift) && i < site);
    return rank;
}

static void the_largest_sites_are_shown(void **state)
{
    enum { SITES = 3000 };
    static bool shown[SITES];
    const struct mf_node *root, *site, *frames;
    struct mf_arena arena;

    (void)state;
    save_sites(fopen(scratch_path("p"), "w"), SITES, 1);
    assert_int_equal(record(scratch_path("p"), false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.heap.site_count"), SITES);
    frames = mf_node_at(root, "recorded.heap.frames");
    site = mf_node_at(root, "recorded.heap.sites")->first;
    for (; site; site = site->next) {
        const struct mf_node *frame = frames->first;
        size_t i = number_at(site, "blocks");

        assert_false(shown[i]);
        shown[i] = true;
        assert_int_equal(number_at(site, "at_peak"), sample(i + 777));
        for (size_t k = number_at(site, "stack.0"); k > 0; k--)
            frame = frame->next;
        assert_int_equal(atoi(frame->text.at + 1), i);
    }
    for (size_t i = 0; i < SITES; i++)
        assert_int_equal(shown[i], rank_of(i, SITES, 777) < 200 ||
                                       rank_of(i, SITES, 0) < 200);
    mf_arena_release(&arena);
}

static void a_deep_stack_says_how_deep_it_is(void **state)
{
    const struct mf_node *root;
    struct mf_arena arena;

    (void)state;
    save_sites(fopen(scratch_path("p"), "w"), 500, 65);
    assert_int_equal(record(scratch_path("p"), false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.heap.sites.0.depth"), 65);
    assert_int_equal(mf_node_at(root, "recorded.heap.sites.0.stack")->count,
                     64);
    mf_arena_release(&arena);
}

static void a_wrong_profile_says_where_and_what(void **state)
{
#define SITE(text) PROFILE_HEAD "\"pps\":[" text "],\"ftbl\":[\"f\"]}"
    static const struct {
        const char *text, *at; /* where in it */
        enum mf_status status;
        const char *message;
    } rows[] = {
        { "{\"dhatFileVersion\":3}", "3}", MF_ERR_UNSUPPORTED,
          "version 3 of heap profiles, only 2 is supported" },
        { "{\"dhatFileVersion\":-2}", "-2}", MF_ERR_CORRUPT,
          "'dhatFileVersion' is not an integer" },
        { SITE("7"), "7]", MF_ERR_CORRUPT, "site 0 is not an object" },
        { SITE("{\"tb\":1,\"fs\":[0]}"), "{\"tb\"", MF_ERR_CORRUPT,
          "site 0 lacks 'tb', 'tbk' or 'fs'" },
        { SITE("{\"tb\":1.5,\"tbk\":1,\"fs\":[0]}"), "1.5", MF_ERR_CORRUPT,
          "'tb' is not an integer from 0 to 2^64 - 1" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":[0]},{\"tb\":1,\"tbk\":1,"
               "\"fs\":[0,5]}"),
          "5]", MF_ERR_CORRUPT, "frame 5 of a site, 'ftbl' has 1" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":[4294967296]}"), "4294967296",
          MF_ERR_CORRUPT, "frame 4294967296 of site 0, at most 4294967295" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":0}"), "0}],", MF_ERR_CORRUPT,
          "'fs' of site 0 is not one array" },
        { SITE("{\"tb\":18446744073709551615,\"tbk\":1,\"fs\":[0]},"
               "{\"tb\":1,\"tbk\":1,\"fs\":[0]}"),
          "{\"tb\":1,", MF_ERR_CORRUPT,
          "the sum of 'tb' of 2 sites is more than 64 bits have" },
        { PROFILE_HEAD "\"pps\":{}}", "{}", MF_ERR_CORRUPT,
          "'pps' is not an array" },
        { PROFILE_HEAD "\"ftbl\":[1]}", "1]}", MF_ERR_CORRUPT,
          "frame 0 is not a string" },
        { PROFILE_HEAD "\"pps\":[],\"pps\":[]}", "\"pps\":[]}", MF_ERR_CORRUPT,
          "the document has 'pps' twice" },
        { PROFILE_HEAD "\"pps\":[]}", NULL, MF_ERR_CORRUPT,
          "the heap profile lacks 'ftbl'" },
        { PROFILE_HEAD "\"ftbl\":[]}", NULL, MF_ERR_CORRUPT,
          "the heap profile lacks 'pps'" },
        { "{\"a\":1}", NULL, MF_ERR_FORMAT, "neither a heap profile" },
        { "{\"run\":1}", NULL, MF_ERR_FORMAT, "neither a heap profile" },
        { "[]", "[", MF_ERR_FORMAT, "the document is not an object" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        save_text("p", rows[i].text);
        expect_error(scratch_path("p"), rows[i].status,
                     rows[i].at ? (uint64_t)(strstr(rows[i].text, rows[i].at) -
                                             rows[i].text)
                                : MF_NO_OFFSET,
                     rows[i].message);
    }
}

/* ---- what a command printed ---- */

static const char answer_text[] =
    "{\"schema\":2,\"files\":[{\"file\":\"/"
    "x\"}],\"run\":{\"peak_heap_bytes\":5,"
    "\"heap_allocations\":6,\"bytes_read\":7,\"seconds\":0.25,\"timings\":{"
    "\"wall_ns\":1000000000,\"phases\":[{\"phase\":\"read\",\"count\":2,"
    "\"total_ns\":1500000000,\"min_ns\":1,\"p50_ns\":2,\"p99_ns\":3,"
    "\"max_ns\":4},{\"phase\":\"write\",\"count\":0,\"total_ns\":500000000}]}}"
    "}";

static void timings_have_shares(void **state)
{
    (void)state;
    save_text("p", answer_text);
    expect(scratch_path("p"), false,
           "{\"recorded\":{\"kind\":\"answer\",\"seconds\":0.25,\"totals\":{"
           "\"peak_heap_bytes\":5,\"heap_allocations\":6,\"bytes_read\":7},"
           "\"wall_seconds\":1,\"phases\":[{\"name\":\"read\",\"seconds\":1.5,"
           "\"share\":0.75,\"count\":2,\"min_ns\":1,\"p50_ns\":2,\"p99_ns\":3,"
           "\"max_ns\":4},{\"name\":\"write\",\"seconds\":0.5,\"share\":0.25,"
           "\"count\":0}]}}");
    save_text("p", "{\"schema\":2,\"run\":{\"seconds\":1}}");
    expect(scratch_path("p"), false,
           "{\"recorded\":{\"kind\":\"answer\",\"seconds\":1,\"totals\":{}}}");
}

/* ---- anything at all ---- */

static void every_prefix_is_refused(void **state)
{
    static const char *const texts[] = { profile_text, answer_text };
    const char *path = scratch_path("p");

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            const struct mf_error *error = mf_env_error(env);

            save(path, texts[i], size);
            assert_int_equal(record(path, false), MF_ERR_CORRUPT);
            assert_true(error->offset <= size);
        }
}

static void every_prefix_of_a_record_is_a_problem(void **state)
{
    struct mf_arena arena;

    (void)state;
    for (size_t i = 0; i < COUNT(record_names); i++) {
        save_record();
        for (size_t size = 0; size < strlen(record_texts[i]); size++) {
            save(scratch_path(record_names[i]), record_texts[i], size);
            if (record(scratch_folder, false) != MF_OK)
                continue;
            assert_null(strstr(document.at, "\"problem_count\":0"));
            read_document(&arena);
            mf_arena_release(&arena);
        }
    }
    save_record();
    for (size_t size = 0; size + 1 < sums_size; size++) {
        save(scratch_path("SHA256SUMS"), sums_text, size);
        assert_int_equal(record(scratch_folder, false), MF_OK);
        assert_null(strstr(document.at, "\"problem_count\":0"));
    }
}

/* What is still read must be a document. */
static void flip_each(const char *name, const char *path, const char *text,
                      uint8_t mask)
{
    static char bytes[4096];
    size_t size = strlen(text);
    struct mf_arena arena;

    for (size_t i = 0; i < size; i++) {
        memcpy(bytes, text, size);
        bytes[i] = (char)((uint8_t)bytes[i] ^ mask);
        save(scratch_path(name), bytes, size);
        if (record(path, i % 2 > 0) != MF_OK)
            continue;
        read_document(&arena);
        mf_arena_release(&arena);
    }
}

static void every_byte_may_be_another(void **state)
{
    static const uint8_t masks[] = { 0x01, 0x80 };

    (void)state;
    for (size_t k = 0; k < COUNT(masks); k++) {
        flip_each("p", scratch_path("p"), profile_text, masks[k]);
        flip_each("p", scratch_path("p"), answer_text, masks[k]);
        for (size_t i = 0; i < COUNT(record_names); i++) {
            save_record();
            flip_each(record_names[i], scratch_folder, record_texts[i],
                      masks[k]);
        }
        save_record();
        flip_each("SHA256SUMS", scratch_folder, sums_text, masks[k]);
    }
}

static void check_refusals(const char *path, bool all)
{
    uint64_t calls = UINT64_MAX;

    for (uint64_t i = 1; i <= calls; i++) {
        enum mf_status status;

        env_heap.calls = 0;
        env_heap.fail_at = i;
        env_heap.fail_after = all;
        status = record(path, true);
        check_refused(&env_heap, status);
        if (env_heap.calls < i)
            calls = 0;
    }
    env_heap.fail_at = 0;
}

static void every_allocation_may_be_refused(void **state)
{
    static const char *const texts[] = { profile_text, answer_text };
    size_t live;

    (void)state;
    save_record();
    assert_int_equal(record(scratch_folder, false), MF_OK);
    live = env_heap.live;
    for (int all = 0; all < 2; all++) {
        save_record();
        save_text("csv", "x"); /* more problems need memory */
        unlink(scratch_path("latency.csv"));
        check_refusals(scratch_folder, all);
        for (size_t i = 0; i < COUNT(texts); i++) {
            save_text("p", texts[i]);
            check_refusals(scratch_path("p"), all);
        }
    }
    assert_int_equal(env_heap.live, live);
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
        WITH_ENV(a_profile_has_the_frames_that_it_shows),
        WITH_ENV(a_long_frame_is_marked),
        WITH_ENV(the_largest_sites_are_shown),
        WITH_ENV(a_deep_stack_says_how_deep_it_is),
        WITH_ENV(a_wrong_profile_says_where_and_what),
        WITH_ENV(timings_have_shares),
        WITH_ENV(every_prefix_is_refused),
        WITH_ENV(every_prefix_of_a_record_is_a_problem),
        WITH_ENV(every_byte_may_be_another),
        WITH_ENV(every_allocation_may_be_refused),
        WITH_ENV(what_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
