/* SPDX-License-Identifier: MIT
 *
 * address.c - URLs as text: which are accepted, and what is next to one
 */
#include "cli/remote/address.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char http[] = "http://", https[] = "https://";

bool address_is_https(const char *url)
{
    return strncasecmp(url, https, sizeof(https) - 1) == 0;
}

bool address_is_url(const char *text)
{
    return address_is_https(text) ||
           strncasecmp(text, http, sizeof(http) - 1) == 0;
}

/* The host's first byte. */
static size_t host_of(const char *url)
{
    return (address_is_https(url) ? sizeof(https) : sizeof(http)) - 1;
}

static size_t host_size(const char *url)
{
    return strcspn(url + host_of(url), "/?#");
}

/* Its host, without a port that every URL of the scheme has. */
static size_t server_size(const char *url)
{
    const char *usual = address_is_https(url) ? ":443" : ":80";
    size_t size = host_size(url), tail = strlen(usual);
    const char *end = url + host_of(url) + size;

    return size > tail && strncmp(end - tail, usual, tail) == 0 ? size - tail
                                                                : size;
}

bool address_is_same_server(const char *a, const char *b)
{
    size_t size = server_size(a);

    return address_is_https(a) == address_is_https(b) &&
           size == server_size(b) &&
           strncasecmp(a + host_of(a), b + host_of(b), size) == 0;
}

size_t address_size(const char *url)
{
    return strcspn(url, "#");
}

size_t address_path_size(const char *url)
{
    return strcspn(url, "?#");
}

const char *address_refused(const char *url)
{
    if (strlen(url) >= ADDRESS_SIZE / 2)
        return "it is longer than 2047 bytes";
    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~')
            return "it has a character that a URL writes as %XX";
    if (host_size(url) == 0)
        return "it names no host";
    if (memchr(url + host_of(url), '@', host_size(url)))
        return "user names and passwords in URLs are not supported";
    return NULL;
}

/* The bytes up to the last slash of the path; 0 if it has none. */
static size_t folder_size(const char *url)
{
    size_t end = address_path_size(url), start = host_of(url) + host_size(url);

    while (end > start && url[end - 1] != '/')
        end--;
    return end > start ? end : 0;
}

/* Escapes that a server could read as a way out of the folder. */
static bool is_escape_of_path(const char *at, size_t size)
{
    static const char *const bad[] = { "%2e", "%2f", "%5c" };

    for (size_t i = 0; size >= 3 && i < sizeof(bad) / sizeof(*bad); i++)
        if (strncasecmp(at, bad[i], 3) == 0)
            return true;
    return false;
}

static bool is_escape(const char *at, size_t size)
{
    return size >= 3 && *at == '%' && isxdigit((unsigned char)at[1]) &&
           isxdigit((unsigned char)at[2]);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || strchr("-._~+", c);
}

static size_t put(char *to, const char *at, bool plain)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)*at;

    if (plain) {
        *to = *at;
        return 1;
    }
    to[0] = '%';
    to[1] = digits[byte >> 4];
    to[2] = digits[byte & 15];
    return 3;
}

/* One part of a path, which leads nowhere else. */
static bool is_name(const char *name, size_t size)
{
    if (size == 0 || memchr(name, 0, size))
        return false;
    return !(name[0] == '.' && (size == 1 || (size == 2 && name[1] == '.')));
}

static bool is_below(const char *name, size_t size)
{
    const char *slash;
    size_t part;

    for (; (slash = memchr(name, '/', size)) != NULL; size -= part + 1) {
        part = (size_t)(slash - name);
        if (!is_name(name, part))
            return false;
        name = slash + 1;
    }
    return is_name(name, size);
}

size_t address_escape(char *to, size_t room, const char *text, bool slashes)
{
    size_t filled = 0;

    for (; *text; text++) {
        if (room < 4 || filled > room - 4)
            return 0;
        filled += put(to + filled, text,
                      is_plain(*text) || (slashes && *text == '/'));
    }
    to[filled] = 0;
    return filled;
}

/* Names are made of the URL's own, whose escapes are kept. */
bool address_beside(const char *url, const char *name, size_t size,
                    struct address *out)
{
    size_t filled = folder_size(url), i = filled;
    bool escaped = memchr(url, '%', address_path_size(url)) != NULL;

    if (filled == 0 || filled >= ADDRESS_SIZE / 2 || size < filled ||
        memcmp(url, name, filled) != 0 ||
        !is_below(name + filled, size - filled))
        return false;
    memcpy(out->at, url, filled);
    for (; i < size; i++) {
        bool kept = name[i] == '/' || is_plain(name[i]) ||
                    (escaped && is_escape(name + i, size - i));

        if (filled > ADDRESS_SIZE - 4 ||
            (escaped && is_escape_of_path(name + i, size - i)))
            return false;
        filled += put(out->at + filled, name + i, kept);
    }
    out->at[filled] = 0;
    return true;
}
