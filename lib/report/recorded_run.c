/* SPDX-License-Identifier: MIT
 *
 * recorded_run.c - what run.json, and "run" of the command's JSON, say
 *
 * Only members that are known are carried over, and of these no path unless
 * paths are wanted, and no moment: a document must not depend on when.
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/report/recorded.h"

/* The settings of `bench` take some 500 bytes each. */
#define RUN_MAX ((uint64_t)1 << 20)

/* ---- values ---- */

static bool is_simple(const struct mf_node *node)
{
    return node->kind == MF_NODE_STRING || node->kind == MF_NODE_NUMBER ||
           node->kind == MF_NODE_FALSE || node->kind == MF_NODE_TRUE;
}

/* Whether there is anything to be said: null is what was not measured. */
static bool is_known(const struct mf_node *node)
{
    return node && (node->kind == MF_NODE_ARRAY ||
                    (is_simple(node) && (node->kind != MF_NODE_NUMBER ||
                                         node->type != MF_VALUE_F64 ||
                                         isfinite(node->number.f64))));
}

static void put_number(struct mf_json_out *json, const struct mf_node *node)
{
    if (node->type == MF_VALUE_U64)
        mf_report_number(json, node->number.u64);
    else if (node->type == MF_VALUE_I64)
        mf_report_signed(json, node->number.i64);
    else
        mf_json_f64(json, node->number.f64);
}

static void put_simple(struct mf_json_out *json, const struct mf_node *node)
{
    if (node->kind == MF_NODE_STRING)
        mf_json_string(json, node->text.at, node->text.size);
    else if (node->kind == MF_NODE_NUMBER)
        put_number(json, node);
    else
        mf_json_bool(json, node->kind == MF_NODE_TRUE);
}

static void put_value(struct mf_json_out *json, const struct mf_node *node)
{
    if (node->kind != MF_NODE_ARRAY) {
        put_simple(json, node);
        return;
    }
    mf_json_begin(json, '[');
    for (const struct mf_node *one = node->first; one; one = one->next)
        if (is_simple(one) && is_known(one))
            put_simple(json, one);
    mf_json_end(json, ']');
}

static const struct mf_node *member(const struct mf_node *object,
                                    const char *name)
{
    return mf_node_get(object, (struct mf_str){ name, strlen(name) });
}

/* Members of the open object that `names`, which ends with NULL, has. */
static void put_members(struct mf_recorded *recorded,
                        const struct mf_node *object, const char *const *names)
{
    for (; *names; names++) {
        const struct mf_node *node = member(object, *names);

        if (!is_known(node))
            continue;
        mf_json_key(recorded->json, *names);
        put_value(recorded->json, node);
    }
}

/* An object in the value, if it is one. */
static void put_object(struct mf_recorded *recorded, const char *key,
                       const struct mf_node *object, const char *const *names)
{
    if (!object || object->kind != MF_NODE_OBJECT)
        return;
    mf_json_key(recorded->json, key);
    mf_json_begin(recorded->json, '{');
    put_members(recorded, object, names);
    mf_json_end(recorded->json, '}');
}

static void put_real(struct mf_json_out *json, const char *key, double value)
{
    mf_json_key(json, key);
    mf_json_f64(json, value);
}

static bool get_u64(const struct mf_node *object, const char *name,
                    uint64_t *out)
{
    const struct mf_node *node = member(object, name);

    if (!node || node->kind != MF_NODE_NUMBER || node->type != MF_VALUE_U64)
        return false;
    *out = node->number.u64;
    return true;
}

/* ---- run.json ---- */

static const char *const latency_names[] = { "samples", "p50_us",  "p95_us",
                                             "p99_us",  "mean_us", "std_us",
                                             NULL };
static const char *const energy_names[] = { "source",
                                            "zones",
                                            "status",
                                            "joules",
                                            "mean_watts",
                                            "peak_watts",
                                            "joules_per_second",
                                            "seconds",
                                            "samples",
                                            NULL };
