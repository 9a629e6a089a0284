/* SPDX-License-Identifier: MIT
 *
 * part_logs.c - the logs of attempts at parts
 *
 * Two parts may begin at once, and be of different work.  So each writes what
 * its work is before it reads what that of others is: at least one of the two
 * finds the other.
 *
 * A log is ours if its owner and mode say so, and yet nothing in it is
 * believed: numbers of files, places and units are checked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/io/path.h"
#include "lib/write/part.h"
#include "lib/write/resume.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* "MFPART1\n" in the file. */
#define KIND_HEAD UINT64_C(0x0a31545241504d46)

/* Words after those that say what the work is. */
enum { PART, PARTS, UNIT, FILES, OUTPUTS, HEAD_WORDS };

enum { FILE_SIZE, FILE_FILLED, FILE_IS_INDEX, FILE_NAME };
#define NAME_WORDS ((NAME_MAX + 8) / 8)

enum {
    UNIT_FILE,
    UNIT_FROM,
    UNIT_TO,
    UNIT_DIGEST,
    UNIT_SUMS = UNIT_DIGEST + 2
};

#define HEX "0123456789abcdef"

enum mf_status mf_part_refuse_log(const struct mf_part_log *log,
                                  const char *what)
{
    const char *name = log->log.temporary.name;

    return mf_shared_refuse(
        log->log.env, log->log.path, "'%s' %s",
        mf_quote((struct mf_str){ name, strlen(name) }).text, what);
}

/* ---- writing ---- */

void mf_part_fill_head(struct mf_part_log *log, const struct mf_part_plan *plan)
{
    struct mf_work_record *head = &log->head;
    uint64_t *word = &head->word[head->count];

    log->parts = plan->parts;
    log->unit = plan->unit;
    log->files = plan->files;
    log->outputs = plan->files - plan->file[plan->files - 1].is_index;
    head->kind = KIND_HEAD;
    head->count += HEAD_WORDS;
    word[PART] = log->part;
    word[PARTS] = log->parts;
    word[UNIT] = log->unit;
    word[FILES] = log->files;
    word[OUTPUTS] = log->outputs;
}

/* Different on all machines. */
static void name_log(struct mf_part_log *log)
{
    struct timespec real = { 0 }, since = { 0 };
    uint64_t seed[6];

    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &since);
    seed[0] = (uint64_t)real.tv_sec;
    seed[1] = (uint64_t)real.tv_nsec;
    seed[2] = (uint64_t)since.tv_sec;
    seed[3] = (uint64_t)since.tv_nsec;
    seed[4] = (uint64_t)getpid();
    seed[5] = (uint64_t)(uintptr_t)seed;
    snprintf(log->suffix, sizeof(log->suffix),
             ".part-%" PRIu32 "-of-%" PRIu32 ".%016" PRIx64, log->part,
             log->parts, (uint64_t)XXH3_64bits(seed, sizeof(seed)));
}

static void put_file(const struct mf_part_file *file,
                     struct mf_work_record *out)
{
    const char *name = mf_base_name(file->path);

    *out = (struct mf_work_record){ .kind = MF_PART_FILE,
                                    .count = FILE_NAME + NAME_WORDS };
    out->word[FILE_SIZE] = file->size;
    out->word[FILE_FILLED] = file->filled;
    out->word[FILE_IS_INDEX] = file->is_index;
    for (size_t i = 0; name[i] && i < NAME_MAX; i++)
        out->word[FILE_NAME + i / 8] |= (uint64_t)(uint8_t)name[i] << i % 8 * 8;
}

enum mf_status mf_part_begin(struct mf_env *env, const char *path,
                             const struct mf_part_plan *plan,
                             struct mf_part_log *log)
{
    struct mf_work_record record;

