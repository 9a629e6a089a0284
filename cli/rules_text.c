/* SPDX-License-Identifier: MIT
 *
 * rules_text.c - the paragraphs of rules, which make has taken from
 * docs/rules.md and packed
 */
#include "cli/rules_text.h"

#include <string.h>

#include "cli/report.h"
#include "lib/program.h"

/* A line with the ID, the paragraph, and an empty line for each. */
extern const struct mf_packed rules_packed;

static void text_put(void *user, const void *at, size_t size)
{
    struct rule_texts *texts = user;

    texts->failed =
        texts->failed || !buffer_add(texts->run, &texts->all, at, size);
}

/* IDs and paragraphs become strings: an ID ends with its line, a paragraph
 * with the empty one. */
static void end_strings(struct buffer *all)
{
    bool is_id = true;

    for (char *line = all->at, *end; line < all->at + all->size;
         line = end + 1) {
        end = memchr(line, '\n', (size_t)(all->at + all->size - line));
        if (is_id || end == line)
            *end = '\0';
        is_id = end == line;
    }
}

bool rule_texts_open(struct run *run, struct rule_texts *texts)
{
    *texts = (struct rule_texts){ .run = run };
    if (mf_packed_put(run->env, &rules_packed, text_put, texts) == MF_OK &&
        !texts->failed) {
        end_strings(&texts->all);
        return true;
    }
    report_failure(run, NULL);
    rule_texts_close(texts);
    return false;
}

void rule_texts_close(struct rule_texts *texts)
{
    buffer_release(texts->run, &texts->all);
}

const char *rule_text(const struct rule_texts *texts, const char *id)
{
    const char *at = texts->all.at, *end = at + texts->all.size;

    while (at < end) {
        const char *text = at + strlen(at) + 1;

        if (strcmp(at, id) == 0)
            return text;
        at = text + strlen(text) + 1;
    }
    return NULL;
}
