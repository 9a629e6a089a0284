/* SPDX-License-Identifier: MIT
 *
 * folder.c - the temporary folder into which modelfile bench writes models
 *
 * It is below $TMPDIR, and removed at the end of the work or of the program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/measure/bench/bench.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/room.h"

static struct bench_folder *folder; /* NULL: not made yet */
/* For remove_all: names of files, and the folder in which they are. */
static char further[16][56];
static int further_in = -1;
static struct mf_env *volatile working;

static const char *temporary(void)
{
    const char *path = getenv("TMPDIR");

    return path && *path ? path : "/tmp";
}

/* A peer may need rights that we do without, and would inherit our sandbox. */
void bench_allow_writes(struct run *run)
{
    if (run->operand_count > 0 && bench_has_peers())
        run->sandbox.off = "other programs are run";
    else if (run->operand_count > 0 || bench_options.alloc ||
             bench_options.scale)
        sandbox_allow_folder(&run->sandbox, temporary());
    if (bench_options.plot && *bench_options.plot)
        sandbox_allow_file(&run->sandbox, output_path(bench_options.plot));
}

/* A signal ends the program. */
static void remove_all(void)
{
    mf_env_abandon(working);
    bench_end_peer();
    unlink(folder->ours);
    unlink(folder->theirs);
    for (size_t i = 0;
         i < sizeof(further) / sizeof(*further) && further_in >= 0; i++)
        unlinkat(further_in, further[i], 0);
    rmdir(folder->path);
}

const struct bench_folder *bench_folder_begin(struct run *run)
{
    const char *above = temporary();
    int size;

    folder = folder ? folder : room_take(sizeof(*folder));
    if (!folder) {
        report_no_room(run);
        return NULL;
    }
    size = snprintf(folder->path, sizeof(folder->path),
                    "%s/modelfile-bench.XXXXXX", above);
    if ((size_t)size >= sizeof(folder->path) || !mkdtemp(folder->path)) {
        report_output(run, above,
                      (size_t)size >= sizeof(folder->path) ? "is too long"
                                                           : strerror(errno));
        return NULL;
    }
    snprintf(folder->ours, sizeof(folder->ours), "%s/ours", folder->path);
    snprintf(folder->theirs, sizeof(folder->theirs), "%s/theirs", folder->path);
    progress_at_end(remove_all);
    return folder;
}

void bench_folder_env(struct mf_env *env)
{
    working = env;
}

void bench_folder_note(void)
{
    DIR *stream = opendir(folder->path);
    const struct dirent *entry;
    size_t count = 0;

    if (!stream)
        return;
    if (further_in < 0)
        further_in = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (count < sizeof(further) / sizeof(*further) &&
           (entry = readdir(stream)) != NULL)
        if (entry->d_name[0] != '.' &&
            strlen(entry->d_name) < sizeof(further[0]))
            strcpy(further[count++], entry->d_name);
    closedir(stream);
}

/* Listing takes memory: our own files go without. */
void bench_folder_empty(void)
{
    DIR *stream = opendir(folder->path);
    const struct dirent *entry;

    unlink(folder->ours);
    unlink(folder->theirs);
    while (stream && (entry = readdir(stream)) != NULL)
        unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream)
        closedir(stream);
}

void bench_folder_end(struct run *run)
{
    bench_folder_empty();
    if (rmdir(folder->path) != 0)
        report_output(run, folder->path, strerror(errno));
    if (further_in >= 0)
        close(further_in);
    further_in = -1;
    progress_at_end(NULL);
}
