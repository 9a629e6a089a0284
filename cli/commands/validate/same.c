/* SPDX-License-Identifier: MIT
 *
 * same.c - file and subject of a finding, by which it is known again in another
 * run, and how often each came
 *
 * A finding is known again by its file, rule and subject, so that an edit that
 * moves bytes or changes numbers makes no other one of it.
 */
#include "cli/commands/validate/validate.h"

#include <string.h>

bool same_text(struct run *run, struct buffer *buffer, struct mf_str text)
{
    bool whole = true;
    char escape[12];

    while (text.size > 0 && whole) {
        size_t clean = mf_text_clean(text.at, text.size);

        if (clean > 0) {
            whole = buffer_add(run, buffer, text.at, clean);
        } else {
            clean = mf_text_escape(text.at, text.size, escape);
            whole = buffer_add(run, buffer, escape, strlen(escape));
        }
        text.at += clean;
        text.size -= clean;
    }
    return whole;
}

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* Adds a message that has no subject, each word with a digit as '#': numbers,
 * also hexadecimal ones. */
static bool add_words(struct run *run, struct buffer *buffer,
                      struct mf_str text)
{
    const char *at = text.at, *end = text.at + text.size;
    bool whole = true;

    while (at < end && whole) {
        const char *from = at;
        bool number = false;

        for (; at < end && is_word(*at); at++)
            number = number || (*at >= '0' && *at <= '9');
        if (from == at)
            at++;
        whole = number ? buffer_add(run, buffer, "#", 1)
                       : buffer_add(run, buffer, from, (size_t)(at - from));
    }
    return whole;
}

/* A message without what finding_line adds to it: attacks, and after them the
 * reader that does not mind. */
static struct mf_str cut_remarks(const char *message)
{
    struct mf_str text = str_of(message);
    static const char *const words[] = { SPARED_WORDS, ATTACK_WORDS };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t size = strlen(words[i]);

        if (text.size == 0 || text.at[text.size - 1] != ')')
            break;
        for (size_t at = text.size; at-- > 0;)
            if (text.size - at > size &&
                memcmp(text.at + at, words[i], size) == 0) {
                text.size = at;
                break;
            }
    }
    return text;
}

bool same_subject(struct run *run, struct buffer *buffer, const char *message)
{
    /* Of tensors, too, as the message has it: a text report shows no more. */
    const struct mf_finding finding = { .message = message };
    struct mf_str subject = mf_finding_subject(&finding);

    if (!subject.at)
        return add_words(run, buffer, cut_remarks(message));
    return buffer_add(run, buffer, "'", 1) &&
           buffer_add(run, buffer, subject.at, subject.size);
}

bool same_path(struct run *run, struct buffer *buffer, const char *path)
{
    bool whole = *path != '/' || buffer_add(run, buffer, "/", 1);
    const char *separator = "";

    while (*path && whole) {
        size_t size = strcspn(path, "/");

        if (size > 0 && !(size == 1 && *path == '.')) {
            whole = buffer_add(run, buffer, separator, strlen(separator)) &&
                    buffer_add(run, buffer, path, size);
            separator = "/";
        }
        path += size + (path[size] == '/');
    }
    return whole && buffer_add(run, buffer, "", 1);
}

/* ---- counting ---- */

/* A text is its digest: two that share one would only be counted as the same.
 */
struct counted_text {
    uint64_t digest;
    size_t count; /* 0: the slot is empty */
};

static struct counted_text *find(const struct counted *counted, uint64_t digest)
{
    size_t at = (size_t)digest & (counted->slot_count - 1);

    while (counted->slot[at].count > 0 && counted->slot[at].digest != digest)
        at = (at + 1) & (counted->slot_count - 1);
    return &counted->slot[at];
}

/* At most half of the slots are used. */
static bool make_room(struct run *run, struct counted *counted)
{
    struct counted larger = *counted;

    if (counted->used < counted->slot_count / 2)
        return true;
    larger.slot_count = counted->slot_count > 0 ? 2 * counted->slot_count : 64;
    larger.slot = mf_env_resize(run->env, NULL, 0,
                                larger.slot_count * sizeof(*larger.slot));
    if (!larger.slot)
        return false;
    memset(larger.slot, 0, larger.slot_count * sizeof(*larger.slot));
    for (size_t i = 0; i < counted->slot_count; i++)
        if (counted->slot[i].count > 0)
            *find(&larger, counted->slot[i].digest) = counted->slot[i];
    counted_release(run, counted);
    *counted = larger;
    return true;
}

size_t counted_add(struct run *run, struct counted *counted,
                   const struct buffer *text)
{
    struct mf_sha256 sha;
    uint8_t bytes[32];
    struct counted_text *slot;
    uint64_t digest;

    if (!make_room(run, counted))
        return 0;
    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, text->at, text->size);
    mf_sha256_end(&sha, bytes);
    memcpy(&digest, bytes, sizeof(digest));
    slot = find(counted, digest);
    counted->used += slot->count == 0;
    slot->digest = digest;
    return ++slot->count;
}

void counted_release(struct run *run, struct counted *counted)
{
    mf_env_resize(run->env, counted->slot,
                  counted->slot_count * sizeof(*counted->slot), 0);
    *counted = (struct counted){ 0 };
}
