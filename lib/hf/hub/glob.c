/* SPDX-License-Identifier: MIT
 *
 * glob.c - patterns of names, and new names made of them
 */
#include "lib/hf/hub/glob.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- fitting ---- */

/* The end of the "{}" that begins at `at`: its last byte. */
static size_t end_of_choice(struct mf_str pattern, size_t at)
{
    while (at + 1 < pattern.size && pattern.at[at] != '}')
        at++;
    return at;
}

/* Takes the next text between "," and "}", from *at on. */
static bool next_choice(struct mf_str pattern, size_t *at, struct mf_str *out)
{
    const char *start = pattern.at + *at, *end = pattern.at + pattern.size;
    const char *here = start;

    if (start >= end || start[-1] == '}')
        return false;
    while (here < end && *here != ',' && *here != '}')
        here++;
    *out = (struct mf_str){ start, (size_t)(here - start) };
    *at += out->size + 1;
    return true;
}

static bool begins(struct mf_str text, struct mf_str head)
{
    return text.size >= head.size &&
           (head.size == 0 || memcmp(text.at, head.at, head.size) == 0);
}

/* A place in the pattern and in the name. */
struct place {
    size_t pattern, name;
    struct mf_glob_match match;
};

static struct mf_str rest_of(struct mf_str name, size_t at)
{
    return (struct mf_str){ name.at + at, name.size - at };
}

static bool take_choice(struct mf_str pattern, struct mf_str name,
                        struct place *place)
{
    struct mf_glob_match *match = &place->match;
    size_t at = place->pattern + 1, number = 0;
    struct mf_str text;

    for (; next_choice(pattern, &at, &text); number++) {
        if (!begins(rest_of(name, place->name), text))
            continue;
        if (match->choice_count < MF_GLOB_PARTS) {
            match->choice[match->choice_count] =
                (struct mf_str){ name.at + place->name, text.size };
            match->chosen[match->choice_count++] = number;
        }
        place->pattern = end_of_choice(pattern, place->pattern) + 1;
        place->name += text.size;
        return true;
    }
    return false;
}

static bool take_number(struct mf_str name, struct place *place)
{
    struct mf_glob_match *match = &place->match;
    size_t end = place->name;

    while (end < name.size && is_digit(name.at[end]))
        end++;
    if (end == place->name)
        return false;
    if (match->digits_count < MF_GLOB_PARTS)
        match->digits[match->digits_count++] =
            (struct mf_str){ name.at + place->name, end - place->name };
    place->pattern++;
    place->name = end;
    return true;
}

/* Takes the next part of the pattern, which is not "*". */
static bool take(struct mf_str pattern, struct mf_str name, struct place *place)
{
    char c;

    if (place->pattern >= pattern.size)
        return false;
    c = pattern.at[place->pattern];
    if (c == '#')
        return take_number(name, place);
    if (c == '{')
        return take_choice(pattern, name, place);
    if (place->name >= name.size || name.at[place->name] != c)
        return false;
    place->pattern++;
    place->name++;
    return true;
}

/* After a "*" that must take more: the next place where the text that follows
 * it is. */
static size_t next_place(struct mf_str pattern, struct mf_str name,
                         const struct place *star)
{
    struct mf_str text = { pattern.at + star->pattern, 0 };
    size_t at = star->name + 1;

    while (star->pattern + text.size < pattern.size &&
           !strchr("*#{", text.at[text.size]))
        text.size++;
    while (text.size > 0 && at < name.size) {
        const char *found = memchr(name.at + at, *text.at, name.size - at);

        at = found ? (size_t)(found - name.at) : name.size;
        if (begins(rest_of(name, at), text))
            return at;
        at += at < name.size;
    }
    return at;
}

/* The last "*" so far takes as much as it needs; what came before stays. */
bool mf_glob_fits(struct mf_str pattern, struct mf_str name,
                  struct mf_glob_match *match)
{
    struct place place = { 0 }, star = { 0 };
    size_t from = 0;
    bool starred = false;

