/* SPDX-License-Identifier: MIT
 *
 * reply.c - the header of a server's answer, line by line
 */
#include "cli/remote/reply.h"

#include <string.h>
#include <strings.h>

struct text {
    const char *at;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct text trimmed(const char *at, size_t size)
{
    while (size > 0 && is_blank(*at)) {
        at++;
        size--;
    }
    while (size > 0 && is_blank(at[size - 1]))
        size--;
    return (struct text){ at, size };
}

/* Takes a decimal number from the front. */
static bool take_number(struct text *text, uint64_t *out)
{
    uint64_t value = 0;
    size_t digits = 0;

    for (; digits < text->size; digits++) {
        unsigned digit = (unsigned)(text->at[digits] - '0');

        if (digit > 9)
            break;
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    text->at += digits;
    text->size -= digits;
    *out = value;
    return digits > 0;
}

static bool take_byte(struct text *text, char byte)
{
    if (text->size == 0 || *text->at != byte)
        return false;
    text->at++;
    text->size--;
    return true;
}

static bool is_number(struct text text, uint64_t *out)
{
    return take_number(&text, out) && text.size == 0;
}

/* "bytes 0-99/1000", or of status 416 with "*" for the range. */
static bool take_range(struct reply *reply, struct text text)
{
    static const char unit[] = "bytes ";

    if (text.size < sizeof(unit) - 1 ||
        strncasecmp(text.at, unit, sizeof(unit) - 1) != 0)
        return false;
    text.at += sizeof(unit) - 1;
    text.size -= sizeof(unit) - 1;
    reply->has_bytes = !take_byte(&text, '*');
    if (reply->has_bytes &&
        !(take_number(&text, &reply->first) && take_byte(&text, '-') &&
          take_number(&text, &reply->last)))
        return false;
    return take_byte(&text, '/') && is_number(text, &reply->total);
}

/* It may be sent again: no control characters. */
static bool keep(struct text text, char *out, size_t room)
{
    if (text.size >= room)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f)
            return false;
    memcpy(out, text.at, text.size);
    out[text.size] = 0;
    return true;
}

/* A part of a Link up to the next comma that is not in <...>: "<URL>;
 * rel=next".
 */
static struct text take_link(struct text *list)
{
    bool inside = false;
    size_t size = 0;
    struct text link;

    while (size < list->size && (inside || list->at[size] != ',')) {
        inside = list->at[size] == '<' || (inside && list->at[size] != '>');
        size++;
    }
    link = trimmed(list->at, size);
    size += size < list->size;
    list->at += size;
    list->size -= size;
    return link;
}

static bool has(struct text text, const char *part)
{
    size_t size = strlen(part);

    for (size_t i = 0; text.size >= size && i <= text.size - size; i++)
        if (strncasecmp(text.at + i, part, size) == 0)
            return true;
    return false;
}

/* False if the next page has an address that cannot be kept. */
static bool keep_next(struct reply *reply, struct text list)
{
    while (list.size > 0) {
        struct text link = take_link(&list);
        const char *end = memchr(link.at, '>', link.size);
        struct text rest;

        if (link.size == 0 || *link.at != '<' || !end)
            return false;
        rest.at = end;
        rest.size = link.size - (size_t)(end - link.at);
        link = (struct text){ link.at + 1, (size_t)(end - link.at - 1) };
        if ((has(rest, "rel=\"next\"") || has(rest, "rel=next")) &&
            (*reply->next || !keep(link, reply->next, sizeof(reply->next))))
            return false;
    }
    return true;
}

static bool is_named(struct text name, const char *other)
{
    return name.size == strlen(other) &&
           strncasecmp(name.at, other, name.size) == 0;
}

static const char *take_field(struct reply *reply, struct text name,
                              struct text value)
{
    if (is_named(name, "content-range")) {
        if (reply->has_range || !take_range(reply, value))
            return "its Content-Range is invalid";
        reply->has_range = true;
    } else if (is_named(name, "content-length")) {
        if (reply->has_length || !is_number(value, &reply->length))
            return "its Content-Length is invalid";
        reply->has_length = true;
    } else if (is_named(name, "etag")) {
        if (*reply->etag || !keep(value, reply->etag, sizeof(reply->etag)))
            return "its ETag is invalid";
    } else if (is_named(name, "last-modified")) {
        if (*reply->modified ||
            !keep(value, reply->modified, sizeof(reply->modified)))
            return "its Last-Modified is invalid";
    } else if (is_named(name, "content-encoding")) {
        if (!is_named(value, "identity"))
            return "the file is sent in an encoding that was not asked for";
    } else if (is_named(name, "retry-after")) {
        reply->has_wait = is_number(value, &reply->wait);
        if (!reply->has_wait &&
            !keep(value, reply->wait_until, sizeof(reply->wait_until)))
            *reply->wait_until = 0;
    } else if (is_named(name, "x-error-code")) {
        keep(value, reply->problem, sizeof(reply->problem));
    } else if (is_named(name, "link")) {
        if (!keep_next(reply, value))
            reply->next_is_wrong = true;
    }
    return NULL;
}

/* "HTTP/1.1 206 Partial Content": lines before it do not count. */
static bool begin(struct reply *reply, const char *line, size_t size)
{
    struct text text = { line, size };
    const char *space = memchr(line, ' ', size);
    size_t header_size = reply->header_size;
    uint64_t status = 0;

    if (size < 5 || strncmp(line, "HTTP/", 5) != 0 || line[size - 1] != '\n')
        return false;
    *reply = (struct reply){ .header_size = header_size };
    if (space) {
        text.size -= (size_t)(space + 1 - line);
        text.at = space + 1;
    }
    if (!space || !take_number(&text, &status) || status > 999)
        reply->wrong = "its status is invalid";
    reply->status = (unsigned)status;
    return true;
}

bool reply_line(struct reply *reply, const char *line, size_t size)
{
    const char *colon;

    reply->header_size += size;
    if (reply->header_size > REPLY_HEADER_MAX)
        reply->wrong = "its header is longer than 64 KiB";
    if (reply->wrong || begin(reply, line, size))
        return !reply->wrong;
    if (size == 0 || line[size - 1] != '\n')
        return true; /* the answer has ended here */
    if (trimmed(line, size).size == 0)
        reply->complete = true;
    colon = memchr(line, ':', size);
    if (colon)
        reply->wrong =
            take_field(reply, trimmed(line, (size_t)(colon - line)),
                       trimmed(colon + 1, size - (size_t)(colon + 1 - line)));
    return !reply->wrong;
}

const char *reply_range_wrong(const struct reply *reply, uint64_t first,
                              uint64_t last)
{
    if (!reply->has_range || !reply->has_bytes)
        return "it has no Content-Range with bytes";
    if (reply->first != first || reply->last < first || reply->last > last ||
        reply->last >= reply->total ||
        (reply->last < last && reply->last != reply->total - 1))
        return "it is another range than was asked for";
    if (reply->has_length && reply->length != reply->last - first + 1)
        return "its Content-Length and its range differ";
    return NULL;
}
