/* SPDX-License-Identifier: MIT
 *
 * lines.c - fuzz target: any bytes as a file of lines that a command reads
 *
 * -DTARGET=manifest|baseline says which; everything that was read is looked at.
 * -DREPLAY adds a main, see replay.h.
 *
 * It also stops on something left on the heap.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/hash/hash.h"
#include "cli/commands/validate/validate.h"
#include "lib/base/kept.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET manifest
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void stop(const char *why)
{
    printf("%s\n", why);
    fflush(stdout);
    abort();
}

static void take_away(void)
{
    unlink(path);
}

/* A file for the input.  What the commands would say of it goes nowhere; the
 * fuzzer has -close_fd_mask=2 for that. */
static void make_file(void)
{
    const char *tmp = getenv("TMPDIR");
    int fd;

    snprintf(path, sizeof(path), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        stop("no file for the input");
    atexit(take_away);
#ifdef REPLAY
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        stop("standard error cannot be closed");
    close(fd);
#endif
}

static void put(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        stop("the input cannot be written");
}

/* Every byte of every entry. */
static void read_manifest(struct run *run)
{
    struct manifest manifest = { 0 };
    unsigned sum = 0;

    if (!manifest_read(run, path, &manifest))
        return;
    for (size_t i = 0; i < manifest.count; i++) {
        const struct entry *entry = &manifest.entry[i];

        for (size_t at = 0; at < entry->name.size; at++)
            sum += (unsigned char)entry->name.at[at];
        sum += (unsigned)strcspn(entry->hex, " \n");
    }
    if (manifest.count == 0 || sum == 0)
        stop("a manifest without entries");
    manifest_release(run, &manifest);
}

static void read_baseline(struct run *run)
{
    struct baseline baseline = { 0 };
    struct result result = { .finding = { .rule = "TENSOR-ROW",
                                          .severity = MF_ERROR,
                                          .offset = 0x40,
                                          .message = "\033 \xff" },
                             .path = "m.gguf" };

    if (!baseline_read(run, path, &baseline))
        return;
    baseline_accepts(run, &baseline, &result);
    baseline_release(run, &baseline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run run; /* holds the output buffer */
    struct mf_heap_stats before, after;

    if (!*path)
        make_file();
    run.options = &shared_options;
    run.env = mf_env_new(NULL);
    if (!run.env)
        abort();
    put(data, size);
    mf_env_heap(run.env, &before);
    if (strcmp(TEXT(TARGET), "manifest") == 0)
        read_manifest(&run);
    else
        read_baseline(&run);
    mf_inputs_release(run.env); /* the file is not an output until the end */
    mf_env_heap(run.env, &after);
    if (after.live != before.live)
        stop("something is left on the heap");
    mf_env_free(run.env);
    return 0;
}
