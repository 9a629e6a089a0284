/* SPDX-License-Identifier: MIT
 *
 * family_tensor.c - rows about tensors of Hugging Face's models
 *
 * docs/rows.md explains them.
 */
#include <string.h>

#include "lib/rows/maker/family.h"

const char *const family_tensor_words[] = { "skip",   "rename",    "replace",
                                            "tensor", "early",     "extra",
                                            "type",   "gguf_type", NULL };

struct check {
    const struct row *row;
    family_see *see;
    void *user;
    struct text pattern;
};

/* ---- patterns and new names ---- */

static size_t count(struct text text, char sign)
{
    size_t found = 0, depth = 0;

    for (size_t i = 0; i < text.size; i++) {
        depth += text.at[i] == '(';
        found += text.at[i] == sign && (depth == 0 || sign == '(');
        depth -= text.at[i] == ')' && depth > 0;
    }
    return found;
}

static void check_pattern(const struct check *check, struct text pattern)
{
    bool open = false;

    if (pattern.size == 0)
        row_error(check->row, "a pattern is missing");
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.at[i] == (open ? '{' : '}'))
            row_error(check->row, "'%c' is not expected in '%.*s'",
                      pattern.at[i], (int)pattern.size, pattern.at);
        if (pattern.at[i] == '{' || pattern.at[i] == '}')
            open = pattern.at[i] == '{';
    }
    if (open)
        row_error(check->row, "'}' is missing in '%.*s'", (int)pattern.size,
                  pattern.at);
}

/* In a new name "*", "#" and "$" are what the pattern's "*", "#" and "{}"
 * were.  more: a "#" that a step adds. */
static void check_template(const struct check *check, struct text name,
                           size_t more)
{
    static const char signs[] = "*#$", of[] = "*#{";

    for (size_t i = 0; i < 3; i++)
        if (count(name, signs[i]) >
            count(check->pattern, of[i]) + (i == 1 ? more : 0))
            row_error(check->row, "'%c' in '%.*s' is nothing in '%.*s'",
                      signs[i], (int)name.size, name.at,
                      (int)check->pattern.size, check->pattern.at);
    for (size_t i = 0; i < name.size; i++) {
        struct text inner = { name.at + i + 1, name.size - i - 1 };

        if (name.at[i] != '(')
            continue;
        check->see(check->user, check->row, &inner);
        if (!text_begins(inner, ")"))
            row_error(check->row, "')' is missing in '%.*s'", (int)name.size,
                      name.at);
        i = (size_t)(inner.at - name.at);
    }
}

/* ---- where ---- */

static void check_except(const struct check *check, struct text patterns)
{
    if (patterns.size == 0)
        row_error(check->row, "a pattern follows 'except'");
    while (patterns.size > 0)
        check_pattern(check, take_word(&patterns));
}

/* Each at most once, in this order: so they are written. */
static void check_where(const struct check *check, struct text text)
{
    static const char *const words[] = { "from", "below", "at", "except",
                                         NULL };
    size_t next = 0;

    while (text.size > 0) {
        struct text word = take_word(&text);
        size_t at = list_find(words, word);

        if (!words[at]) {
            row_error(check->row,
                      "'from', 'below', 'at' or 'except' expected, "
                      "not '%.*s'",
                      (int)word.size, word.at);
            return;
        }
        if (at < next)
            row_error(check->row, "'%s' comes before '%s', and once", words[at],
                      words[next - 1]);
        next = at + 1;
        if (!words[next]) {
            check_except(check, text);
            return;
        }
        check->see(check->user, check->row, &text);
        text = trimmed(text);
    }
}

/* ---- steps ---- */

static void unknown_step(const struct check *check, struct text word)
{
    struct words known = { .count = 0 };

    for (size_t i = 0; family_steps[i].word; i++)
        words_add(&known, text_of(family_steps[i].word));
    row_unknown(check->row, word, "step", &known);
    words_free(&known);
}

static size_t check_numbers(const struct check *check, struct text list)
{
    size_t found = 0;

    while (list.size > 0) {
        size_t before = list.size;

        check->see(check->user, check->row, &list);
        list = trimmed(list);
        found++;
        if (text_begins(list, ","))
            list = trimmed((struct text){ list.at + 1, list.size - 1 });
        else if (list.size > 0) {
            row_error(check->row, "a comma expected before '%.*s'",
                      (int)list.size, list.at);
            break;
        }
        if (list.size == before)
            break;
    }
    return found;
}

static void check_step(const struct check *check, struct family_list *list,
                       struct text text)
{
    struct family_step_text parts = family_split_step(text);
    const struct family_step *step = parts.step;
    size_t found, names = 0;
    int errors = row_errors;