    name_log(log);
    if (mf_worklog_create(env, path, log->suffix, &log->log) != MF_OK ||
        mf_worklog_begin(&log->log, &log->head) != MF_OK)
        return env->error.status;
    for (size_t i = 0; i < plan->files; i++) {
        put_file(&plan->file[i], &record);
        if (mf_worklog_add(&log->log, &record) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

void mf_part_put_unit(const struct mf_part_unit *unit,
                      struct mf_work_record *out)
{
    *out = (struct mf_work_record){ .kind = MF_PART_UNIT, .count = UNIT_SUMS };
    out->word[UNIT_FILE] = unit->file;
    out->word[UNIT_FROM] = unit->from;
    out->word[UNIT_TO] = unit->to;
    memcpy(&out->word[UNIT_DIGEST], unit->digest, sizeof(unit->digest));
}

/* ---- reading ---- */

bool mf_part_take_unit(const struct mf_part_plan *plan, uint32_t part,
                       const struct mf_work_record *record,
                       struct mf_part_unit *out, size_t *sums)
{
    uint64_t unit;

    if (record->count < UNIT_SUMS || record->word[UNIT_FILE] >= plan->files)
        return false;
    out->file = (size_t)record->word[UNIT_FILE];
    out->from = record->word[UNIT_FROM];
    out->to = record->word[UNIT_TO];
    memcpy(out->digest, &record->word[UNIT_DIGEST], sizeof(out->digest));
    *sums = UNIT_SUMS;
    if (out->from >= out->to || out->to > plan->file[out->file].filled)
        return false;
    unit = mf_part_unit(plan, out->file, out->from);
    return unit >= mf_part_first(plan, part) &&
           unit < mf_part_first(plan, part + 1);
}

/* A plain name, of a file in the folder of the log. */
static bool take_name(const struct mf_work_record *record, char *out)
{
    for (size_t i = 0; i < NAME_MAX; i++)
        out[i] = (char)(record->word[FILE_NAME + i / 8] >> i % 8 * 8);
    out[NAME_MAX] = 0;
    return *out && strcmp(out, ".") != 0 && strcmp(out, "..") != 0 &&
           strcmp(mf_base_name(out), out) == 0;
}

static enum mf_status take_file(struct mf_part_log *log, struct mf_arena *arena,
                                struct mf_part_file *out, bool *found)
{
    struct mf_work_record record;
    char name[NAME_MAX + 1];

    if (mf_worklog_read(&log->log, &record, found) != MF_OK || !*found)
        return log->log.env->error.status;
    if (record.kind != MF_PART_FILE || record.count != FILE_NAME + NAME_WORDS ||
        !take_name(&record, name))
        return mf_part_refuse_log(log, "names files that cannot be");
    *out = (struct mf_part_file){
        .path = mf_path_sibling(arena, log->log.path,
                                (struct mf_str){ name, strlen(name) }),
        .size = record.word[FILE_SIZE],
        .filled = record.word[FILE_FILLED],
        .is_index = record.word[FILE_IS_INDEX] != 0,
    };
    return out->path ? MF_OK : log->log.env->error.status;
}

enum mf_status mf_part_take_files(struct mf_part_log *log,
                                  struct mf_arena *arena,
                                  struct mf_part_plan *out, bool *found)
{
    struct mf_env *env = log->log.env;

    *out = (struct mf_part_plan){ .files = log->files,
                                  .unit = log->unit,
                                  .parts = log->parts };
    out->file = mf_arena_take(arena, out->files * sizeof(*out->file));
    if (!out->file)
        return env->error.status;
    *found = true;
    for (size_t i = 0; i < out->files && *found; i++)
        if (take_file(log, arena, &out->file[i], found) != MF_OK)
            return env->error.status;
    return !*found || mf_part_lay_out(out)
               ? MF_OK
               : mf_part_refuse_log(log, "names sizes that cannot be");
}

enum mf_status mf_part_next(struct mf_part_log *log, struct mf_work_record *out,
                            bool *found)
{
    do
        if (mf_worklog_read(&log->log, out, found) != MF_OK)
            return log->log.env->error.status;
    while (*found && out->kind == MF_PART_FILE);
    return MF_OK;
}

/* Files take a record each, so that there cannot be more of them than the log
 * has bytes for. */
static bool take_head(struct mf_part_log *log)
{
    const struct mf_work_record *head = &log->head;
    const uint64_t *word = &head->word[head->count - HEAD_WORDS];
    bool is_named = log->part == word[PART] && log->parts == word[PARTS];

    log->unit = word[UNIT];
    log->files = (size_t)word[FILES];
    log->outputs = (size_t)word[OUTPUTS];
    return is_named && log->unit >= MF_PAGE && word[FILES] > 0 &&
           word[FILES] < log->log.size && word[OUTPUTS] > 0 &&
           word[FILES] - word[OUTPUTS] <= 1 && word[OUTPUTS] <= word[FILES];
}

enum mf_status mf_part_same(const struct mf_part_log *log,
                            const struct mf_part_log *begun)
{
    struct mf_env *env = log->log.env;
    const char *path = log->log.path;
    char room[128];
    const char *differs;

    if (log->parts != begun->parts)
        return mf_shared_refuse(env, path,
                                "it was begun in %" PRIu32
                                " parts, this is one of %" PRIu32,
                                begun->parts, log->parts);
    differs = mf_resume_difference(&begun->head, &log->head, room);
    if (!differs && !mf_resume_same_leave(&begun->head, &log->head))
        differs = "of its parts some may replace files, and some may not";
    if (!differs && (begun->unit != log->unit || begun->files != log->files ||
                     begun->outputs != log->outputs))
        differs = "its logs are of different files";
    return differs ? mf_shared_refuse(env, path, "%s", differs) : MF_OK;
}

/* ---- all of them ---- */

/* ".NAME" and then the suffix of a log; NULL: it is another file. */
static const char *suffix_of(const char *entry, const char *name)
{
    size_t size = strlen(name);

    return *entry == '.' && strncmp(entry + 1, name, size) == 0 &&
                   strncmp(entry + 1 + size, ".part-", 6) == 0
               ? entry + 1 + size
               : NULL;
}

static bool take_number(const char **text, uint32_t *out)
{
    uint64_t number = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && number <= MF_PARTS_MAX; at++)
        number = 10 * number + (uint64_t)(*at - '0');
    if (at == *text || number == 0 || number > MF_PARTS_MAX)
        return false;
    *text = at;
    *out = (uint32_t)number;
    return true;
}

static bool take_suffix(const char *suffix, struct mf_part_log *log)
{
    const char *at = suffix + strlen(".part-");

    if (strlen(suffix) >= sizeof(log->suffix) ||
        !take_number(&at, &log->part) || strncmp(at, "-of-", 4) != 0)
        return false;
    at += 4;
    if (!take_number(&at, &log->parts) || *at++ != '.' ||
        strspn(at, HEX) != 16 || at[16] != 0 || log->part > log->parts)
        return false;
    strcpy(log->suffix, suffix);
    return true;
}

struct walk {
    struct mf_env *env;
    const char *path;
    enum mf_status (*take)(const struct walk *walk, struct mf_part_log *log,
                           bool *stop);
    mf_part_each *each;
    void *user;
    const bool *of;
};

/* Calls walk->take for each log, of which only the name is known. */
static enum mf_status walk_logs(const struct walk *walk)
{
    struct mf_entries entries;
    struct mf_part_log log;
    char real[PATH_MAX];
    const char *entry, *suffix, *name;
    enum mf_status status = MF_OK;
    bool stop = false;

    if (!mf_follow_links(walk->path, real))
        return mf_fail_system(
            walk->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
            "'%s' cannot be opened: %s",
            mf_quote((struct mf_str){ walk->path, strlen(walk->path) }).text,
            mf_errno_text(errno));
    name = real + mf_folder_size(real);
    mf_entries_begin(&entries, mf_open_folder(real));
    while (status == MF_OK && !stop &&
           (entry = mf_entries_next(&entries)) != NULL) {
        suffix = suffix_of(entry, name);
        if (suffix && take_suffix(suffix, &log))
            status = walk->take(walk, &log, &stop);
    }
    mf_entries_end(&entries);
    return status;
}

/* One whose head is incomplete is of an attempt that has done nothing yet. */
static enum mf_status visit(const struct walk *walk, struct mf_part_log *log,
                            bool *stop)
{
    bool found;

    if (mf_worklog_read(&log->log, &log->head, &found) != MF_OK || !found)
        return walk->env->error.status;
    if (log->head.kind != KIND_HEAD || log->head.count < HEAD_WORDS ||
        !take_head(log))
        return mf_part_refuse_log(log, "was not made by this program");
    return walk->each(walk->user, log, stop);
}

static enum mf_status look(const struct walk *walk, struct mf_part_log *log,
                           bool *stop)
{
    bool found;
    enum mf_status status =
        mf_worklog_look(walk->env, walk->path, log->suffix, &log->log, &found);

    if (status == MF_OK && found)
        status = visit(walk, log, stop);
    mf_worklog_close(&log->log);
    return status;
}

enum mf_status mf_part_logs(struct mf_env *env, const char *path,
                            mf_part_each *each, void *user)
{
    return walk_logs(&(struct walk){ env, path, look, each, user, NULL });
}

static enum mf_status remove_one(const struct walk *walk,
                                 struct mf_part_log *log, bool *stop)
{
    (void)stop;
    return !walk->of || walk->of[log->part]
               ? mf_shared_remove(walk->env, walk->path, log->suffix)
               : MF_OK;
}

enum mf_status mf_part_remove_logs(struct mf_env *env, const char *path,
                                   const bool *of)
{
    return walk_logs(&(struct walk){ env, path, remove_one, NULL, NULL, of });
}
