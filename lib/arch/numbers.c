/* SPDX-License-Identifier: MIT
 *
 * numbers.c - the numbers of a model, as its architecture's rows say
 *
 * The rows are run for their keys alone: metadata is read, tensors and
 * requirements are passed over, and nothing is reported.  After that a `let` or
 * a key has a value for each block.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/model/facts.h"

/* No row or key has a longer name. */
#define NAME_MAX 128

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* The rows of the architecture that the model says it is of; NULL if there are
 * none. */
static const struct mf_rows_part *find_part(struct mf_arch_run *run)
{
    const struct mf_rows_part *part;
    const char *known;
    struct mf_meta name;

    run->name = str("");
    if (!mf_model_fact(run->model, MF_FACT_ARCHITECTURE, &name, NULL) ||
        !name.text.at || name.text.size > NAME_MAX)
        return NULL;
    run->name = name.text;
    known = mf_arch_of(run->model, name.text);
    part = known ? mf_arch_find(true, str(known)) : NULL;
    if (!part || part->begin == part->end)
        return NULL;
    run->name = str(known);
    return part;
}

/* Reads the keys; take: gives tensors, too. */
static enum mf_status open_run(struct mf_model *model, struct mf_model *keys,
                               mf_arch_take *take, void *user,
                               struct mf_arch_run **out)
{
    const struct mf_rows_part *before = mf_arch_find(false, str("before"));
    const struct mf_rows_part *part;
    struct mf_arch_run *run = mf_arch_run_new(model, MF_ARCH_LETS_MAX, 0);
    enum mf_status status;

    assert(before);
    if (!run)
        return model->env->error.status;
    mf_arena_init(&run->arena, model->env);
    run->quiet = true;
    run->take = take;
    run->take_user = user;
    run->keys = keys;
    part = find_part(run);
    run->known = part != NULL;
    if (part)
        mf_arch_lets(run, part);
    mf_arch_lets(run, before);
    mf_arch_run_part(run, before);
    if (part && run->status == MF_OK)
        mf_arch_run_part(run, part);
    status = run->status;
    if (status == MF_OK)
        *out = run;
    else
        mf_arch_close(run);
    return status;
}

enum mf_status mf_arch_open(struct mf_model *model, struct mf_model *keys,
                            struct mf_arch_run **out)
{
    return open_run(model, keys, NULL, NULL, out);
}

enum mf_status mf_arch_list(struct mf_model *model, mf_arch_take *take,
                            void *user, bool *sure)
{
    struct mf_arch_run *run;
    enum mf_status status = open_run(model, NULL, take, user, &run);

    if (status != MF_OK)
        return status;
    *sure = run->known && !run->unsure;
    mf_arch_close(run);
    return MF_OK;
}

void mf_arch_close(struct mf_arch_run *run)
{
    if (!run)
        return;
    mf_arena_release(&run->arena);
    mf_arch_run_free(run);
}

bool mf_arch_is_known(const struct mf_arch_run *run)
{
    return run->known;
}

bool mf_arch_value(struct mf_arch_run *run, const char *name, uint64_t block,
                   int64_t *out)
{
    struct mf_arch_number value;

    run->block = block;
    run->culprit = NULL;
    run->overflowed = false;
    value = mf_arch_name_value(run, str(name));
    if (value.known)
        *out = value.value;
    return value.known;
}

bool mf_arch_has_key(const struct mf_arch_run *run, const char *name)
{
    const struct mf_arch_key *key = mf_arch_key_of(run, str(name));

    return key && key->present;
}

void mf_arch_expect_count(struct mf_arch_run *run, const char *name,
                          uint64_t least, uint64_t most)
{
    for (size_t i = 0; i < run->key_count; i++)
        if (mf_str_is(run->key[i].name, name) && run->key[i].each &&
            (run->key[i].count < least || run->key[i].count > most))
            run->key[i].fault = MF_ARCH_COUNT;
}

bool mf_arch_is_zero(const struct mf_arch_run *run, const char *name)
{
    const struct mf_arch_key *key = mf_arch_key_of(run, str(name));

    return key && !key->each && key->number.known && key->number.value == 0;
}

bool mf_arch_overflowed(const struct mf_arch_run *run)
{
    return run->overflowed && !run->culprit;
}

/* ---- why a number is not known ---- */

/* The name that the key has in this file. */
static struct mf_arch_full_key key_in_file(const struct mf_arch_run *run,
                                           struct mf_str name)
{
    int fact = run->foreign ? mf_fact_of_key(run->model, name) : -1;
    struct mf_arch_full_key full;

    if (fact < 0)
        return mf_arch_full_key(run, name);
    full.size = (size_t)snprintf(full.text, sizeof(full.text), "%s",
                                 mf_detail_key(run->model, fact).text);
    return full;
}

/* lacks_elements: the array has too few of them. */
static void explain_key(const struct mf_arch_run *run,
                        const struct mf_arch_key *key, bool lacks_elements,
                        char *out, size_t room)
{
    struct mf_arch_full_key full = key_in_file(run, key->name);
    struct mf_quoted quoted = mf_quote((struct mf_str){ full.text, full.size });

    if (key->fault == MF_ARCH_TYPE && key->number.value < 0)
        snprintf(out, room, "'%s' is %" PRId64, quoted.text, key->number.value);
    else if (key->fault == MF_ARCH_TYPE)
        snprintf(out, room, "'%s' has another type", quoted.text);
    else if (key->fault == MF_ARCH_COUNT || lacks_elements)
        snprintf(out, room, "'%s' has %" PRIu64 " element%s", quoted.text,
                 key->count, key->count == 1 ? "" : "s");
    else if (key->each && run->block < key->count)
        snprintf(out, room, "'%s' is %" PRId64 " in block %" PRIu64,
                 quoted.text, key->each[run->block], run->block);
    else if (key->present && key->number.known)
        snprintf(out, room, "'%s' is %" PRId64, quoted.text, key->number.value);
    else
        snprintf(out, room, "'%s' is missing",
                 *full.text == '.' && !run->foreign ? "general.architecture"
                                                    : quoted.text);
}

void mf_arch_explain(const struct mf_arch_run *run, const char *name, char *out,
                     size_t room)
{
    const struct mf_arch_key *key =
        name ? mf_arch_key_of(run, str(name)) : run->culprit;

    *out = '\0';
    if (key)
        explain_key(run, key, key->count > 0 && !name, out, room);
}
