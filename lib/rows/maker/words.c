/* SPDX-License-Identifier: MIT
 *
 * words.c - texts in rows, and sets of words
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/rows.h"

/* ---- texts ---- */

struct text text_of(const char *at)
{
    return (struct text){ at, strlen(at) };
}

bool text_same(struct text a, struct text b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

bool text_is(struct text text, const char *other)
{
    return text_same(text, text_of(other));
}

int text_order(struct text a, struct text b)
{
    int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool text_begins(struct text text, const char *beginning)
{
    size_t size = strlen(beginning);

    return text.size >= size && memcmp(text.at, beginning, size) == 0;
}

bool text_ends(struct text text, const char *end)
{
    size_t size = strlen(end);

    return text.size >= size &&
           memcmp(text.at + text.size - size, end, size) == 0;
}

static void skip(struct text *text, size_t size)
{
    text->at += size;
    text->size -= size;
}

struct text trimmed(struct text text)
{
    while (text.size > 0 && *text.at == ' ')
        skip(&text, 1);
    while (text.size > 0 && text.at[text.size - 1] == ' ')
        text.size--;
    return text;
}

struct text take_up_to(struct text *text, char sign)
{
    struct text out = { text->at, 0 };

    while (out.size < text->size && out.at[out.size] != sign)
        out.size++;
    skip(text, out.size + (out.size < text->size));
    return out;
}

struct text take_word(struct text *text)
{
    return take_up_to(text, ' ');
}

struct text take_until(struct text *text, char sign)
{
    struct text out = { text->at, 0 };
    size_t depth = 0;

    for (; out.size < text->size; out.size++) {
        char c = out.at[out.size];

        if (depth == 0 && c == sign)
            break;
        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && depth > 0;
    }
    skip(text, out.size + (out.size < text->size));
    return trimmed(out);
}

/* ---- sets of words ---- */

/* The slots, a power of two, at most half of which are taken: a word is in the
 * first one that was free from where its hash points.  So the last word that
 * was added is in the way of no other. */
static size_t slot_count(const struct words *words)
{
    return 2 * words->room;
}

/* FNV-1a */
static size_t first_slot(const struct words *words, struct text word)
{
    unsigned long hash = 2166136261U;

    for (size_t i = 0; i < word.size; i++)
        hash = ((hash ^ (unsigned char)word.at[i]) * 16777619U) & 0xffffffffU;
    return (size_t)(hash ^ hash >> 15) & (slot_count(words) - 1);
}

size_t words_find(const struct words *words, struct text word)
{
    size_t slot;

    if (words->count == 0)
        return 0;
    slot = first_slot(words, word);
    while (words->slot[slot] > 0) {
        size_t at = words->slot[slot] - 1;

        if (text_same(words->at[at], word))
            return at;
        slot = (slot + 1) & (slot_count(words) - 1);
    }
    return words->count;
}

bool words_have(const struct words *words, struct text word)
{
    return words_find(words, word) < words->count;
}

static void set_slot(struct words *words, size_t at)
{
    size_t slot = first_slot(words, words->at[at]);

    while (words->slot[slot] > 0)
        slot = (slot + 1) & (slot_count(words) - 1);
    words->slot[slot] = at + 1;
}

static void append(struct words *words, struct text word)
{
    if (words->count == words->room) {
        size_t size;

        words->room = words->room ? 2 * words->room : 16;
        words->at = take_memory(words->at, words->room * sizeof(*words->at));
        size = slot_count(words) * sizeof(*words->slot);
        words->slot = memset(take_memory(words->slot, size), 0, size);
        for (size_t i = 0; i < words->count; i++)
            set_slot(words, i);
    }
    words->at[words->count] = word;
    set_slot(words, words->count++);
}

bool words_add(struct words *words, struct text word)
{
    if (words_have(words, word))
        return false;
    append(words, word);
    return true;
}

size_t pool_place(struct pool *pool, struct text text, size_t more)
{
    size_t at = words_find(&pool->known, text);

    if (at < pool->known.count)
        return pool->place[at];
    words_add(&pool->known, text);
    pool->place = take_memory(pool->place, (at + 1) * sizeof(*pool->place));
    pool->place[at] = pool->size;
    pool->size += text.size + more;
    return pool->place[at];
}

bool words_add_place(struct words *places, struct text word)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->at[i].at == word.at)
            return false;
    append(places, word);
    return true;
}

void words_cut(struct words *words, size_t count)
{
    while (words->count > count) {
        size_t slot = first_slot(words, words->at[words->count - 1]);

        while (words->slot[slot] != words->count)
            slot = (slot + 1) & (slot_count(words) - 1);
        words->slot[slot] = 0;
        words->count--;
    }
}

void words_free(struct words *words)
{
    free(words->at);
    free(words->slot);
    *words = (struct words){ .count = 0 };
}

/* ---- lists of words ---- */

size_t list_find(const char *const *list, struct text word)
{
    size_t at = 0;

    while (list[at] && !text_is(word, list[at]))
        at++;
    return at;
}

bool list_has(const char *const *list, struct text word)
{
    return list[list_find(list, word)] != NULL;
}
