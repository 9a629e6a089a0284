/* SPDX-License-Identifier: MIT
 *
 * resume_records.c - the records of a work log: how far the work is
 */
#include <string.h>

#include "lib/write/resume_parts.h"

enum {
    OUTPUT,
    TO,
    ON_DISK,
    DIGEST,
    INPUT = DIGEST + 2,
    LARGEST = INPUT + 2,
    SUMS
};
#define SUM_WORDS 7
_Static_assert(SUMS + MF_TYPE_COUNT * SUM_WORDS <= MF_WORKLOG_WORDS,
               "a record has room for the sums of all types");

bool mf_place_is_before(struct mf_place_done a, struct mf_place_done b)
{
    return a.output < b.output || (a.output == b.output && a.to < b.to);
}

/* The log's checksums are right, and what it says cannot be. */
enum mf_status mf_resume_refuse_log(const struct mf_resume *resume)
{
    return mf_worklog_refuse(resume->outputs->env,
                             resume->outputs->output->path,
                             "its work log does not fit this work");
}

/* ---- sums ---- */

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

void mf_work_put_sums(const struct mf_deviation *sums,
                      struct mf_work_record *record)
{
    for (size_t i = 0; sums && i < MF_TYPE_COUNT; i++) {
        const struct mf_deviation *sum = &sums[i];
        const uint64_t words[SUM_WORDS] = {
            i,
            bits_of(sum->error2),
            bits_of(sum->before2),
            bits_of(sum->after2),
            bits_of(sum->product),
            bits_of(sum->worst),
            sum->count,
        };

        if (sum->count == 0)
            continue;
        memcpy(&record->word[record->count], words, sizeof(words));
        record->count += SUM_WORDS;
    }
}

void mf_resume_fill(const struct mf_resume *resume, struct mf_place_done place,
                    float largest, struct mf_work_record *out)
{
    uint32_t bits;

    memcpy(&bits, &largest, sizeof(bits));
    *out = (struct mf_work_record){ .kind = MF_WORK_DONE, .count = SUMS };
    out->word[OUTPUT] = place.output;
    out->word[TO] = place.to;
    out->word[ON_DISK] = resume->on_disk;
    memcpy(&out->word[DIGEST], resume->digest, sizeof(resume->digest));
    memcpy(&out->word[INPUT], resume->input, sizeof(resume->input));
    out->word[LARGEST] = bits;
    mf_work_put_sums(resume->outputs->deviation, out);
}

bool mf_work_add_sums(const struct mf_work_record *record, size_t at,
                      struct mf_deviation *sums)
{
    for (; at < record->count; at += SUM_WORDS) {
        const uint64_t *word = &record->word[at];

        if (!sums || record->count - at < SUM_WORDS || *word >= MF_TYPE_COUNT)
            return false;
        mf_deviation_add(&sums[*word], &(struct mf_deviation){
                                           .error2 = from_bits(word[1]),
                                           .before2 = from_bits(word[2]),
                                           .after2 = from_bits(word[3]),
                                           .product = from_bits(word[4]),
                                           .worst = from_bits(word[5]),
                                           .count = word[6],
                                       });
    }
    return true;
}

static bool take_sums(const struct mf_work_record *record,
                      struct mf_deviation *sums)
{
    if (sums)
        memset(sums, 0, MF_TYPE_COUNT * sizeof(*sums));
    return mf_work_add_sums(record, SUMS, sums);
}

/* ---- reading the log ---- */

static struct mf_place_done place_of(const struct mf_work_record *record)
{
    return (struct mf_place_done){ (size_t)record->word[OUTPUT],
                                   record->word[TO] };
}