static const char *const total_names[] = {
    "peak_heap_bytes",       "heap_allocations",
    "peak_rss_bytes",        "mean_rss_bytes",
    "system_peak_rss_bytes", "bytes_read",
    "bytes_written",         NULL
};

/* Whether a word of the work may name a file: operands that do were left out
 * when it was recorded, values of options were not. */
static bool may_be_path(struct mf_str word)
{
    const char *equals = memchr(word.at, '=', word.size);

    return memchr(word.at, '/', word.size) ||
           memchr(word.at, '\\', word.size) ||
           (mf_str_begins(word, "--") && equals &&
            memchr(equals, '.', word.size - (size_t)(equals - word.at)));
}

/* Up to the next space that no backslash is before. */
static struct mf_str take_word(struct mf_str text)
{
    struct mf_str word = { text.at, 0 };

    for (; word.size < text.size && text.at[word.size] != ' '; word.size++)
        word.size += text.at[word.size] == '\\' && word.size + 1 < text.size;
    return word;
}

static void put_word(struct mf_json_out *json, struct mf_str word, bool paths)
{
    const char *equals = memchr(word.at, '=', word.size);

    if (paths || !may_be_path(word)) {
        mf_json_piece(json, word.at, word.size);
        return;
    }
    if (mf_str_begins(word, "--") && equals)
        mf_json_piece(json, word.at, (size_t)(equals + 1 - word.at));
    mf_json_piece(json, "...", 3);
}

static void put_work(struct mf_recorded *recorded, struct mf_str text)
{
    struct mf_json_out *json = recorded->json;

    if (!text.at)
        return;
    mf_json_key(json, "model_commit");
    mf_json_open_string(json);
    while (text.size > 0) {
        struct mf_str word = take_word(text);
        size_t size = word.size + (word.size < text.size);

        put_word(json, word, recorded->options->paths);
        mf_json_piece(json, " ", size - word.size);
        text = (struct mf_str){ text.at + size, text.size - size };
    }
    mf_json_close_string(json, false);
}

static void put_configuration(struct mf_recorded *recorded,
                              const struct mf_node *run)
{
    static const char *const names[] = {
        "weights_hash", "lambda", "tau", "eps", "compiler_flags", NULL
    };
    const struct mf_node *object = member(run, "configuration");

    if (!object || object->kind != MF_NODE_OBJECT)
        return;
    mf_json_key(recorded->json, "configuration");
    mf_json_begin(recorded->json, '{');
    put_work(recorded, mf_node_text(object, "model_commit"));
    put_members(recorded, object, names);
    mf_json_end(recorded->json, '}');
}

/* run.json has no more of them than its size allows. */
static void put_settings(struct mf_recorded *recorded,
                         const struct mf_node *settings)
{
    static const char *const names[] = {
        "setting",         "type", "threads", "file_bytes", "relative_error",
        "peak_heap_bytes", NULL
    };

    if (!settings || settings->kind != MF_NODE_ARRAY)
        return;
    mf_json_key(recorded->json, "settings");
    mf_json_begin(recorded->json, '[');
    for (const struct mf_node *one = settings->first; one; one = one->next) {
        mf_json_begin(recorded->json, '{');
        put_members(recorded, one, names);
        put_object(recorded, "latency", member(one, "latency"), latency_names);
        put_object(recorded, "energy", member(one, "energy"), energy_names);
        mf_json_end(recorded->json, '}');
    }
    mf_json_end(recorded->json, ']');
}

/* The clock of the day may have been set back meanwhile. */
static void put_duration(struct mf_recorded *recorded,
                         const struct mf_node *run)
{
    uint64_t begun, ended;

    if (get_u64(run, "started_us", &begun) && get_u64(run, "ended_us", &ended))
        put_real(recorded->json, "seconds",
                 ended >= begun ? (double)(ended - begun) / 1e6 : 0);
}

