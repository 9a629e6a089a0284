/* SPDX-License-Identifier: MIT
 *
 * fields.c - models whose numbers have other names than in GGUF
 *
 * A Hugging Face model says in config.json what a GGUF file has in its
 * metadata, an APR file in keys of its own.  Group "config" of the rows gives
 * each key of GGUF a value made of such fields.  A field that has the very name
 * of a key, without the architecture in front, comes first: files that were
 * converted from GGUF have those.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <stdio.h>

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static const struct mf_arch_text *config_text(void)
{
    const struct mf_arch_text *text = mf_arch_find(false, str("config"));

    assert(text);
    return text;
}

/* ---- names ---- */

const char *mf_arch_of_type(const struct mf_model *model, struct mf_str type)
{
    static const struct {
        const char *type, *name;
    } types[] = {
#define MODEL_TYPE(type, name) { type, name },
#include "lib/arch/model_types.def"
#undef MODEL_TYPE
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (mf_str_is(type, types[i].type))
            return types[i].name;
    return mf_arch_of(model, type);
}

bool mf_arch_is_field(struct mf_str name)
{
    struct mf_str text = str(mf_arch_text_rows(config_text()));

    while (text.size > 0) {
        struct mf_str word = { text.at, 0 };

        while (word.size < text.size && mf_arch_is_in_name(word.at[word.size]))
            word.size++;
        if (word.size > 0 && mf_str_same(word, name))
            return true;
        text.at += word.size + (word.size < text.size);
        text.size -= word.size + (word.size < text.size);
    }
    return false;
}

/* ---- fields ---- */

enum mf_status mf_arch_take_fields(struct mf_arch_run *run,
                                   const struct mf_arch_fields *fields)
{
    struct mf_arch_key *key = mf_arena_take(
        &run->arena, (fields->count ? fields->count : 1) * sizeof(*key));

    if (!key)
        return run->model->env->error.status;
    for (size_t i = 0; i < fields->count; i++) {
        const struct mf_arch_field *from = &fields->at[i];
        /* No number of the rows is below 0. */
        bool counts = from->kind == MF_ARCH_NUMBER && from->number >= 0;

        key[i] = (struct mf_arch_key){
            .name = from->name,
            .origin = from->name,
            .present = counts || from->each || from->kind == MF_ARCH_TEXT,
            .number = { counts, from->number == INT64_MIN ? 0 : from->number },
            .each = from->each,
            .count = from->count,
            .text = from->text,
            .offset = MF_NO_OFFSET,
            .fault = counts || from->each || from->kind == MF_ARCH_TEXT
                         ? MF_ARCH_SOUND
                     : from->kind == MF_ARCH_LIST ? MF_ARCH_COUNT
                                                  : MF_ARCH_TYPE,
        };
    }
    run->field = key;
    run->field_count = fields->count;
    mf_arch_lets(run, config_text());
    return MF_OK;
}

const struct mf_arch_key *mf_arch_field_of(const struct mf_arch_run *run,
                                           struct mf_str name)
{
    for (size_t i = 0; i < run->field_count; i++)
        if (mf_str_same(run->field[i].name, name))
            return &run->field[i];
    return NULL;
}

/* ---- keys ---- */

/* The expression of the row "field NAME"; of size 0 without such a row. */
static struct mf_str expression_of(struct mf_str name, bool list)
{
    struct mf_str rows = str(mf_arch_text_rows(config_text()));

    while (rows.size > 0) {
        struct mf_str row = mf_arch_take_line(&rows), word = mf_arch_word(&row);

        if (!mf_str_is(word, "field"))
            continue;
        word = mf_arch_word(&row);
        if (list != mf_str_ends(word, "[]"))
            continue;
        word.size -= list ? strlen("[]") : 0;
        if (mf_str_same(word, name))
            return row;
    }
    return (struct mf_str){ "", 0 };
}

/* The value in the block, without a trace of why it is not known. */
static struct mf_arch_number value_in(struct mf_arch_run *run,
                                      struct mf_str expression, uint64_t block)
{
    run->block = block;
    run->culprit = NULL;
    return mf_arch_number_of(run, expression);
}

/* Copies the fault of the field that made the value unknown, if one did. */
static void mark_fault(const struct mf_arch_run *run, struct mf_arch_key *key)
{
    const struct mf_arch_key *culprit = run->culprit;

    if (!culprit || (culprit->fault == MF_ARCH_SOUND && !culprit->text.at))
        return;
    key->fault = culprit->text.at ? MF_ARCH_TYPE : culprit->fault;
    key->number.value = culprit->number.value;
    key->origin = culprit->origin;
    key->count = culprit->count;
}

/* Gives the key a value for each block, or one if all are equal and it need not
 * be a list. */
static void take_list(struct mf_arch_run *run, struct mf_str expression,
                      uint64_t blocks, bool list, struct mf_arch_key *key)
{
    struct mf_arch_number first = value_in(run, expression, 0), value = first;
    int64_t *each = NULL;
    bool equal = true;

    if (first.known)
        each = mf_arena_take(&run->arena, (size_t)blocks * sizeof(*each));
    if (first.known && !each)
        run->status = run->model->env->error.status;
    for (uint64_t i = 0; each && i < blocks && value.known; i++) {
        value = value_in(run, expression, i);
        each[i] = value.value;
        equal = equal && value.value == first.value;
    }
    mark_fault(run, key);
    if (!each || !value.known) {
        /* The first blocks have a value, others do not. */
        if (each && run->culprit && run->culprit->each) {
            key->fault = MF_ARCH_COUNT;
            key->origin = run->culprit->origin;
            key->count = run->culprit->count;
        }
    } else if (equal && !list) {
        key->number = first;
    } else {
        key->each = each;
        key->count = blocks;
    }
    key->present = key->each || key->number.known;
}

/* The number of blocks that lists are made for; 0: none. */
static uint64_t list_size(struct mf_arch_run *run)
{
    struct mf_arch_number blocks = mf_arch_name_value(run, str("blocks"));

    return blocks.known && blocks.value > 0 &&
                   blocks.value <= MF_ARCH_BLOCKS_MAX
               ? (uint64_t)blocks.value
               : 0;
}

/* What is looked for first in "first(A, B)"; size 0: it is another expression.
 */
static struct mf_str first_of_list(struct mf_str expression)
{
    struct mf_str name = { expression.at + strlen("first("), 0 };

    if (!mf_str_begins(expression, "first("))
        return (struct mf_str){ "", 0 };
    while (mf_arch_is_in_name(name.at[name.size]))
        name.size++;
    return name;
}

/* Takes the text after the last space, and the space. */
static struct mf_str last_word(struct mf_str *text)
{
    size_t at = text->size;
    struct mf_str word;

    while (at > 0 && text->at[at - 1] != ' ')
        at--;
    word = (struct mf_str){ text->at + at, text->size - at };
    text->size = at > 0 ? at - 1 : 0;
    return word;
}

/* The field that a number is usually made of, for a message; size 0: unknown.
 * What is usual comes last, after all conditions. */
static struct mf_str usual_field(const struct mf_arch_run *run,
                                 struct mf_str expression)
{
    struct mf_str usual = first_of_list(expression);

    while (expression.size > 0 && usual.size == 0) {
        struct mf_str word = last_word(&expression);

        for (size_t i = 0; i < run->let_count && usual.size == 0; i++)
            if (mf_str_same(run->let[i].name, word))
                usual = usual_field(run, run->let[i].expression);
    }
    return usual;
}

static void take_field(struct mf_arch_key *key, const struct mf_arch_key *field,
                       bool array)
{
    struct mf_str name = key->name;

    if (field->each && !array) { /* one number is needed */
        key->fault = MF_ARCH_TYPE;
        key->origin = field->origin;
        return;
    }
    *key = *field;
    key->name = name;
}

bool mf_arch_read_field(struct mf_arch_run *run, struct mf_arch_key *key,
                        bool array)
{
    const struct mf_arch_key *field = mf_arch_field_of(run, key->name);
    struct mf_str expression = expression_of(key->name, false);
    struct mf_str list = expression_of(key->name, true);
    const struct mf_arch_key *culprit = run->culprit;
    uint64_t block = run->block;

    if (field) {
        take_field(key, field, array);
        return true;
    }
    if (array && list.size > 0 && list_size(run) > 0)
        take_list(run, list, list_size(run), true, key);
    if (!key->present && key->fault == MF_ARCH_SOUND && expression.size > 0) {
        if (array && list_size(run) > 0)
            take_list(run, expression, list_size(run), false, key);
        else {
            key->number = value_in(run, expression, 0);
            key->present = key->number.known;
            mark_fault(run, key);
        }
    }
    if (key->origin.size == 0)
        key->origin = usual_field(run, expression);
    if (key->origin.size == 0)
        key->origin = key->name;
    run->block = block;
    run->culprit = culprit;
    return key->present || key->fault != MF_ARCH_SOUND;
}

bool mf_arch_field_value(struct mf_arch_run *run, const char *name,
                         int64_t *out, bool *list, char *reason, size_t room)
{
    struct mf_arch_key key = { .name = str(name), .offset = MF_NO_OFFSET };

    *reason = '\0';
    run->block = 0;
    mf_arch_read_field(run, &key, true);
    if (key.fault != MF_ARCH_SOUND)
        mf_arch_explain_key(run, &key, false, reason, room);
    if (!key.present)
        return false;
    *list = key.each != NULL;
    *out = key.number.value;
    for (uint64_t i = 0; key.each && i < key.count; i++)
        *out = i == 0 || key.each[i] > *out ? key.each[i] : *out;
    return true;
}