    if (!step) {
        unknown_step(check, parts.word);
        return;
    }
    found = check_numbers(check, parts.numbers);
    for (; parts.names.size > 0; names++)
        check_template(check, family_take_template(&parts.names),
                       text_is(parts.word, "unstack") ? 1 : 0);
    if (found < step->least || found > step->most)
        row_error(check->row,
                  "'%s' has %zu numbers, at least %zu and at most "
                  "%zu are possible",
                  step->word, found, step->least, step->most);
    if (step->names == 2 ? names == 0 : names != (size_t)step->names)
        row_error(check->row, "'%s' has %zu names, %s are possible", step->word,
                  names,
                  step->names == 0   ? "none"
                  : step->names == 1 ? "exactly 1"
                                     : "1 or more");
    else if (names > MF_STEP_NAMES_MAX)
        row_error(check->row, "'%s' has %zu names, at most %d are possible",
                  step->word, names, MF_STEP_NAMES_MAX);
    if (row_errors == errors)
        family_list_step(list, &parts, names);
}

static void check_steps(const struct check *check, struct text text, bool extra)
{
    struct family_list list = {
        .row = check->row, .pattern = check->pattern, .extra = extra, .count = 1
    };
    int errors = row_errors;

    if (text.size == 0)
        row_error(check->row, "a step is missing after ':'");
    while (text.size > 0 && row_errors == errors)
        check_step(check, &list, trimmed(take_until(&text, ';')));
    if (row_errors == errors)
        family_list_end(&list);
}

/* ---- rows ---- */

static void check_patterns(const struct check *check, struct text rest)
{
    if (rest.size == 0)
        row_error(check->row, "a pattern is missing");
    while (rest.size > 0 && !family_is_range(rest))
        check_pattern(check, take_word(&rest));
    check_where(check, rest);
}

static void check_tensor(struct check *check, struct text rest)
{
    struct text head = take_until(&rest, ':');

    check->pattern = take_word(&head);
    check_pattern(check, check->pattern);
    check_where(check, trimmed(head));
    check_steps(check, trimmed(rest), false);
}

/* "NAME : STEP": the tensor is made once, wherever the row is. */
static void check_extra(struct check *check, struct text rest)
{
    struct text head = take_until(&rest, ':');
    struct text name = check->pattern = take_word(&head);

    if (name.size == 0)
        row_error(check->row, "the name of a tensor is missing");
    for (size_t i = 0; i < name.size; i++)
        if (strchr("*#{}$(", name.at[i])) {
            row_error(check->row, "a name expected, not the pattern '%.*s'",
                      (int)name.size, name.at);
            break;
        }
    if (head.size > 0)
        row_error(check->row, "nothing follows the name of a tensor: '%.*s'",
                  (int)head.size, head.at);
    check_steps(check, trimmed(rest), true);
}

static void check_rename(struct check *check, struct text rest, bool replace)
{
    check->pattern = take_word(&rest);
    if (replace && check->pattern.size == 0)
        row_error(check->row, "the text that is replaced is missing");
    if (!replace && (rest.size == 0 || family_is_range(rest)))
        row_error(check->row, "the new name is missing");
    else if (!replace) {
        check_pattern(check, check->pattern);
        check_template(check, family_take_template(&rest), 0);
    } else if (!family_is_range(rest)) {
        take_word(&rest);
    }
    check_where(check, trimmed(rest));
}

static void check_type(const struct check *check, struct text rest)
{
    struct text type = take_word(&rest);

    if (!list_has(family_tensor_types, type))
        row_unknown_of(check->row, type, "tensor type", family_tensor_types);
    if (rest.size == 0)
        row_error(check->row, "a pattern is missing");
    for (; rest.size > 0; check_pattern(check, take_word(&rest)))
        if (family_is_range(rest))
            row_error(check->row, "rows about types have no range: '%.*s'",
                      (int)rest.size, rest.at);
}

bool family_tensor_row(const struct row *row, struct text word,
                       struct text rest, family_see *see, void *user)
{
    struct check check = { .row = row, .see = see, .user = user };

    if (text_is(word, "skip"))
        check_patterns(&check, rest);
    else if (text_is(word, "rename") || text_is(word, "replace"))
        check_rename(&check, rest, text_is(word, "replace"));
    else if (text_is(word, "tensor") || text_is(word, "early"))
        check_tensor(&check, rest);
    else if (text_is(word, "extra"))
        check_extra(&check, rest);
    else if (text_is(word, "type") || text_is(word, "gguf_type"))
        check_type(&check, rest);
    else
        return false;
    return true;
}