void mf_run_write(struct mf_recorded *recorded, const struct mf_node *run)
{
    static const char *const names[] = { "version",     "command",
                                         "sub_command", "exit_code",
                                         "fingerprint", NULL };
    static const char *const paths[] = { "command_line", NULL };
    static const char *const host[] = { "system",       "machine",
                                        "processor",    "processors",
                                        "memory_bytes", "threads",
                                        "isa",          NULL };

    put_members(recorded, run, names);
    if (recorded->options->paths)
        put_members(recorded, run, paths);
    put_duration(recorded, run);
    put_configuration(recorded, run);
    put_object(recorded, "host", member(run, "host"), host);
    put_object(recorded, "latency", member(run, "latency"), latency_names);
    put_object(recorded, "totals", member(run, "memory"), total_names);
    put_object(recorded, "energy", member(run, "energy"), energy_names);
    put_settings(recorded, member(run, "settings"));
}

enum mf_status mf_run_read(struct mf_recorded *recorded,
                           const struct mf_source *source,
                           const struct mf_node **out)
{
    struct mf_env *env = recorded->env;
    struct mf_node *run = NULL;
    struct mf_reader reader;
    struct mf_json json;
    enum mf_status status = mf_source_check_size(env, source, RUN_MAX);

    if (status == MF_OK)
        status = mf_reader_init(&reader, env, source, NULL, 0);
    if (status != MF_OK)
        return status;
    mf_json_init(&json, &reader);
    status = mf_tree_read(&json, &recorded->arena, RUN_MAX, &run);
    mf_reader_release(&reader);
    *out = run;
    if (status == MF_OK && run->kind != MF_NODE_OBJECT)
        status = mf_fail(env, MF_ERR_CORRUPT, run->offset,
                         "the document is %s, not an object",
                         mf_node_kind_name(run));
    return status;
}

/* ---- "run" of what a command printed ---- */

/* Threads work at the same time: the shares are of all their time. */
static double sum_of(const struct mf_node *phases)
{
    double sum = 0;
    uint64_t total;

    for (const struct mf_node *one = phases->first; one; one = one->next)
        if (get_u64(one, "total_ns", &total))
            sum += (double)total;
    return sum;
}

static void put_phase(struct mf_recorded *recorded, const struct mf_node *phase,
                      double sum)
{
    static const char *const names[] = { "count",  "min_ns", "p50_ns",
                                         "p99_ns", "max_ns", NULL };
    struct mf_json_out *json = recorded->json;
    struct mf_str name = mf_node_text(phase, "phase");
    uint64_t total = 0;

    get_u64(phase, "total_ns", &total);
    mf_json_begin(json, '{');
    if (name.at)
        mf_put_text(json, "name", name);
    put_real(json, "seconds", (double)total / 1e9);
    put_real(json, "share", sum > 0 ? (double)total / sum : 0);
    put_members(recorded, phase, names);
    mf_json_end(json, '}');
}

static void put_phases(struct mf_recorded *recorded,
                       const struct mf_node *timings)
{
    const struct mf_node *phases = member(timings, "phases");
    uint64_t wall;
    double sum;

    if (get_u64(timings, "wall_ns", &wall))
        put_real(recorded->json, "wall_seconds", (double)wall / 1e9);
    if (!phases || phases->kind != MF_NODE_ARRAY)
        return;
    mf_json_key(recorded->json, "phases");
    mf_json_begin(recorded->json, '[');
    sum = sum_of(phases);
    for (const struct mf_node *one = phases->first; one; one = one->next)
        put_phase(recorded, one, sum);
    mf_json_end(recorded->json, ']');
}

void mf_answer_write(struct mf_recorded *recorded, const struct mf_node *run)
{
    static const char *const names[] = { "seconds", NULL };
    struct mf_json_out *json = recorded->json;

    mf_json_key(json, "recorded");
    mf_json_begin(json, '{');
    mf_put_string(json, "kind", "answer");
    put_members(recorded, run, names);
    put_object(recorded, "totals", run, total_names);
    put_phases(recorded, member(run, "timings"));
    mf_json_end(json, '}');
}
