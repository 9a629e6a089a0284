/* SPDX-License-Identifier: MIT
 *
 * ranks.c - what processes that share work tell each other
 *
 * A meeting has up to three rounds: all bring a card of the same size; if cards
 * say that someone has failed, those bring their errors; if cards say that
 * there is more, everyone brings that.  All rounds are decided by the cards,
 * which all have, so that all take part in the same ones.
 */
#include "lib/base/ranks.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"

enum kind { AGREE = 1, TELL, LEAST, MOST, RUN, LEAVE };

struct card {
    uint64_t number; /* of the meeting */
    uint64_t kind;
    uint64_t about;  /* of a run: how many tasks; else a size or a value */
    uint64_t failed; /* 0: not; else 1 and the task that did, or LATE */
    uint64_t size;   /* of what is brought besides */
    uint64_t done;
};

#define LATE UINT64_MAX /* after the tasks, or because of a signal */

/* An error on its way: a rule is known by its address in this process only. */
struct sent_error {
    struct mf_error error;
    char rule[48];
};

/* An env's place among ranks. */
struct mf_meetings {
    uint64_t number;
    uint64_t done;     /* bytes of shared work, here */
    size_t *size;      /* for each rank */
    struct card *card; /* likewise */
    struct sent_error error;
};

static size_t room_of(size_t ranks)
{
    return sizeof(struct mf_meetings) +
           ranks * (sizeof(struct card) + sizeof(size_t));
}

enum mf_status mf_env_join_ranks(struct mf_env *env,
                                 const struct mf_ranks *ranks)
{
    struct mf_meetings *meetings = mf_alloc(env, room_of(ranks->count));

    if (!meetings)
        return env->error.status;
    memset(meetings, 0, room_of(ranks->count));
    meetings->card = (struct card *)(meetings + 1);
    meetings->size = (size_t *)(meetings->card + ranks->count);
    env->ranks = ranks;
    env->meetings = meetings;
    return MF_OK;
}

/* ---- errors ---- */

static void pack_error(const struct mf_error *error, struct sent_error *out)
{
    *out = (struct sent_error){ .error = *error };
    snprintf(out->rule, sizeof(out->rule), "%s",
             error->rule ? error->rule : "");
    out->error.rule = NULL;
}

/* The ids of rules and reasons are constants of the program. */
static const char *rule_at(const char *id)
{
    for (size_t i = 0; i < MF_RULE_COUNT; i++)
        if (strcmp(mf_rules[i].id, id) == 0)
            return mf_rules[i].id;
    for (size_t i = 0; i < MF_REASON_COUNT; i++)
        if (strcmp(mf_reasons[i].id, id) == 0)
            return mf_reasons[i].id;
    return "";
}

/* Takes over the error of that rank.  What a task found is the same on all
 * ranks; else the message says whose it is. */
static void adopt(struct mf_env *env, const struct sent_error *sent,
                  size_t rank, bool of_task)
{
    struct mf_error error = sent->error;

    mf_clear_error(env);
    if (of_task || rank == 0)
        mf_fail(env, error.status, error.offset, "%s", error.message);
    else
        mf_fail(env, error.status, error.offset, "rank %zu: %s", rank,
                error.message);
    env->error.rule = rule_at(sent->rule);
    env->error.file = error.file;
    env->error.needed = error.needed;
    env->error.system = error.system;
    memcpy(env->error.path, error.path, sizeof(error.path));
}

/* ---- a meeting ---- */

static size_t sizes_sum(const struct mf_env *env, bool of_errors)
{
    struct mf_meetings *meetings = env->meetings;
    size_t sum = 0;

    for (size_t i = 0; i < env->ranks->count; i++) {
        const struct card *card = &meetings->card[i];

        meetings->size[i] = of_errors
                                ? (card->failed > 0) * sizeof(struct sent_error)
                                : (size_t)card->size;
        sum += meetings->size[i];
    }
    return sum;
}

static void *need(struct mf_env *env, size_t size)
{
    void *memory = mf_alloc(env, size > 0 ? size : 1);

    if (!memory)
        env->ranks->end(env->ranks->user, env->error.message);
    return memory;
}

static void give_back(struct mf_env *env, void *memory, size_t size)
{
    mf_release(env, memory, size > 0 ? size : 1);
}

/* Of all that have failed the one whose task was first, or with the lowest
 * rank.  There is one. */
static size_t first_failed(const struct mf_env *env)
{
    const struct card *card = env->meetings->card;
    size_t first = 0;

    for (size_t i = 1; i < env->ranks->count; i++)
        if (card[i].failed > 0 &&
            (card[first].failed == 0 || card[i].failed < card[first].failed))
            first = i;
    return first;
}

