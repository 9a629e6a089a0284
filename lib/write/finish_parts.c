/* SPDX-License-Identifier: MIT
 *
 * finish_parts.c - what the logs of all parts say, and whether it is so
 */
#include <stdio.h>
#include <string.h>

#include "lib/write/finish.h"
#include "lib/write/resume.h"

/* ---- reading ---- */

static enum mf_status take_room(struct mf_finish *finish)
{
    struct mf_env *env = finish->env;
    size_t parts = finish->plan.parts * sizeof(*finish->part);
    size_t units;

    if (finish->plan.units > SIZE_MAX / sizeof(*finish->unit))
        return mf_part_refuse_log(&finish->first, "names sizes that cannot be");
    finish->unit_count = (size_t)finish->plan.units;
    units = finish->unit_count * sizeof(*finish->unit);
    finish->part = mf_arena_take(&finish->arena, parts);
    finish->unit = mf_alloc(env, units);
    if (!finish->part || !finish->unit)
        return env->error.status;
    memset(finish->part, 0, parts);
    memset(finish->unit, 0, units);
    return MF_OK;
}

/* The first log that names all files says what they are. */
static enum mf_status take_first(struct mf_finish *finish,
                                 struct mf_part_log *log, bool *whole)
{
    if (mf_part_take_files(log, &finish->arena, &finish->plan, whole) !=
            MF_OK ||
        !*whole)
        return finish->env->error.status;
    finish->first = *log;
    finish->first.log.path = finish->path;
    finish->found = true;
    return take_room(finish);
}

static enum mf_status keep_sums(struct mf_finish *finish,
                                const struct mf_work_record *record,
                                size_t sums, struct mf_found_unit *unit)
{
    uint64_t *words;

    unit->sum_count = record->count - sums;
    if (unit->sum_count == 0)
        return MF_OK;
    words = mf_arena_take(&finish->arena, unit->sum_count * sizeof(*words));
    if (!words)
        return finish->env->error.status;
    memcpy(words, &record->word[sums], unit->sum_count * sizeof(*words));
    unit->sums = words;
    return MF_OK;
}

/* Two attempts have the same record of a unit.  If not, the part runs again. */
static enum mf_status take_unit(struct mf_finish *finish,
                                const struct mf_part_log *log,
                                const struct mf_work_record *record)
{
    struct mf_found_part *part = &finish->part[log->part - 1];
    struct mf_found_unit *unit;
    struct mf_part_unit place;
    struct mf_deviation checked[MF_TYPE_COUNT] = { 0 };
    size_t sums;

    if (!mf_part_take_unit(&finish->plan, log->part, record, &place, &sums) ||
        !mf_work_add_sums(record, sums, checked))
        return mf_part_refuse_log(log, "names places that cannot be");
    unit = &finish->unit[mf_part_unit(&finish->plan, place.file, place.from)];
    if (unit->place.to > 0) {
        part->unsound |=
            unit->place.from != place.from || unit->place.to != place.to ||
            memcmp(unit->place.digest, place.digest, sizeof(place.digest)) != 0;
        return MF_OK;
    }
    unit->place = place;
    part->units++;
    part->bytes += place.to - place.from;
    return keep_sums(finish, record, sums, unit);
}

static enum mf_status take_records(struct mf_finish *finish,
                                   struct mf_part_log *log)
{
    struct mf_work_record record;
    bool found = true;

    while (found) {
        if (mf_part_next(log, &record, &found) != MF_OK)
            return finish->env->error.status;
        if (found && record.kind == MF_PART_DONE)
            finish->part[log->part - 1].done = true;
        else if (found && record.kind != MF_PART_UNIT)
            return mf_part_refuse_log(log, "was not made by this program");
        else if (found && take_unit(finish, log, &record) != MF_OK)
            return finish->env->error.status;
    }
    return MF_OK;
}

/* An attempt locks its log before it writes to it. */
static enum mf_status take_log(void *user, struct mf_part_log *log, bool *stop)
{
    struct mf_finish *finish = user;
    bool whole = true;

