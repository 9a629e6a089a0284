/* SPDX-License-Identifier: MIT
 *
 * run.c - the rows of an architecture, from the first to the last
 *
 *     key TYPE NAME                 reads metadata (keys.c)
 *     let NAME EXPRESSION           names a number; it is computed where used
 *     need EXPRESSION               must hold, or loading ends
 *     tensor NAME DIMENSIONS        looks a tensor up (tensors.c)
 *     use GROUP ARGUMENT, ...       the rows of a group; "use?": its tensors
 *                                   may be missing
 *     like ARCHITECTURE             the rows of another one
 *     if EXPRESSION ... else ... end
 *     each FROM .. TO ... end       for the blocks from FROM to TO - 1
 *
 * Groups "before" and "after" are what is common to all architectures.  A `let`
 * of an architecture hides that of the same name in a group.
 */
#include "lib/arch/run.h"

#include <assert.h>

/* ---- texts ---- */

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static struct mf_str name_of(const struct mf_rows_part *part)
{
    struct mf_str words = mf_part_words(&mf_loader_rows, part);

    return mf_word(&words);
}

const char *mf_arch_name_at(size_t index)
{
    for (size_t i = 0; i < mf_loader_rows.count; i++)
        if (mf_loader_rows.part[i].kind == MF_ROWS_arch && index-- == 0)
            return name_of(&mf_loader_rows.part[i]).at;
    return NULL;
}

static const struct {
    const char *other, *gguf;
} names[] = {
#define ARCHITECTURE(other, gguf) { other, gguf },
#include "lib/arch/names.def"
};

const char *mf_arch_of(const struct mf_model *model, struct mf_str name)
{
    const struct mf_rows_part *part;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (model->format->naming != MF_NAMING_GGUF &&
            mf_str_is(name, names[i].other))
            name = str(names[i].gguf);
    part = mf_arch_find(true, name);
    return part ? name_of(part).at : NULL;
}

/* The next letter or digit from *at on, in lower case; 0 at the end. */
static int next_letter(struct mf_str name, size_t *at)
{
    while (*at < name.size) {
        char c = mf_small(name.at[(*at)++]);

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            return c;
    }
    return 0;
}

static bool same_letters(struct mf_str a, struct mf_str b)
{
    size_t i = 0, j = 0;
    int c;

    while ((c = next_letter(a, &i)) == next_letter(b, &j))
        if (c == 0)
            return true;
    return false;
}

const char *mf_arch_similar(struct mf_str name)
{
    size_t start = 0;
    const char *known;

    if (next_letter(name, &start) == 0)
        return NULL;
    for (size_t i = 0; (known = mf_arch_name_at(i)) != NULL; i++)
        if (same_letters(name, str(known)))
            return known;
    return NULL;
}

/* ---- rows ---- */

static void run_rows(struct mf_arch_run *run, struct mf_code rows);

void mf_arch_run_part(struct mf_arch_run *run, const struct mf_rows_part *part)
{
    run_rows(run, mf_part_rows(&mf_loader_rows, part));
}

static void run_group(struct mf_arch_run *run, struct mf_code row)
{
    struct mf_frame frame = { .up = run->frame };
    struct mf_code rows = mf_code_use(row, &frame);

    run->frame = &frame;
    run_rows(run, rows);
    run->frame = frame.up;
}

static void run_need(struct mf_arch_run *run, struct mf_code row)
{
    struct mf_str text = mf_code_text(&row);
    struct mf_arch_number holds = mf_arch_number_of(run, row);

    if (!holds.known || holds.value != 0)
        return;
    mf_arch_note_need(run, text, row);
    run->stopped = true;
}

static void run_if(struct mf_arch_run *run, struct mf_code row)
{
    struct mf_arch_number which = mf_arch_take_number(run, &row);
    struct mf_code rows = mf_code_part(&row);

    if (!which.known)
        run->unsure = true;
    else
        run_rows(run, which.value ? rows : row);
}

static void run_each(struct mf_arch_run *run, struct mf_code row)
{
    uint64_t block = run->block;
    struct mf_arch_number from, to;

    if (run->quiet && !run->take)
        return; /* they only look at tensors */
    from = mf_arch_take_number(run, &row);
    to = mf_arch_take_number(run, &row);
    if (!from.known || !to.known || from.value < 0 ||
        to.value > MF_ARCH_BLOCKS_MAX) {
        run->unsure = true;
        return;
    }
    for (int64_t i = from.value; i < to.value && !run->stopped; i++) {
        run->block = (uint64_t)i;
        run_rows(run, row);
    }
    run->block = block;
}

