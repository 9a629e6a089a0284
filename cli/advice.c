/* SPDX-License-Identifier: MIT
 *
 * advice.c - what a user can do about an error of the library
 */
#include "cli/report.h"

#include <string.h>

#include "cli/args.h"

struct advice {
    const char *key, *option, *text;
};

static const struct advice advices[] = {
#define ADVICE(key, option, text) { key, option, text },
#define CHOICE(key)
#define ABSENT(key)
#include "cli/advice.def"
#undef ADVICE
#undef CHOICE
#undef ABSENT
};

static const char *const choices[] = {
#define ADVICE(key, option, text)
#define CHOICE(key) key,
#define ABSENT(key)
#include "cli/advice.def"
#undef ADVICE
#undef CHOICE
#undef ABSENT
};

static const char *const absents[] = {
#define ADVICE(key, option, text)
#define CHOICE(key)
#define ABSENT(key) key,
#include "cli/advice.def"
#undef ADVICE
#undef CHOICE
#undef ABSENT
};

static bool has_option(const struct run *run, const char *name)
{
    const struct option *option = run->command ? run->command->options : NULL;

    for (; option && option->name; option++)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

static bool is_among(const char *const *keys, size_t count, const char *rule)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], rule) == 0)
            return true;
    return false;
}

bool advice_is_choice(const struct mf_error *error)
{
    return is_among(choices, sizeof(choices) / sizeof(*choices), error->rule);
}

bool advice_is_absent(const struct mf_error *error)
{
    return is_among(absents, sizeof(absents) / sizeof(*absents), error->rule);
}

const char *advice_for(const struct run *run, const struct mf_error *error)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
        if (strcmp(advices[i].key, error->rule) == 0 &&
            (!advices[i].option || has_option(run, advices[i].option)))
            return advices[i].text;
    return NULL;
}
