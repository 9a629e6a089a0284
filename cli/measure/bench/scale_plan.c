/* SPDX-License-Identifier: MIT
 *
 * scale_plan.c - what every rank does for itself, for a tensor and a piece
 *
 * The library quantizes models as a rank that gets no work: it opens the model,
 * plans the output, lists the pieces and meets the others, of which there are
 * none.  Nothing is written.  What more tensors take shows in two models of
 * small tensors.  What more pieces take shows in two of one large tensor, a
 * hole in its file: one of f16 and one of f64, of which equal outputs are made.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/formats.h"
#include "cli/measure/bench/probe.h"
#include "cli/measure/bench/scale.h"
#include "cli/progress.h"
#include "cli/report.h"

#define FEW     ((size_t)16) /* tensors */
#define MANY    ((size_t)4096)
#define COLUMNS ((uint64_t)4096)
#define ROWS    ((uint64_t)262144)
#define HEADER  96 /* bytes */

/* Numbers of types of GGUF. */
#define F16 1
#define F32 0

/* ---- a rank without work ---- */

static void gather(void *user, const void *mine, size_t size, void *all)
{
    (void)user;
    memcpy(all, mine, size);
}

static void gather_some(void *user, const void *mine, size_t size, void *all,
                        const size_t *sizes)
{
    (void)sizes;
    gather(user, mine, size, all);
}

static void ignore(void *user, size_t number)
{
    (void)user;
    (void)number;
}

static size_t take_none(void *user)
{
    (void)user;
    return SIZE_MAX;
}

static void pulse(void *user)
{
    (void)user;
}

static void end(void *user, const char *why)
{
    (void)user;
    fprintf(stderr, "modelfile: %s\n", why);
    _exit(EXIT_OUTPUT);
}

static const struct mf_ranks idle = { .count = 1,
                                      .gather = gather,
                                      .gather_some = gather_some,
                                      .begin = ignore,
                                      .take = take_none,
                                      .stop = ignore,
                                      .pulse = pulse,
                                      .end = end };

/* ---- what it is asked to do ---- */

static int drop(void *user, void *file, uint64_t offset, const void *bytes,
                size_t count)
{
    (void)user;
    (void)file;
    (void)offset;
    (void)bytes;
    (void)count;
    return 0;
}

/* Zeros, if it asks for what was written. */
static int read_back(void *user, void *file, uint64_t offset, void *bytes,
                     size_t count)
{
    (void)user;
    (void)file;
    (void)offset;
    memset(bytes, 0, count);
    return 0;
}

static const struct mf_output_ops nothing = { .size = sizeof(nothing),
                                              .write = drop,
                                              .read = read_back };

static bool plan(void *user)
{
    struct probe *probe = user;
    const struct mf_quantize_options what = { .size = sizeof(what),
                                              .type = "TQ1_0" };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .format = probe->format,
                                            .output = &nothing };
    bool good =
        probe_open(probe) == MF_OK &&
        mf_model_quantize(probe->model, "out", &what, &how, NULL) == MF_OK;

    probe_close(probe);
    return good;
}

static void put(uint8_t **at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

/* A GGUF file of a type of GGUF and so many bytes, whose data is a hole. */
static bool write_hole(const char *path, unsigned type, size_t bytes)
{
    static const char name[] = "t.weight"; /* others are not quantized */
    uint8_t header[HEADER] = "GGUF", *at = header + 4;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good;

    put(&at, 3, 4);
    put(&at, 1, 8);
    put(&at, 0, 8);
    put(&at, strlen(name), 8);
    memcpy(at, name, strlen(name));
    at += strlen(name);
    put(&at, 2, 4);
    put(&at, COLUMNS, 8);
    put(&at, ROWS, 8);
    put(&at, type, 4);
    put(&at, 0, 8);
    good = fd >= 0 && pwrite(fd, header, HEADER, 0) == HEADER &&
           ftruncate(fd, (off_t)(HEADER + COLUMNS * ROWS * bytes)) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* ---- costs ---- */

/* Seconds; below 0 if something failed. */
static double time_plan(struct probe *probe)
{
    uint64_t none = 0;
    double seconds;

    if (mf_env_join_ranks(probe->env, &idle) != MF_OK)
        return -1;
    seconds = bench_thread_time(plan, probe);
    mf_env_leave_ranks(probe->env, &none, 0, &none, 0);
    return seconds;
}

static double time_tensors(struct probe *probe, size_t count)
{
    probe->tensors = count;
    return probe_write(probe) == MF_OK ? time_plan(probe) : -1;
}

static double time_hole(struct probe *probe, unsigned type, size_t bytes)
{
    return write_hole(probe->path, type, bytes) ? time_plan(probe) : -1;
}

static bool fail(const struct scale *scale, const struct probe *probe)
{
    if (progress_signal() != 0)
        return false;
    if (mf_env_error(probe->env)->status == MF_OK)
        report_output(scale->run, probe->path, strerror(errno));
    else
        bench_failure(scale->run, probe->env, probe->path);
    return false;
}

/* Of one unit more. */
static double slope(double few, double many, double units)
{
    return many > few ? (many - few) / units : 0;
}

bool scale_measure_plan(struct scale *scale, struct mf_env *env,
                        const struct bench_folder *folder)
{
    struct probe probe = { .env = env,
                           .format = formats_name(FORMATS_BLOCKS, 0),
                           .path = folder->ours };
    double few, many;

    few = time_tensors(&probe, FEW);
    many = few >= 0 ? time_tensors(&probe, MANY) : -1;
    if (many < 0)
        return fail(scale, &probe);
    scale->costs.plan_tensor = slope(few, many, MANY - FEW);
    few = time_hole(&probe, F16, 2);
    many = few >= 0 ? time_hole(&probe, F32, 4) : -1;
    if (many < 0)
        return fail(scale, &probe);
    scale->costs.plan_piece =
        slope(few, many, (double)(COLUMNS * ROWS * 2 / SCALE_PIECE));
    return true;
}