    (void)stop;
    finish->result->attempts++;
    if (!finish->found && take_first(finish, log, &whole) != MF_OK)
        return finish->env->error.status;
    if (!whole)
        return MF_OK;
    if (mf_part_same(log, &finish->first) != MF_OK)
        return finish->env->error.status;
    finish->part[log->part - 1].begun = true;
    finish->part[log->part - 1].at_work |=
        !mf_system_lock(log->log.fd) && errno == EWOULDBLOCK;
    return take_records(finish, log);
}

static void count(struct mf_finish *finish)
{
    struct mf_finish_result *result = finish->result;

    result->parts = finish->plan.parts;
    result->file_count = finish->first.outputs;
    for (size_t i = 0; i < finish->plan.files; i++)
        result->file_size +=
            finish->plan.file[i].is_index ? 0 : finish->plan.file[i].size;
    for (uint32_t i = 0; i < finish->plan.parts; i++) {
        result->finished += finish->part[i].done;
        result->units += finish->part[i].units;
        result->bytes += finish->part[i].bytes;
    }
}

static void forget(struct mf_finish *finish)
{
    mf_release(finish->env, finish->unit,
               finish->unit_count * sizeof(*finish->unit));
    finish->unit = NULL;
    finish->found = false;
    *finish->result = (struct mf_finish_result){ 0 };
}

enum mf_status mf_finish_read(struct mf_finish *finish)
{
    forget(finish);
    if (mf_part_logs(finish->env, finish->path, take_log, finish) != MF_OK)
        return finish->env->error.status;
    if (finish->found)
        count(finish);
    return MF_OK;
}

/* ---- whether it is all ---- */