static void run_row(struct mf_arch_run *run, enum mf_code_row word,
                    struct mf_code row)
{
    switch (word) {
    case MF_DO_IF:
        run_if(run, row);
        return;
    case MF_DO_EACH:
        run_each(run, row);
        return;
    case MF_DO_USE:
        run_group(run, row);
        return;
    case MF_DO_LIKE:
        mf_arch_run_part(run, &mf_loader_rows.part[mf_code_two(&row)]);
        return;
    case MF_DO_KEY:
        mf_arch_read_key(run, row);
        return;
    case MF_DO_NEED:
        if (!run->quiet)
            run_need(run, row);
        return;
    case MF_DO_TENSOR:
        if (!run->quiet || run->take)
            mf_arch_check_tensor(run, row, run->frame && run->frame->optional);
        return;
    default:
        return; /* a `let` was collected before */
    }
}

static void run_rows(struct mf_arch_run *run, struct mf_code rows)
{
    while (mf_code_left(&rows) && !run->stopped && run->status == MF_OK) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        run_row(run, word, row);
    }
}

/* ---- a whole architecture ---- */

static size_t lets_of(struct mf_arch_run *run, struct mf_code rows);

/* The `let` rows of a row that has others in it, or uses them. */
static size_t lets_in(struct mf_arch_run *run, enum mf_code_row word,
                      struct mf_code row)
{
    struct mf_frame frame = { .up = NULL };
    struct mf_code rows;

    if (word == MF_DO_USE)
        return lets_of(run, mf_code_use(row, &frame));
    if (word == MF_DO_LIKE)
        return mf_arch_lets(run, &mf_loader_rows.part[mf_code_two(&row)]);
    mf_code_expression(&row);
    if (word == MF_DO_EACH) {
        mf_code_expression(&row);
        return lets_of(run, row);
    }
    rows = mf_code_part(&row);
    return lets_of(run, rows) + lets_of(run, row);
}

static size_t lets_of(struct mf_arch_run *run, struct mf_code rows)
{
    size_t count = 0;

    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        if (word == MF_DO_LET) {
            struct mf_str name = mf_code_text(&row);

            mf_code_byte(&row);
            if (run)
                mf_arch_add_let(run, name, row);
            count++;
        } else if (word <= MF_DO_LIKE)
            count += lets_in(run, word, row);
    }
    return count;
}

size_t mf_arch_lets(struct mf_arch_run *run, const struct mf_rows_part *part)
{
    return lets_of(run, mf_part_rows(&mf_loader_rows, part));
}

void mf_arch_add_let(struct mf_arch_run *run, struct mf_str name,
                     struct mf_code expression)
{
    assert(run->let_count < run->let_room);
    run->let[run->let_count++] =
        (struct mf_arch_let){ .name = name, .expression = expression };
}

static size_t run_size(size_t let_room, size_t used_count)
{
    return sizeof(struct mf_arch_run) + let_room * sizeof(struct mf_arch_let) +
           used_count;
}

struct mf_arch_run *mf_arch_run_new(struct mf_model *model, size_t let_room,
                                    size_t used_count)
{
    size_t size = run_size(let_room, used_count);
    struct mf_arch_run *run = mf_alloc(model->env, size);

    if (!run)
        return NULL;
    memset(run, 0, size);
    run->model = model;
    run->index = &model->index;
    run->foreign = model->format->naming != MF_NAMING_GGUF;
    run->let_room = let_room;
    run->used = (uint8_t *)(run->let + let_room);
    run->used_count = used_count;
    return run;
}

void mf_arch_run_free(struct mf_arch_run *run)
{
    mf_release(run->model->env, run, run_size(run->let_room, run->used_count));
}

static void run_all(struct mf_arch_run *run, const struct mf_rows_part *part)
{
    const struct mf_rows_part *before = mf_arch_find(false, str("before"));
    const struct mf_rows_part *after = mf_arch_find(false, str("after"));

    assert(before && after);
    mf_arch_lets(run, part);
    mf_arch_lets(run, before);
    if (part->begin < part->end && !mf_arch_is_other(run)) {
        mf_arch_run_part(run, before);
        mf_arch_run_part(run, part);
        mf_arch_run_part(run, after);
    }
    if (run->status == MF_OK && run->key_count > 0)
        mf_arch_report_tensors(run);
}

enum mf_status mf_arch_check(struct mf_model *model, const char *name,
                             bool whole)
{
    const struct mf_rows_part *part = mf_arch_find(true, str(name));
    size_t lets = mf_arch_lets(NULL, part) +
                  mf_arch_lets(NULL, mf_arch_find(false, str("before")));
    struct mf_arch_run *run =
        mf_arch_run_new(model, lets, model->index.tensor_count);
    enum mf_status status;

    if (!run)
        return model->env->error.status;
    run->name = str(name);
    run->whole = whole;
    run->severity = run->foreign ? MF_WARNING : MF_ERROR;
    run_all(run, part);
    status = run->status;
    mf_arch_run_free(run);
    return status;
}
