/* SPDX-License-Identifier: MIT
 *
 * scale_cost.c - what reading, encoding, planning and writing cost here
 *
 * What threads do is counted in processor time, which other programs of the
 * machine do not change; what disks do is timed by the clock.  Files are
 * handled as the library handles them: some bytes at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/measure/bench/scale.h"
#include "cli/progress.h"
#include "cli/report.h"

#define SAMPLE  (SCALE_PIECE / 2) /* numbers: a piece of 16 bits each */
#define COLUMNS ((size_t)4096)    /* of a row of them */

#define ROUNDS 3 /* of writing, one after the other into one file */
/* Bytes at once: what a thread reads, and about what it makes of them. */
#define READ    ((size_t)128 * 1024)
#define WRITTEN (READ / 4)

#define FILE_SIZE ((uint64_t)128 * 1024 * 1024)

struct measuring {
    struct scale *scale;
    const struct bench_folder *folder;
    struct mf_env *env;
    const struct mf_kernel *kernel;
    float *floats, *weights;
    uint8_t *blocks; /* of the source, then of the type; or bytes of a file */
    size_t size;
    int fd;
    uint64_t from, bytes; /* of the file */
};

/* ---- codecs ---- */

static size_t row_size(const struct mf_kernel *kernel)
{
    return kernel->prefix + COLUMNS / kernel->block * kernel->size;
}

static bool encode(void *user)
{
    struct measuring *measuring = user;
    const struct mf_kernel *kernel = measuring->kernel;
    bool weighted;

    mf_kernel_encodes(kernel, &weighted);
    for (size_t row = 0; row < SAMPLE / COLUMNS; row++)
        if (mf_env_encode(
                measuring->env, kernel, measuring->floats + row * COLUMNS,
                weighted ? measuring->weights : NULL,
                measuring->blocks + row * row_size(kernel), COLUMNS) != MF_OK) {
            bench_failure(measuring->scale->run, measuring->env, NULL);
            return false;
        }
    return true;
}

static bool decode(void *user)
{
    struct measuring *measuring = user;
    const struct mf_kernel *kernel = measuring->kernel;

    for (size_t row = 0; row < SAMPLE / COLUMNS; row++)
        kernel->decode(measuring->blocks + row * row_size(kernel),
                       measuring->floats + row * COLUMNS, COLUMNS);
    return true;
}

/* The beginning of the largest tensor, over and over if it is small; what is
 * not a number of the model is noise. */
static void fill(struct measuring *measuring)
{
    struct mf_model *model = measuring->scale->model;
    struct mf_tensor tensor, largest = { 0 };
    size_t index = 0;

    bench_noise(measuring->floats, SAMPLE);
    for (size_t i = 0; model && mf_tensor_at(model, i, &tensor); i++)
        if (tensor.parameters > largest.parameters) {
            largest = tensor;
            index = i;
        }
    if (largest.parameters >= SAMPLE &&
        mf_tensor_read(model, index, 0, SAMPLE, MF_READ_F32,
                       measuring->floats) != MF_OK)
        bench_noise(measuring->floats, SAMPLE);
    for (size_t i = 0; i < COLUMNS; i++)
        measuring->weights[i] = measuring->floats[i] * measuring->floats[i];
}

/* Seconds of a byte of the source. */
static bool measure_codecs(struct measuring *measuring)
{
    struct scale *scale = measuring->scale;
    double bytes = (double)(SAMPLE / scale->source.block * scale->source.size);

    measuring->kernel = &scale->source;
    if (!encode(measuring))
        return false;
    scale->costs.decode = bench_thread_time(decode, measuring) / bytes;
    for (size_t i = 0; i < scale->curves && scale->costs.decode >= 0; i++) {
        measuring->kernel = &scale->curve[i].kernel;
        if (!encode(measuring)) /* makes the tables of its type */
            return false;
        scale->curve[i].encode = bench_thread_time(encode, measuring) / bytes;
        if (scale->curve[i].encode < 0)
            return false;
    }
    return scale->costs.decode >= 0;
}

/* ---- files ---- */

typedef ssize_t mover(int fd, void *bytes, size_t size, off_t at);

static ssize_t write_at(int fd, void *bytes, size_t size, off_t at)
{
    return pwrite(fd, bytes, size, at);
}

/* Seconds of this thread; below 0 with errno. */
static double move_file(struct measuring *measuring, mover *move, size_t step)
{
    double begun = bench_seconds(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t at = 0; at < measuring->bytes;) {
        uint64_t left = measuring->bytes - at;
        ssize_t size = move(measuring->fd, measuring->blocks,
                            (size_t)(left < step ? left : step),
                            (off_t)(measuring->from + at));

        if (size <= 0 || progress_signal() != 0)
            return -1;
        at += (uint64_t)size;
    }
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
}