static enum mf_status gather_errors(struct mf_env *env)
{
    const struct mf_ranks *ranks = env->ranks;
    struct mf_meetings *meetings = env->meetings;
    size_t first = first_failed(env), size = sizes_sum(env, true);
    size_t place = 0;
    struct sent_error *all = need(env, size);

    pack_error(&env->error, &meetings->error);
    ranks->gather_some(ranks->user, &meetings->error,
                       meetings->size[ranks->rank], all, meetings->size);
    for (size_t i = 0; i < first; i++)
        place += meetings->size[i] > 0;
    adopt(env, &all[place], first,
          meetings->card[first].failed < LATE ||
              meetings->card[ranks->rank].failed > 0);
    give_back(env, all, size);
    return env->error.status;
}

static bool same_meeting(const struct card *a, const struct card *b)
{
    return a->number == b->number && a->kind == b->kind &&
           (a->kind == LEAST || a->kind == MOST || a->kind == LEAVE ||
            a->about == b->about);
}

/* All at the same place of the program?  Else the one that is not ends. */
static enum mf_status check_cards(struct mf_env *env)
{
    const struct card *card = env->meetings->card;

    for (size_t i = 0; i < env->ranks->count; i++)
        if (card[i].kind == LEAVE && card[0].kind != LEAVE)
            return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET,
                           "rank %zu ended before the others", i);
    for (size_t i = 1; i < env->ranks->count; i++)
        if (!same_meeting(&card[i], &card[0]))
            return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                           "rank %zu does other work than rank 0: all ranks "
                           "need the same arguments, and see the same files",
                           i);
    return MF_OK;
}

static bool any_failed(const struct mf_env *env)
{
    for (size_t i = 0; i < env->ranks->count; i++)
        if (env->meetings->card[i].failed > 0)
            return true;
    return false;
}

/* mine: with kind and about.  All have the cards of all afterwards. */
static enum mf_status meet(struct mf_env *env, enum mf_status status,
                           struct card mine)
{
    const struct mf_ranks *ranks = env->ranks;
    struct mf_meetings *meetings = env->meetings;

    mine.number = meetings->number++;
    if (status != MF_OK && mine.failed == 0)
        mine.failed = LATE;
    ranks->gather(ranks->user, &mine, sizeof(mine), meetings->card);
    return any_failed(env) ? gather_errors(env) : check_cards(env);
}

/* After a meeting: what all have brought besides, in memory to be given back.
 */
static uint8_t *gather_more(struct mf_env *env, const void *mine, size_t *size)
{
    const struct mf_ranks *ranks = env->ranks;
    uint8_t *all;

    *size = sizes_sum(env, false);
    all = need(env, *size);
    ranks->gather_some(ranks->user, mine, env->meetings->size[ranks->rank], all,
                       env->meetings->size);
    return all;
}

enum mf_status mf_ranks_agree(struct mf_env *env, enum mf_status status)
{
    return env->ranks ? meet(env, status, (struct card){ .kind = AGREE })
                      : status;
}

enum mf_status mf_ranks_tell(struct mf_env *env, enum mf_status status,
                             void *bytes, size_t size)
{
    struct card card = { .kind = TELL, .about = size };
    uint8_t *all;
    size_t got;

    if (!env->ranks)
        return status;
    card.size = env->ranks->rank == 0 ? size : 0;
    if (meet(env, status, card) != MF_OK)
        return env->error.status;
    all = gather_more(env, bytes, &got);
    if (got == size)
        memcpy(bytes, all, size);
    give_back(env, all, got);
    return MF_OK;
}

static enum mf_status choose(struct mf_env *env, enum kind kind,
                             uint64_t *value)
{
    const struct card *card;

    if (!env->ranks)
        return MF_OK;
    if (meet(env, MF_OK, (struct card){ .kind = kind, .about = *value }) !=
        MF_OK)
        return env->error.status;
    card = env->meetings->card;
    for (size_t i = 0; i < env->ranks->count; i++)
        if (kind == LEAST ? card[i].about < *value : card[i].about > *value)
            *value = card[i].about;
    return MF_OK;
}

enum mf_status mf_ranks_least(struct mf_env *env, uint64_t *value)
{
    return choose(env, LEAST, value);
}

enum mf_status mf_ranks_most(struct mf_env *env, uint64_t *value)
{
    return choose(env, MOST, value);
}

/* ---- tasks that are shared ---- */

