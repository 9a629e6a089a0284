/* SPDX-License-Identifier: MIT
 *
 * recorded.h - small files of runs that were recorded, and what a report says
 * of them
 */
#ifndef TESTS_RECORDED_H
#define TESTS_RECORDED_H

#include "lib/json/tree.h"
#include "lib/report/report.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

/* ---- the document ---- */

static struct {
    char at[4 << 20];
    size_t size;
} document;

static inline void collect(void *user, const char *at, size_t size)
{
    (void)user;
    assert_true(size < sizeof(document.at) - document.size);
    memcpy(document.at + document.size, at, size);
    document.size += size;
    document.at[document.size] = 0;
}

/* Into `document`, as an object of its own. */
static inline enum mf_status record(const char *path, bool paths)
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

static inline void expect(const char *path, bool paths, const char *text)
{
    if (record(path, paths) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    if (strcmp(document.at, text) != 0)
        fail_msg("%s is\n%s, not\n%s", path, document.at, text);
}

static inline void expect_part(const char *path, const char *text)
{
    if (record(path, false) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    if (!strstr(document.at, text))
        fail_msg("%s is\n%s, without\n%s", path, document.at, text);
}

static inline void expect_error(const char *path, enum mf_status status,
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
static inline const struct mf_node *read_document(struct mf_arena *arena)
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

static inline uint64_t number_at(const struct mf_node *node, const char *path)
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

static inline size_t add_digest(char *out, const void *bytes, size_t size)
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

static inline void add_seal(void)
{
    char digest[65];

    add_digest(digest, sums_text, sums_size);
    sums_size += (size_t)sprintf(sums_text + sums_size, "# seal %s\n", digest);
}

/* In the scratch folder. */
static inline void save_record(void)
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

static inline void save_text(const char *name, const char *text)
{
    save(scratch_path(name), text, strlen(text));
}

/* ---- other files ---- */

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

static const char answer_text[] =
    "{\"schema\":2,\"files\":[{\"file\":\"/"
    "x\"}],\"run\":{\"peak_heap_bytes\":5,"
    "\"heap_allocations\":6,\"bytes_read\":7,\"seconds\":0.25,\"timings\":{"
    "\"wall_ns\":1000000000,\"phases\":[{\"phase\":\"read\",\"count\":2,"
    "\"total_ns\":1500000000,\"min_ns\":1,\"p50_ns\":2,\"p99_ns\":3,"
    "\"max_ns\":4},{\"phase\":\"write\",\"count\":0,\"total_ns\":500000000}]}}"
    "}";

/* Any numbers. */
static inline uint64_t sample(size_t i)
{
    return (i * 2654435761u) % 100003;
}

#endif