    if (pattern.size > 0 && !strchr("*#{", pattern.at[0]) &&
        (name.size == 0 || name.at[0] != pattern.at[0]))
        return false;
    while (place.pattern < pattern.size || place.name < name.size) {
        if (place.pattern < pattern.size && pattern.at[place.pattern] == '*') {
            from = place.name;
            place.pattern++;
            if (place.match.text_count < MF_GLOB_PARTS)
                place.match.text[place.match.text_count++] =
                    (struct mf_str){ name.at + from, 0 };
            star = place;
            starred = true;
        } else if (!take(pattern, name, &place)) {
            if (!starred || star.name >= name.size)
                return false;
            star.name = next_place(pattern, name, &star);
            if (star.match.text_count > 0)
                star.match.text[star.match.text_count - 1].size =
                    star.name - from;
            place = star;
        }
    }
    *match = place.match;
    return true;
}

static size_t find_choice(struct mf_str pattern, size_t nth)
{
    for (size_t i = 0; i < pattern.size; i++)
        if (pattern.at[i] == '{' && nth-- == 0)
            return i + 1;
    return pattern.size;
}

size_t mf_glob_choices(struct mf_str pattern, size_t nth)
{
    size_t at = find_choice(pattern, nth), count = 0;
    struct mf_str text;

    while (next_choice(pattern, &at, &text))
        count++;
    return count;
}

struct mf_str mf_glob_choice(struct mf_str pattern, size_t nth, size_t choice)
{
    size_t at = find_choice(pattern, nth);
    struct mf_str text = { pattern.at, 0 };

    for (size_t i = 0; i <= choice; i++)
        if (!next_choice(pattern, &at, &text))
            return (struct mf_str){ pattern.at, 0 };
    return text;
}

static bool holds(struct mf_str text, struct mf_str part)
{
    if (part.size == 0)
        return false;
    for (size_t i = 0; i + part.size <= text.size; i++)
        if (text.at[i] == part.at[0] &&
            memcmp(text.at + i, part.at, part.size) == 0)
            return true;
    return false;
}

/* ---- new names ---- */

bool mf_tensor_name_add(struct mf_tensor_name *name, struct mf_str text)
{
    if (text.size > MF_TENSOR_NAME_MAX - name->size)
        return false;
    if (text.size > 0)
        memcpy(name->at + name->size, text.at, text.size);
    name->size += text.size;
    name->at[name->size] = '\0';
    return true;
}

bool mf_glob_make(struct mf_str pattern, const struct mf_glob_match *match,
                  struct mf_tensor_name *out)
{
    size_t texts = 0, numbers = 0, choices = 0;
    bool fits = true;

    *out = (struct mf_tensor_name){ .size = 0 };
    for (size_t i = 0; fits && i < pattern.size; i++) {
        char c = pattern.at[i];

        if (c == '*' && texts < match->text_count)
            fits = mf_tensor_name_add(out, match->text[texts++]);
        else if (c == '#' && numbers < match->digits_count)
            fits = mf_tensor_name_add(out, match->digits[numbers++]);
        else if (c == '$' && choices < match->choice_count)
            fits = mf_tensor_name_add(out, match->choice[choices++]);
        else
            fits =
                mf_tensor_name_add(out, (struct mf_str){ &pattern.at[i], 1 });
    }
    return fits;
}

bool mf_hub_name_replace(struct mf_tensor_name *name, struct mf_str old,
                         struct mf_str new)
{
    struct mf_tensor_name out = { .size = 0 };
    size_t at = 0;
    bool fits = true;

    if (!holds(mf_tensor_name_text(name), old))
        return true;
    while (fits && at < name->size) {
        struct mf_str rest = { name->at + at, name->size - at };
        bool here = begins(rest, old);

        fits = mf_tensor_name_add(&out,
                                  here ? new : (struct mf_str){ rest.at, 1 });
        at += here ? old.size : 1;
    }
    *name = out;
    return fits;
}