static uint32_t part_of(const struct mf_part_plan *plan, uint64_t unit)
{
    uint32_t low = 1, high = plan->parts;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (mf_part_first(plan, middle) <= unit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void note_unsound(struct mf_finish *finish, uint64_t unit)
{
    finish->part[part_of(&finish->plan, unit) - 1].unsound = true;
}

/* Units follow one another without a gap.  Where they do not, the parts of
 * both neighbours may be at fault. */
static void cover_file(struct mf_finish *finish, size_t number)
{
    const struct mf_part_plan *plan = &finish->plan;
    const struct mf_part_file *file = &plan->file[number];
    uint64_t end =
        number + 1 < plan->files ? plan->file[number + 1].first : plan->units;
    uint64_t at = 0, before = file->first;

    for (uint64_t i = file->first; i < end; i++) {
        const struct mf_part_unit *place = &finish->unit[i].place;

        if (place->to == 0)
            continue;
        if (place->from != at) {
            note_unsound(finish, before);
            note_unsound(finish, mf_part_unit(plan, number, at));
            note_unsound(finish, i);
        }
        at = place->to;
        before = i;
    }
    if (at < file->filled) {
        note_unsound(finish, before);
        note_unsound(finish, mf_part_unit(plan, number, at));
    }
}

enum mf_status mf_finish_cover(struct mf_finish *finish)
{
    for (size_t i = 0; i < finish->plan.files; i++)
        cover_file(finish, i);
    return mf_finish_check_parts(finish);
}

enum mf_status mf_finish_verify(struct mf_finish *finish,
                                const struct mf_target *const *target,
                                struct mf_crew *crew)
{
    for (size_t i = 0; i < finish->unit_count; i++) {
        const struct mf_part_unit *place = &finish->unit[i].place;
        uint64_t digest[2];

        if (place->to == 0)
            continue;
        if (mf_part_digest(crew, target[place->file], place->from, place->to,
                           true, digest) != MF_OK)
            return finish->env->error.status;
        if (memcmp(digest, place->digest, sizeof(digest)) != 0)
            note_unsound(finish, i);
    }
    return MF_OK;
}

/* ---- saying what is missing ---- */

/* "part 3", "parts 3 and 7", "parts 1, 2, 3 and 40 others" */
struct numbers {
    char text[160];
    size_t size;
    uint32_t count, shown;
};
#define SHOWN 8

static void put_number(struct numbers *list, uint32_t part, uint32_t total)
{
    const char *before = list->shown == 0           ? ""
                         : list->shown + 1 == total ? " and "
                                                    : ", ";

    if (list->shown++ < SHOWN)
        list->size += (size_t)snprintf(list->text + list->size,
                                       sizeof(list->text) - list->size,
                                       "%s%" PRIu32, before, part);
}

static bool is_missing(const struct mf_found_part *part)
{
    return !part->done || part->unsound;
}

static bool is_at_work(const struct mf_found_part *part)
{
    return is_missing(part) && part->at_work;
}

static bool is_idle(const struct mf_found_part *part)
{
    return is_missing(part) && !part->at_work;
}

static struct numbers list_of(const struct mf_finish *finish,
                              bool (*has)(const struct mf_found_part *part))
{
    struct numbers list = { .count = 0 };

    for (uint32_t i = 0; i < finish->plan.parts; i++)
        list.count += has(&finish->part[i]);
    for (uint32_t i = 0; i < finish->plan.parts; i++)
        if (has(&finish->part[i]))
            put_number(&list, i + 1, list.count);
    if (list.count > SHOWN)
        snprintf(list.text + list.size, sizeof(list.text) - list.size,
                 " and %" PRIu32 " others", list.count - SHOWN);
    return list;
}

static void tell_missing(const struct mf_finish *finish)
{
    for (uint32_t i = 0; i < finish->plan.parts; i++) {
        const struct mf_found_part *part = &finish->part[i];

        if (is_missing(part) && finish->options.missing)
            finish->options.missing(finish->options.user,
                                    &(struct mf_missing_part){
                                        .part = i + 1,
                                        .begun = part->begun,
                                        .at_work = part->at_work,
                                        .unsound = part->unsound,
                                        .units = part->units,
                                        .bytes = part->bytes,
                                    });
    }
}

enum mf_status mf_finish_check_parts(struct mf_finish *finish)
{
    struct numbers at_work = list_of(finish, is_at_work);
    struct numbers idle = list_of(finish, is_idle);
    const char *path = finish->path;

    finish->unsound = 0;
    for (uint32_t i = 0; i < finish->plan.parts; i++)
        finish->unsound += finish->part[i].unsound;
    if (at_work.count + idle.count == 0)
        return MF_OK;
    tell_missing(finish);
    if (idle.count == 0)
        return mf_decline(finish->env, MF_REASON_PARTS_MISSING, MF_NO_OFFSET,
                          "part%s %s of '%s' %s at work",
                          at_work.count == 1 ? "" : "s", at_work.text,
                          mf_quote((struct mf_str){ path, strlen(path) }).text,
                          at_work.count == 1 ? "is" : "are");
    return mf_decline(finish->env, MF_REASON_PARTS_MISSING, MF_NO_OFFSET,
                      "part%s %s of '%s' %s: run %s again%s%s",
                      idle.count == 1 ? "" : "s", idle.text,
                      mf_quote((struct mf_str){ path, strlen(path) }).text,
                      finish->unsound > 0 ? "did not write what is there"
                      : idle.count == 1   ? "has not finished"
                                          : "have not finished",
                      idle.count == 1 ? "it" : "them",
                      at_work.count > 0 ? "; at work: " : "", at_work.text);
}

/* ---- sums ---- */

void mf_finish_add_sums(struct mf_finish *finish)
{
    struct mf_work_record record = { 0 };

    for (size_t i = 0; i < finish->unit_count; i++) {
        const struct mf_found_unit *unit = &finish->unit[i];

        record.count = unit->sum_count;
        if (unit->sum_count > 0)
            memcpy(record.word, unit->sums,
                   unit->sum_count * sizeof(*unit->sums));
        mf_work_add_sums(&record, 0, finish->sums);
    }
    for (size_t i = 0; i < MF_TYPE_COUNT; i++) {
        if (finish->sums[i].count > 0)
            finish->result->type[i].name = mf_types[i].name;
        mf_deviation_sum(&finish->sums[i], &finish->result->type[i]);
    }
}
