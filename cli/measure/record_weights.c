/* SPDX-License-Identifier: MIT
 *
 * record_weights.c - the digest of what the work depends on: models and files
 *
 * A header counts when its model is opened: an edit may change it afterwards.
 * Tensor data counts after the sample, so that it is not in the page cache
 * because of us while the command is measured; the file stays open until then.
 * Of data it is XXH3 that counts, which is as fast as reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/measure/record_parts.h"
#include "cli/progress.h"

/* Above the header of any model that is known; more of a file is data. */
#define HEADER_MOST ((uint64_t)256 * 1024 * 1024)

#define PIECE ((size_t)16384)

/* The next bytes of the span, 0 after the last one. */
static size_t read_piece(int fd, uint64_t at, uint64_t end, uint8_t *piece)
{
    size_t size = end - at < PIECE ? (size_t)(end - at) : PIECE;
    ssize_t got;

    do
        got = pread(fd, piece, size, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

static int open_file(const char *path)
{
    struct stat status;
    int fd;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void add_start(struct mf_sha256 *sha, int fd, uint64_t end)
{
    uint8_t piece[PIECE];
    size_t got;

    for (uint64_t at = 0; (got = read_piece(fd, at, end, piece)) > 0; at += got)
        mf_sha256_add(sha, piece, got);
}

/* Closes the file, too. */
static void add_data(struct record *record, const struct record_data *data)
{
    XXH3_state_t state;
    XXH128_canonical_t sum;
    uint8_t piece[PIECE];
    uint64_t at = data->from;
    size_t got = 1;

    XXH3_128bits_reset(&state);
    /* Work that was interrupted is like no other: it need not be waited for. */
    for (; got > 0 && progress_signal() == 0; at += got) {
        got = read_piece(data->fd, at, UINT64_MAX, piece);
        XXH3_128bits_update(&state, piece, got);
    }
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(&state));
    mf_sha256_add(&record->weights, sum.digest, sizeof(sum.digest));
    close(data->fd);
}

void record_weights_end(struct record *record)
{
    for (size_t i = 0; i < record->data_count; i++)
        add_data(record, &record->data[i]);
    record->data_count = 0;
}

static void add_shard(struct record *record, const struct mf_shard *shard)
{
    uint64_t from =
        shard->data_offset < HEADER_MOST ? shard->data_offset : HEADER_MOST;
    int fd = open_file(shard->path);

    if (fd < 0)
        return;
    add_start(&record->weights, fd, from);
    record->data[record->data_count++] = (struct record_data){ fd, from };
    record->has_weights = true;
    if (record->data_count == RECORD_DATA)
        record_weights_end(record);
}

/* Reading what was read already is not part of what is measured. */
void record_model(const struct mf_model *model)
{
    struct record *record = &the_record;
    struct mf_shard shard;
    uint64_t start;

    if (!record->on)
        return;
    start = record_clock();
    record->now.elements += mf_model_info(model)->parameters;
    for (size_t i = 0; mf_shard_at(model, i, &shard); i++)
        add_shard(record, &shard);
    record->now.paused += record_clock() - start;
}

void record_content(const char *path)
{
    struct record *record = &the_record;
    uint64_t start;
    int fd;

    if (!record->on || !path)
        return;
    start = record_clock();
    fd = open_file(path);
    if (fd >= 0) {
        add_start(&record->weights, fd, UINT64_MAX);
        record->has_weights = true;
        close(fd);
    }
    record->now.paused += record_clock() - start;
}

void record_text(const char *text, size_t size)
{
    if (!the_record.on)
        return;
    mf_sha256_add(&the_record.weights, text, size);
    the_record.has_weights = true;
}
