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

struct mf_str mf_arch_word(struct mf_str *text)
{
    struct mf_str word = { text->at, 0 };
    size_t skip;

    while (word.size < text->size && word.at[word.size] != ' ')
        word.size++;
    skip = word.size + (word.size < text->size);
    text->at += skip;
    text->size -= skip;
    return word;
}

struct mf_str mf_arch_take_line(struct mf_str *rows)
{
    struct mf_str line = { rows->at, 0 };

    while (line.size < rows->size && line.at[line.size] != '\n')
        line.size++;
    rows->at += line.size + 1;
    rows->size -= line.size + 1;
    return line;
}

const struct mf_arch_text *mf_arch_find(bool is_arch, struct mf_str name)
{
    for (size_t i = 0; i < mf_arch_text_count; i++)
        if (mf_arch_text_is_arch(&mf_arch_texts[i]) == is_arch &&
            mf_str_is(name, mf_arch_text_name(&mf_arch_texts[i])))
            return &mf_arch_texts[i];
    return NULL;
}

const char *mf_arch_name_at(size_t index)
{
    for (size_t i = 0; i < mf_arch_text_count; i++)
        if (mf_arch_text_is_arch(&mf_arch_texts[i]) && index-- == 0)
            return mf_arch_text_name(&mf_arch_texts[i]);
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
    const struct mf_arch_text *text;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (model->format->naming != MF_NAMING_GGUF &&
            mf_str_is(name, names[i].other))
            name = str(names[i].gguf);
    text = mf_arch_find(true, name);
    return text ? mf_arch_text_name(text) : NULL;
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

enum closing { CLOSED_END, CLOSED_ELSE, CLOSED_TEXT };

static enum closing run_rows(struct mf_arch_run *run, struct mf_str *rows,
                             bool live);

void mf_arch_run_text(struct mf_arch_run *run, const struct mf_arch_text *text)
{
    struct mf_str rows = str(mf_arch_text_rows(text));
    enum closing closing = run_rows(run, &rows, true);

    assert(closing == CLOSED_TEXT);
    (void)closing;
}

static void run_group(struct mf_arch_run *run, struct mf_str row, bool optional)
{
    const struct mf_arch_text *text = mf_arch_find(false, mf_arch_word(&row));
    struct mf_arch_frame frame = { .up = run->frame, .arguments = row };

    assert(text);
    frame.parameters = str(mf_arch_text_parameters(text));
    frame.optional = optional || (run->frame && run->frame->optional);
    run->frame = &frame;
    mf_arch_run_text(run, text);
    run->frame = frame.up;
}

static void run_like(struct mf_arch_run *run, struct mf_str row)
{
    const struct mf_arch_text *text = mf_arch_find(true, row);

    assert(text);
    mf_arch_run_text(run, text);
}

static void run_need(struct mf_arch_run *run, struct mf_str row)
{
    struct mf_arch_number holds = mf_arch_number_of(run, row);

    if (!holds.known || holds.value != 0)
        return;
    mf_arch_note_need(run, row);
    run->stopped = true;
}

static void run_if(struct mf_arch_run *run, struct mf_str row,
                   struct mf_str *rows, bool live)
{
    struct mf_arch_number which = { false, 0 };

    if (live)
        which = mf_arch_number_of(run, row);
    if (live && !which.known)
        run->unsure = true;
    if (run_rows(run, rows, which.known && which.value != 0) == CLOSED_ELSE)
        run_rows(run, rows, which.known && which.value == 0);
}

static void run_each(struct mf_arch_run *run, struct mf_str row,
                     struct mf_str *rows, bool live)
{
    uint64_t block = run->block;

    /* They only look at tensors. */
    if (live && (!run->quiet || run->take)) {
        struct mf_arch_number from = mf_arch_take_number(run, &row), to;

        mf_arch_word(&row); /* ".." */
        to = mf_arch_number_of(run, row);
        if (!from.known || !to.known)
            run->unsure = true;
        else
            for (int64_t i = from.value;
                 i < to.value && i < MF_ARCH_BLOCKS_MAX && !run->stopped; i++) {
                struct mf_str again = *rows;

                run->block = (uint64_t)i;
                run_rows(run, &again, true);
            }
    }
    run->block = block;
    run_rows(run, rows, false);
}

static void run_row(struct mf_arch_run *run, struct mf_str word,
                    struct mf_str row)
{
    bool optional = run->frame && run->frame->optional;

    if (run->quiet && ((mf_str_begins(word, "tensor") && !run->take) ||
                       mf_str_is(word, "need")))
        return;
    if (mf_str_is(word, "tensor"))
        mf_arch_check_tensor(run, row, optional);
    else if (mf_str_is(word, "tensor?"))
        mf_arch_check_tensor(run, row, true);
    else if (mf_str_is(word, "key"))
        mf_arch_read_key(run, row);
    else if (mf_str_is(word, "need"))
        run_need(run, row);
    else if (mf_str_is(word, "use"))
        run_group(run, row, false);
    else if (mf_str_is(word, "use?"))
        run_group(run, row, true);
    else if (mf_str_is(word, "like"))
        run_like(run, row);
    else
        assert(mf_str_is(word, "let"));
}

/* Runs rows up to the "end" or "else" that closes them; live: false only passes
 * over them. */
static enum closing run_rows(struct mf_arch_run *run, struct mf_str *rows,
                             bool live)
{
    while (rows->size > 0) {
        struct mf_str row = mf_arch_take_line(rows), word = mf_arch_word(&row);
        bool now = live && !run->stopped && run->status == MF_OK;

        if (mf_str_is(word, "end"))
            return CLOSED_END;
        if (mf_str_is(word, "else"))
            return CLOSED_ELSE;
        if (mf_str_is(word, "if"))
            run_if(run, row, rows, now);
        else if (mf_str_is(word, "each"))
            run_each(run, row, rows, now);
        else if (now)
            run_row(run, word, row);
    }
    return CLOSED_TEXT;
}

/* ---- a whole architecture ---- */

size_t mf_arch_lets(struct mf_arch_run *run, const struct mf_arch_text *text)
{
    struct mf_str rows = str(mf_arch_text_rows(text));
    size_t count = 0;

    while (rows.size > 0) {
        struct mf_str row = mf_arch_take_line(&rows), word = mf_arch_word(&row);

        if (mf_str_is(word, "like"))
            count += mf_arch_lets(run, mf_arch_find(true, row));
        else if (mf_str_is(word, "use") || mf_str_is(word, "use?"))
            count += mf_arch_lets(run, mf_arch_find(false, mf_arch_word(&row)));
        else if (mf_str_is(word, "let")) {
            struct mf_str name = mf_arch_word(&row);

            if (run)
                mf_arch_add_let(run, name, row);
            count++;
        }
    }
    return count;
}

void mf_arch_add_let(struct mf_arch_run *run, struct mf_str name,
                     struct mf_str expression)
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

static void run_all(struct mf_arch_run *run, const struct mf_arch_text *text)
{
    const struct mf_arch_text *before = mf_arch_find(false, str("before"));
    const struct mf_arch_text *after = mf_arch_find(false, str("after"));

    assert(before && after);
    mf_arch_lets(run, text);
    mf_arch_lets(run, before);
    if (*mf_arch_text_rows(text) && !mf_arch_is_other(run)) {
        mf_arch_run_text(run, before);
        mf_arch_run_text(run, text);
        mf_arch_run_text(run, after);
    }
    if (run->status == MF_OK && run->key_count > 0)
        mf_arch_report_tensors(run);
}

enum mf_status mf_arch_check(struct mf_model *model, const char *name,
                             bool whole)
{
    const struct mf_arch_text *text = mf_arch_find(true, str(name));
    size_t lets = mf_arch_lets(NULL, text) +
                  mf_arch_lets(NULL, mf_arch_find(false, str("before")));
    struct mf_arch_run *run =
        mf_arch_run_new(model, lets, model->index.tensor_count);
    enum mf_status status;

    if (!run)
        return model->env->error.status;
    run->name = str(name);
    run->whole = whole;
    run->severity = run->foreign ? MF_WARNING : MF_ERROR;
    run_all(run, text);
    status = run->status;
    mf_arch_run_free(run);
    return status;
}