void mf_ranks_begin(struct mf_env *env, struct mf_ranks_run *run)
{
    run->mine = need(env, run->count);
    memset(run->mine, 0, run->count);
    env->ranks->begin(env->ranks->user, run->count);
}

/* The number of a task, then its result. */
static size_t record_size(const struct mf_ranks_run *run)
{
    return sizeof(uint64_t) + run->size;
}

static void pack_results(const struct mf_ranks_run *run, uint8_t *out)
{
    for (uint64_t i = 0; i < run->count; i++) {
        if (!run->mine[i])
            continue;
        memcpy(out, &i, sizeof(i));
        memcpy(out + sizeof(i), run->result(run->context, (size_t)i),
               run->size);
        out += record_size(run);
    }
}

static enum mf_status unpack_results(struct mf_env *env,
                                     struct mf_ranks_run *run,
                                     const uint8_t *from, size_t size)
{
    size_t each = record_size(run);
    uint64_t task;

    for (; size >= each; from += each, size -= each) {
        memcpy(&task, from, sizeof(task));
        if (task >= run->count)
            return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                           "a rank sent the result of task %" PRIu64
                           ", there are %zu",
                           task, run->count);
        if (!run->mine[task])
            memcpy(run->result(run->context, (size_t)task), from + sizeof(task),
                   run->size);
    }
    return MF_OK;
}

/* Also after a failure: what was done before it may count. */
static enum mf_status share_results(struct mf_env *env,
                                    struct mf_ranks_run *run, size_t size)
{
    uint8_t *mine = need(env, size), *all;
    enum mf_status status;
    size_t got;

    pack_results(run, mine);
    all = gather_more(env, mine, &got);
    status = unpack_results(env, run, all, got);
    give_back(env, all, got);
    give_back(env, mine, size);
    return status;
}

enum mf_status mf_ranks_end(struct mf_env *env, struct mf_ranks_run *run)
{
    struct card card = { .kind = RUN, .about = run->count };
    enum mf_status status = env->error.status;
    struct mf_error error;
    size_t own = 0;

    for (size_t i = 0; i < run->count; i++)
        own += run->mine[i];
    card.size = own * record_size(run);
    card.done = run->done;
    if (status != MF_OK)
        card.failed = status == MF_ERR_STOPPED ? LATE : 1 + run->failed;
    env->meetings->done += run->done;
    meet(env, status, card);
    run->done = 0;
    for (size_t i = 0; i < env->ranks->count; i++)
        run->done += env->meetings->card[i].done;
    error = env->error;
    mf_clear_error(env);
    if (check_cards(env) == MF_OK)
        share_results(env, run, (size_t)card.size);
    if (error.status != MF_OK)
        env->error = error;
    give_back(env, run->mine, run->count);
    return env->error.status;
}

/* ---- the end ---- */

uint64_t mf_env_share_done(const struct mf_env *env)
{
    return env->meetings ? env->meetings->done : 0;
}

static bool all_leave(const struct mf_env *env)
{
    for (size_t i = 0; i < env->ranks->count; i++)
        if (env->meetings->card[i].kind != LEAVE)
            return false;
    return true;
}

static void add_up(const struct mf_env *env, const uint64_t *all, uint64_t *sum,
                   size_t sums, uint64_t *largest, size_t largests)
{
    size_t each = sums + largests;

    for (size_t i = 0; i < env->ranks->count; i++) {
        const uint64_t *of = all + i * each;

        for (size_t k = 0; i != env->ranks->rank && k < sums; k++)
            sum[k] += of[k];
        for (size_t k = 0; k < largests; k++)
            if (of[sums + k] > largest[k])
                largest[k] = of[sums + k];
    }
}

enum mf_status mf_env_leave_ranks(struct mf_env *env, uint64_t *sum,
                                  size_t sums, uint64_t *largest,
                                  size_t largests)
{
    size_t size = (sums + largests) * sizeof(uint64_t), got;
    struct card card = { .kind = LEAVE, .size = size };
    size_t room = room_of(env->ranks->count);
    uint64_t *mine, *all;

    do
        meet(env, env->error.status, card);
    while (!all_leave(env));
    mine = need(env, size);
    memcpy(mine, sum, sums * sizeof(*sum));
    memcpy(mine + sums, largest, largests * sizeof(*largest));
    all = (uint64_t *)gather_more(env, mine, &got);
    add_up(env, all, sum, sums, largest, largests);
    give_back(env, all, got);
    give_back(env, mine, size);
    mf_release(env, env->meetings, room);
    env->ranks = NULL;
    env->meetings = NULL;
    return env->error.status;
}
