/* SPDX-License-Identifier: MIT
 *
 * words.c - what people type for a command, from habit or other programs
 */
#include "cli/words.h"

#include <stdio.h>
#include <string.h>

static const struct word {
    const char *after; /* the command that it follows, or "" */
    const char *word;
    const char *name, *sub; /* NULL if no command does it */
} words[] = {
#define WORD(word, name, sub) { "", word, name, sub },
#define SUB(name, word, sub)  { name, word, name, sub },
#define NONE(word)            { "", word, NULL, NULL },
#include "cli/words.def"
#undef WORD
#undef SUB
#undef NONE
};
#define WORDS (sizeof(words) / sizeof(*words))

static const struct word *find(const char *after, const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(words[i].after, after) == 0 &&
            strcmp(words[i].word, word) == 0)
            return &words[i];
    return NULL;
}

static bool is_for(const struct word *word, const struct command *command)
{
    return !*word->after && word->name &&
           strcmp(word->name, command->name) == 0 &&
           strcmp(word->sub, command->sub) == 0;
}

bool words_find(const char *after, const char *word, const char **name,
                const char **sub)
{
    const struct word *found = find(after, word);

    if (!found || !found->name)
        return false;
    *name = found->name;
    *sub = found->sub;
    return true;
}

bool words_is_refused(const char *word)
{
    const struct word *found = find("", word);

    return found && !found->name;
}

const char *words_next(size_t *at)
{
    while (*at < WORDS) {
        const struct word *word = &words[(*at)++];

        if (!*word->after && word->name)
            return word->word;
    }
    return NULL;
}

struct words_of words_of(const struct command *command)
{
    struct words_of all = { "" };
    size_t size = 0;

    for (size_t i = 0; i < WORDS && size < sizeof(all.text); i++)
        if (is_for(&words[i], command))
            size +=
                (size_t)snprintf(all.text + size, sizeof(all.text) - size,
                                 "%s%s", size > 0 ? ", " : "", words[i].word);
    return all;
}
