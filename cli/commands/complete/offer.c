/* SPDX-License-Identifier: MIT
 *
 * offer.c - the lines of an answer
 */
#include <string.h>
#include <strings.h>

#include "cli/commands/complete/complete.h"

bool offer_continues(const struct place *place, struct mf_str text)
{
    size_t size = strlen(place->word);

    return size <= text.size && memcmp(text.at, place->word, size) == 0;
}

static void put(struct run *run, const struct place *place, struct mf_str text,
                const char *after, const char *explanation)
{
    out_text(&run->out, place->before);
    out_bytes(&run->out, text.at, text.size);
    out_text(&run->out, after);
    out_text(&run->out, "\t");
    out_line(&run->out, explanation);
}

/* A line of its own; what is not printable could drive the terminal, or be two
 * lines. */
void offer(struct run *run, const struct place *place, struct mf_str text,
           const char *after, const char *explanation)
{
    if (text.size > 0 && offer_continues(place, text) &&
        mf_text_clean(text.at, text.size) == text.size)
        put(run, place, text, after, explanation);
}

void offer_name(struct run *run, const struct place *place, const char *name,
                const char *after, const char *explanation)
{
    if (strncasecmp(name, place->word, strlen(place->word)) == 0)
        put(run, place, str_of(name), after, explanation);
}

/* No candidate begins with a tab. */
void offer_by_shell(struct run *run, const char *what)
{
    out_text(&run->out, "\t");
    out_line(&run->out, what);
}