static enum mf_status take_done(struct mf_resume *resume,
                                const struct mf_work_record *record)
{
    const struct mf_outputs *outputs = resume->outputs;
    struct mf_place_done place;
    uint32_t largest;

    if (record->count < SUMS || record->word[OUTPUT] >= outputs->count ||
        (!outputs->together &&
         record->word[TO] >
             outputs->output[record->word[OUTPUT]].draft.file_size) ||
        record->word[ON_DISK] > resume->records ||
        record->word[ON_DISK] < resume->on_disk ||
        !take_sums(record, outputs->deviation))
        return mf_resume_refuse_log(resume);
    place = place_of(record);
    if (!mf_place_is_before(resume->done, place))
        return mf_resume_refuse_log(resume);
    largest = (uint32_t)record->word[LARGEST];
    memcpy(&resume->largest, &largest, sizeof(largest));
    resume->done = place;
    resume->on_disk = record->word[ON_DISK];
    resume->records++;
    return MF_OK;
}

static enum mf_status take_naming(struct mf_resume *resume,
                                  const struct mf_work_record *record)
{
    if (record->count != 2 || record->word[0] >= resume->outputs->count ||
        resume->records == 0 || record->word[1] == 0)
        return mf_resume_refuse_log(resume);
    resume->inode[record->word[0]] = record->word[1];
    return MF_OK;
}

void mf_resume_forget(struct mf_resume *resume)
{
    struct mf_outputs *outputs = resume->outputs;

    resume->records = resume->on_disk = resume->verified = 0;
    resume->done = resume->next = (struct mf_place_done){ 0, 0 };
    resume->digest[0] = resume->digest[1] = 0;
    resume->input[0] = resume->input[1] = 0;
    resume->largest = 0;
    resume->batch_in = resume->batch_out = 0;
    resume->cursor = resume->first;
    memset(resume->inode, 0, outputs->count * sizeof(*resume->inode));
    if (outputs->deviation)
        memset(outputs->deviation, 0,
               MF_TYPE_COUNT * sizeof(*outputs->deviation));
}

/* The next record of MF_WORK_DONE is the one to be verified. */
enum mf_status mf_resume_next(struct mf_resume *resume)
{
    uint64_t end = resume->log.at;
    struct mf_work_record record;
    enum mf_status status;
    bool found = false;

    resume->next = (struct mf_place_done){ SIZE_MAX, 0 };
    if (resume->verified == resume->records)
        return MF_OK;
    resume->log.at = resume->cursor;
    status = mf_worklog_read(&resume->log, &record, &found);
    resume->cursor = resume->log.at;
    resume->log.at = end;
    if (status != MF_OK)
        return status;
    if (!found || record.kind != MF_WORK_DONE || record.count < SUMS)
        return mf_resume_refuse_log(resume);
    resume->next = place_of(&record);
    memcpy(resume->next_digest, &record.word[DIGEST],
           sizeof(resume->next_digest));
    memcpy(resume->next_input, &record.word[INPUT], sizeof(resume->next_input));
    return MF_OK;
}

/* All records after the first: what is done, by the last of them. */
enum mf_status mf_resume_read(struct mf_resume *resume)
{
    struct mf_env *env = resume->outputs->env;
    struct mf_work_record record;
    bool found = true;

    mf_resume_forget(resume);
    resume->log.at = resume->first;
    while (found) {
        if (mf_worklog_read(&resume->log, &record, &found) != MF_OK)
            return env->error.status;
        if (!found)
            break;
        if (record.kind == MF_WORK_DONE)
            take_done(resume, &record);
        else if (record.kind == MF_WORK_NAMING)
            take_naming(resume, &record);
        else
            mf_resume_refuse_log(resume);
        if (env->error.status != MF_OK)
            return env->error.status;
    }
    return mf_resume_next(resume);
}

/* Drops the records from that number on. */
enum mf_status mf_resume_drop(struct mf_resume *resume, uint64_t from)
{
    struct mf_worklog *log = &resume->log;
    struct mf_work_record record;
    bool found = true;

    log->at = resume->first;
    for (uint64_t i = 0; i < from && found; i++)
        if (mf_worklog_read(log, &record, &found) != MF_OK)
            return resume->outputs->env->error.status;
    return mf_worklog_cut(log, log->at);
}
