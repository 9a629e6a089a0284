/* SPDX-License-Identifier: MIT
 *
 * family_list.c - the list of tensors that the steps of a row work on
 *
 * It begins with the one that the row's pattern found.  Steps cut tensors into
 * several, join them, and give them on; how many there are then is known unless
 * a number of the row is computed.
 */
#include <string.h>

#include "lib/rows/maker/family.h"

/* ---- patterns ---- */

static size_t count(struct text text, char sign)
{
    size_t found = 0;

    for (size_t i = 0; i < text.size; i++)
        found += text.at[i] == sign;
    return found;
}

/* The texts of the first "{}"; 0 without one. */
static size_t choices(struct text pattern)
{
    const char *open = memchr(pattern.at, '{', pattern.size);
    const char *end = pattern.at + pattern.size;
    size_t found = 1;

    if (!open)
        return 0;
    for (; open < end && *open != '}'; open++)
        found += *open == ',';
    return found;
}

static void check_pattern(const struct family_list *list, const char *word)
{
    struct text pattern = list->pattern;
    size_t numbers = count(pattern, '#'), texts = choices(pattern);
    const char *wanted = NULL;

    if (strcmp(word, "renumber") == 0 && numbers == 0)
        wanted = "a '#'";
    else if (strcmp(word, "stack") == 0 &&
             (numbers < 1 || numbers > 2 || count(pattern, '*') > 0))
        wanted = "one '#' or two, and no '*'";
    else if (strcmp(word, "meet") == 0 && texts < 2)
        wanted = "'{}' of several texts";
    if (wanted)
        row_error(list->row, "'%s' expects %s in '%.*s'", word, wanted,
                  (int)pattern.size, pattern.at);
    if (texts > MF_TENSOR_LIST &&
        (strcmp(word, "meet") == 0 || strcmp(word, "stack") == 0))
        row_error(list->row, "'%s' of %zu texts, at most %d are possible", word,
                  texts, MF_TENSOR_LIST);
}

/* ---- numbers ---- */

static struct text number_at(struct text numbers, size_t at)
{
    struct text number = take_until(&numbers, ',');

    while (at-- > 0)
        number = take_until(&numbers, ',');
    return number;
}

/* Numbers that steps rely on are digits. */
static size_t small_number(const struct family_list *list,
                           const struct family_step_text *step, size_t at)
{
    struct text text = number_at(step->numbers, at);
    size_t number = family_small_number(text);

    if (number > 0 && number <= MF_TENSOR_LIST)
        return number;
    row_error(list->row, "'%s' expects a number from 1 to %d, not '%.*s'",
              step->step->word, MF_TENSOR_LIST, (int)text.size, text.at);
    return 0;
}

/* How many tensors become of one; 0: that was wrong. */
static size_t parts_of(const struct family_list *list,
                       const struct family_step_text *step)
{
    const char *word = step->step->word;
    size_t commas = 0;

    if (strcmp(word, "flat") == 0)
        small_number(list, step, 0); /* of dimensions, as many at most */
    if (strcmp(word, "unblock") == 0)
        return 2;
    if (strcmp(word, "parts") == 0 || strcmp(word, "deal") == 0)
        return small_number(list, step, 1);
    if (strcmp(word, "split") != 0)
        return 1;
    for (struct text rest = step->numbers; rest.size > 0; commas++)
        take_until(&rest, ',');
    return commas - 1;
}

/* ---- steps ---- */

static void each(struct family_list *list, const struct family_step_text *step)
{
    size_t parts = parts_of(list, step);
    size_t only = family_small_number(step->only);

    if (list->count == 0 || parts == 0) {
        list->count = 0;
        return;
    }
    if (step->one && only > list->count)
        row_error(list->row, "there is no tensor %zu: '%s' works on %zu", only,
                  step->step->word, list->count);
    list->count = step->one ? list->count - 1 + parts : list->count * parts;
    if (list->count > MF_TENSOR_LIST) {
        row_error(list->row, "%zu tensors at once, at most %d are possible",
                  list->count, MF_TENSOR_LIST);
        list->count = 0;
    }
}

static void join(struct family_list *list, const struct family_step_text *step)
{
    size_t first = list->count;

    if (count(step->numbers, ',') > 0)
        first = small_number(list, step, 1);
    if (first > list->count && list->count > 0)
        row_error(list->row, "'join' of %zu tensors, there are %zu", first,
                  list->count);
    list->count =
        first == 0 || first > list->count ? 0 : list->count - first + 1;
}

static void check_only(const struct family_list *list,
                       const struct family_step_text *step)
{
    size_t only = family_small_number(step->only);

    if (step->one && step->step->on != STEP_EACH)
        row_error(list->row, "'%s' works on all tensors: '@%.*s' does nothing",
                  step->step->word, (int)step->only.size, step->only.at);
    else if (step->one && (only == 0 || only > MF_TENSOR_LIST))
        row_error(list->row,
                  "a number from 1 to %d expected after '@', not '%.*s'",
                  MF_TENSOR_LIST, (int)step->only.size, step->only.at);
}

/* A tensor for each name, one alone, or any. */
static void check_count(const struct family_list *list,
                        const struct family_step *step, size_t names)
{
    bool one = step->on == STEP_ONE || step->on == STEP_LAST_ONE;

    if (list->count == 0 || list->last)
        return;
    if (one && list->count > 1)
        row_error(list->row, "'%s' works on one tensor, there are %zu",
                  step->word, list->count);
    if (step->names == 2 && names > 0 && names != list->count)
        row_error(list->row, "'%s' has %zu names for %zu tensors", step->word,
                  names, list->count);
}

static void check_place(const struct family_list *list,
                        const struct family_step *step)
{
    if (list->last)
        row_error(list->row, "no step follows '%s': '%s'", list->last,
                  step->word);
    else if (list->extra && step->on != STEP_MADE)
        row_error(list->row,
                  "'%s' is not a step of 'extra', which makes a "
                  "tensor",
                  step->word);
    else if (!list->extra && step->on == STEP_MADE)
        row_error(list->row, "'%s' is a step of 'extra' only", step->word);
}

void family_list_step(struct family_list *list,
                      const struct family_step_text *step, size_t names)
{
    const struct family_step *what = step->step;

    check_place(list, what);
    check_only(list, step);
    check_pattern(list, what->word);
    check_count(list, what, names);
    if (what->on == STEP_EACH)
        each(list, step);
    else if (strcmp(what->word, "join") == 0)
        join(list, step);
    else if (strcmp(what->word, "meet") == 0)
        list->count = choices(list->pattern);
    else if (what->on >= STEP_LAST_ALL)
        list->last = what->word;
}

void family_list_end(const struct family_list *list)
{
    if (!list->last && list->count > 1)
        row_error(list->row, "%zu tensors are left, one is possible",
                  list->count);
}
