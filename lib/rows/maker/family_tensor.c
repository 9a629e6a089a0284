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

static const struct step {
    const char *word;
    size_t least, most;
    int names; /* 0: none, 1: one, 2: one or more */
} steps[] = {
#define STEP(NAME, word, least, most, names, whole)                            \
    { word, least, most, names },
#include "lib/hf/hub/tensor_steps.def"
#undef STEP
};
#define STEPS (sizeof(steps) / sizeof(*steps))

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

/* The next name; brackets may have spaces in them. */
static struct text take_template(struct text *text)
{
    struct text name;

    *text = trimmed(*text);
    name = take_until(text, ' ');
    *text = trimmed(*text);
    return name;
}

/* ---- where ---- */

static bool is_where(struct text text)
{
    struct text word = take_word(&text);

    return text_is(word, "from") || text_is(word, "below") ||
           text_is(word, "at") || text_is(word, "except");
}

static void check_where(const struct check *check, struct text text)
{
    while (text.size > 0) {
        struct text word = take_word(&text);

        if (text_is(word, "except")) {
            if (text.size == 0)
                row_error(check->row, "a pattern follows 'except'");
            while (text.size > 0)
                check_pattern(check, take_word(&text));
            return;
        }
        if (!text_is(word, "from") && !text_is(word, "below") &&
            !text_is(word, "at")) {
            row_error(check->row,
                      "'from', 'below', 'at' or 'except' expected, "
                      "not '%.*s'",
                      (int)word.size, word.at);
            return;
        }
        check->see(check->user, check->row, &text);
        text = trimmed(text);
    }
}

/* ---- steps ---- */

static const struct step *find_step(const struct check *check, struct text word)
{
    struct words known = { .count = 0 };

    for (size_t i = 0; i < STEPS; i++)
        if (text_is(word, steps[i].word))
            return &steps[i];
    for (size_t i = 0; i < STEPS; i++)
        words_add(&known, text_of(steps[i].word));
    row_unknown(check->row, word, "step", &known);
    words_free(&known);
    return NULL;
}

/* "as" as a word of its own. */
static struct text take_numbers(struct text *text)
{
    struct text numbers = { text->at, 0 };

    while (numbers.size < text->size) {
        struct text rest = { text->at + numbers.size,
                             text->size - numbers.size };

        if (text_begins(rest, "as ") &&
            (numbers.size == 0 || rest.at[-1] == ' '))
            break;
        numbers.size++;
    }
    text->at += numbers.size;
    text->size -= numbers.size;
    return trimmed(numbers);
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

static void check_step(const struct check *check, struct text text)
{
    struct text word = take_word(&text), numbers = { text.at, 0 };
    const struct step *step;
    size_t found, names = 0;

    if (word.size > 2 && word.at[word.size - 2] == '@')
        word.size -= 2;
    step = find_step(check, word);
    if (!step)
        return;
    if (!text_is(word, "as")) {
        numbers = take_numbers(&text);
        take_word(&text); /* "as" */
    }
    found = check_numbers(check, numbers);
    for (text = trimmed(text); text.size > 0; names++)
        check_template(check, take_template(&text),
                       text_is(word, "unstack") ? 1 : 0);
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
}

static void check_steps(const struct check *check, struct text text)
{
    if (text.size == 0)
        row_error(check->row, "a step is missing after ':'");
    while (text.size > 0)
        check_step(check, trimmed(take_until(&text, ';')));
}

/* ---- rows ---- */

static void check_patterns(const struct check *check, struct text rest)
{
    if (rest.size == 0)
        row_error(check->row, "a pattern is missing");
    while (rest.size > 0 && !is_where(rest))
        check_pattern(check, take_word(&rest));
    check_where(check, rest);
}

static void check_tensor(struct check *check, struct text rest)
{
    struct text head = take_until(&rest, ':');

    check->pattern = take_word(&head);
    check_pattern(check, check->pattern);
    check_where(check, trimmed(head));
    check_steps(check, trimmed(rest));
}

static void check_rename(struct check *check, struct text rest, bool replace)
{
    check->pattern = take_word(&rest);
    if (!replace) {
        check_pattern(check, check->pattern);
        check_template(check, take_template(&rest), 0);
    } else if (!is_where(rest)) {
        take_word(&rest);
    }
    check_where(check, trimmed(rest));
}

static void check_type(const struct check *check, struct text rest)
{
    struct text type = take_word(&rest);

    if (!text_is(type, "f32") && !text_is(type, "f16") &&
        !text_is(type, "half") && !text_is(type, "file"))
        row_error(check->row, "'%.*s' is no type: f32, f16, half or file",
                  (int)type.size, type.at);
    if (rest.size == 0)
        row_error(check->row, "a pattern is missing");
    while (rest.size > 0)
        check_pattern(check, take_word(&rest));
}

bool family_tensor_row(const struct row *row, struct text word,
                       struct text rest, family_see *see, void *user)
{
    struct check check = { .row = row, .see = see, .user = user };

    if (text_is(word, "skip"))
        check_patterns(&check, rest);
    else if (text_is(word, "rename") || text_is(word, "replace"))
        check_rename(&check, rest, text_is(word, "replace"));
    else if (text_is(word, "tensor") || text_is(word, "early") ||
             text_is(word, "extra"))
        check_tensor(&check, rest);
    else if (text_is(word, "type") || text_is(word, "gguf_type"))
        check_type(&check, rest);
    else
        return false;
    return true;
}