/* From here on its bytes are on the disk alone, where the system does this. */
static void forget(int fd)
{
#if defined(POSIX_FADV_DONTNEED)
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#else
    (void)fd;
#endif
}

/* Into pages and blocks that no round before has used: the medians of some. */
static bool measure_writing(struct measuring *measuring)
{
    struct scale_costs *costs = &measuring->scale->costs;
    double thread[ROUNDS], disk[ROUNDS];

    measuring->bytes = FILE_SIZE;
    for (size_t i = 0; i < ROUNDS; i++) {
        double begun = bench_seconds(CLOCK_MONOTONIC);

        measuring->from = i * FILE_SIZE;
        thread[i] = move_file(measuring, write_at, WRITTEN);
        if (thread[i] < 0 || fsync(measuring->fd) != 0)
            return false;
        disk[i] = bench_seconds(CLOCK_MONOTONIC) - begun;
        measuring->scale->run->other_io.bytes_written += FILE_SIZE;
    }
    bench_sort(thread, ROUNDS);
    bench_sort(disk, ROUNDS);
    costs->write = bench_percentile(thread, ROUNDS, 50) / (double)FILE_SIZE;
    costs->disk_write = bench_percentile(disk, ROUNDS, 50) / (double)FILE_SIZE;
    return true;
}

/* From the disk, then from memory. */
static bool measure_reading(struct measuring *measuring)
{
    struct scale_costs *costs = &measuring->scale->costs;
    double begun, bytes = (double)measuring->bytes;

    measuring->from = 0;
    forget(measuring->fd);
    begun = bench_seconds(CLOCK_MONOTONIC);
    if (move_file(measuring, pread, READ) < 0)
        return false;
    costs->disk_read = (bench_seconds(CLOCK_MONOTONIC) - begun) / bytes;
    costs->read = move_file(measuring, pread, READ) / bytes;
    measuring->scale->run->other_io.bytes_read += 2 * measuring->bytes;
    return costs->read >= 0;
}

static bool failed(struct measuring *measuring, bool of_output)
{
    struct run *run = measuring->scale->run;

    if (progress_signal() == 0 && of_output)
        report_output(run, measuring->folder->ours, strerror(errno));
    else if (progress_signal() == 0)
        report_input(run, run->operand[0], "%s", strerror(errno));
    return false;
}

/* The file that was written is read, or the model's first one. */
static bool measure_files(struct measuring *measuring)
{
    struct mf_model *model = measuring->scale->model;
    int written = open(measuring->folder->ours,
                       O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct mf_shard shard = { .size = 0 };
    bool good;

    measuring->fd = written;
    if (written < 0 || !measure_writing(measuring)) {
        failed(measuring, true);
        if (written >= 0)
            close(written);
        return false;
    }
    if (model && mf_shard_at(model, 0, &shard) && mf_shard_fd(model, 0) >= 0) {
        measuring->fd = mf_shard_fd(model, 0);
        measuring->bytes = shard.size < FILE_SIZE ? shard.size : FILE_SIZE;
    }
    good = measure_reading(measuring) ||
           failed(measuring, measuring->fd == written);
    close(written);
    return good;
}

/* ---- all of them ---- */

/* SAMPLE numbers, COLUMNS weights, and blocks of any type or a piece. */
static bool make_room(struct measuring *measuring)
{
    size_t numbers = SAMPLE * sizeof(float), weights = COLUMNS * sizeof(float);
    uint8_t *memory;

    measuring->size = numbers + weights + SAMPLE * sizeof(double);
    memory = mf_env_resize(measuring->env, NULL, 0, measuring->size);
    if (!memory) {
        bench_failure(measuring->scale->run, measuring->env, NULL);
        return false;
    }
    measuring->floats = (float *)memory;
    measuring->weights = (float *)(memory + numbers);
    measuring->blocks = memory + numbers + weights;
    return true;
}

static bool measure_all(struct measuring *measuring)
{
    bool good = make_room(measuring);

    if (good) {
        fill(measuring);
        good = measure_codecs(measuring) && measure_files(measuring);
        mf_env_resize(measuring->env, measuring->floats, measuring->size, 0);
    }
    return good;
}

bool scale_measure(struct scale *scale)
{
    struct measuring measuring = { .scale = scale, .fd = -1 };
    bool good;

    measuring.env = bench_env(scale->run, 1);
    measuring.folder = measuring.env ? bench_folder_begin(scale->run) : NULL;
    if (!measuring.folder) {
        bench_env_free(scale->run, measuring.env);
        return false;
    }
    bench_folder_env(measuring.env);
    good = measure_all(&measuring) &&
           scale_measure_plan(scale, measuring.env, measuring.folder);
    bench_folder_env(NULL);
    bench_env_free(scale->run, measuring.env);
    bench_folder_end(scale->run);
    return good;
}
