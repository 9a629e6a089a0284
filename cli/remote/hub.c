/* SPDX-License-Identifier: MIT
 *
 * hub.c - names of models of the Hub
 */
#include "cli/remote/hub.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/remote/address.h"

/* ---- where the Hub is ---- */

bool hub_endpoint(struct hub_endpoint *out)
{
    const char *set = getenv("HF_ENDPOINT");
    size_t size;

    if (!set || !*set)
        set = "https://huggingface.co";
    size = strlen(set);
    while (size > 0 && set[size - 1] == '/')
        size--;
    if (!address_is_url(set) || address_refused(set) || strpbrk(set, "?#") ||
        size >= sizeof(out->at))
        return false;
    memcpy(out->at, set, size);
    out->at[size] = 0;
    return true;
}

/* Reads a small file; an empty text where there is none. */
static void read_text(const char *path, char out[HUB_TOKEN_SIZE])
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, HUB_TOKEN_SIZE - 1) : -1;

    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = 0;
}

static void read_token_file(char out[HUB_TOKEN_SIZE])
{
    const char *set = getenv("HF_TOKEN_PATH");
    char home[PATH_MAX], path[PATH_MAX];

    if (set && *set)
        snprintf(path, sizeof(path), "%s", set);
    else if (!hub_home(home) || snprintf(path, sizeof(path), "%s/token",
                                         home) >= (int)sizeof(path))
        return;
    read_text(path, out);
}

/* White space at both ends does not count. */
static bool clean_token(char out[HUB_TOKEN_SIZE])
{
    size_t size = strlen(out), from = strspn(out, " \t\r\n");

    while (size > from && strchr(" \t\r\n", out[size - 1]))
        size--;
    memmove(out, out + from, size - from);
    out[size - from] = 0;
    for (const char *at = out; *at; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return strlen(out) < HUB_TOKEN_SIZE - 1;
}

bool hub_token(char out[HUB_TOKEN_SIZE])
{
    const char *set = getenv("HF_TOKEN");

    *out = 0;
    if (hub_is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN"))
        return true;
    if (!set || !*set)
        set = getenv("HUGGING_FACE_HUB_TOKEN");
    if (set && *set)
        snprintf(out, HUB_TOKEN_SIZE, "%s", set);
    else
        read_token_file(out);
    return clean_token(out);
}

/* ---- parts of names ---- */

static bool is_part(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)at[i] < ' ' || at[i] == 0x7f)
            return false;
    return size > 0 &&
           !(at[0] == '.' && (size == 1 || (size == 2 && at[1] == '.')));
}

bool hub_is_path(const char *text)
{
    size_t size;

    for (;; text += size + 1) {
        size = strcspn(text, "/");
        if (!is_part(text, size))
            return false;
        if (!text[size])
            return true;
    }
}

/* As the Hub names owners and repositories. */
static bool is_id(const char *at, size_t size)
{
    if (size == 0 || size > 96 || strchr("-.", at[0]) ||
        strchr("-.", at[size - 1]))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!(isalnum((unsigned char)at[i]) || strchr("-._", at[i])) ||
            (i > 0 && at[i] == at[i - 1] && strchr("-.", at[i])))
            return false;
    return true;
}

/* The bytes of "owner/name" at the front; 0 if there are none. */
static size_t repository_size(const char *text)
{
    size_t owner = strcspn(text, "/@"), name;

    if (text[owner] != '/')
        return 0;
    name = strcspn(text + owner + 1, "/@?#");
    return is_id(text, owner) && is_id(text + owner + 1, name)
               ? owner + 1 + name
               : 0;
}

/* "refs/pr/1" and "refs/convert/parquet" are revisions with slashes. */
static size_t revision_size(const char *text)
{
    size_t first = strncmp(text, "refs/pr/", 8) == 0         ? 8
                   : strncmp(text, "refs/convert/", 13) == 0 ? 13
                                                             : 0;

    return first + strcspn(text + first, "/");
}

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef", *at;

    at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Copies text, with %XX as the byte that it means; false if it is too long. */
static bool copy(char *out, size_t room, const char *at, size_t size,
                 bool decodes)
{
    size_t filled = 0;

    for (size_t i = 0; i < size; i++, filled++) {
        int high =
            decodes && at[i] == '%' && size - i > 2 ? digit_of(at[i + 1]) : -1;
        int low = high >= 0 ? digit_of(at[i + 2]) : -1;

        if (filled + 1 >= room)
            return false;
        out[filled] = low >= 0 ? (char)(high * 16 + low) : at[i];
        i += low >= 0 ? 2 : 0;
        if (!out[filled])
            return false;
    }
    out[filled] = 0;
    return true;
}

/* ---- pages ---- */

/* What follows the Hub's address, of "https://huggingface.co/owner/name"; NULL
 * if it is another server's. */
static const char *below_hub(const char *url)
{
    static const char *const hosts[] = { "https://huggingface.co",
                                         "https://hf.co" };
    struct hub_endpoint endpoint;
    size_t size;

    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        size = strlen(hosts[i]);
        if (strncasecmp(url, hosts[i], size) == 0 && url[size] == '/')
            return url + size + 1;
    }
    if (!hub_endpoint(&endpoint))
        return NULL;
    size = strlen(endpoint.at);
    return strncasecmp(url, endpoint.at, size) == 0 && url[size] == '/'
               ? url + size + 1
               : NULL;
}

/* First parts of addresses that do not name an owner. */
static bool is_reserved(const char *at)
{
    static const char *const words[] = {
        "datasets/", "spaces/", "kernels/",  "buckets/",
        "api/",      "docs/",   "models/",   "collections/",
        "papers/",   "blog/",   "settings/", "organizations/"
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* After "owner/name" of a page: the end, or "/tree/..." or "/blob/...". */
static bool is_view(const char *rest)
{
    return !*rest || strchr("?#", *rest) ||
           (*rest == '/' && (!rest[1] || strchr("?#", rest[1]))) ||
           strncmp(rest, "/tree/", 6) == 0 || strncmp(rest, "/blob/", 6) == 0;
}

/* "owner/name..." of a page's address; NULL if it is another address. */
static const char *page_of(const char *operand)
{
    const char *below = address_is_url(operand) ? below_hub(operand) : NULL;
    size_t size = below && !is_reserved(below) ? repository_size(below) : 0;

    return size > 0 && is_view(below + size) ? below : NULL;
}

/* ---- all of it ---- */

bool hub_is_name(const char *operand)
{
    return strncmp(operand, HUB_PREFIX, strlen(HUB_PREFIX)) == 0 ||
           page_of(operand);
}

static bool take_repository(const char **text, struct hub_name *out)
{
    size_t size = repository_size(*text);

    if (size == 0 || size >= sizeof(out->repository))
        return false;
    memcpy(out->repository, *text, size);
    out->repository[size] = 0;
    *text += size;
    return true;
}

/* Sets a revision that is there, and the rest as the path. */
static const char *take_rest(const char *text, size_t size, bool has_revision,
                             bool decodes, struct hub_name *out)
{
    size_t revision = has_revision ? revision_size(text) : 0;

    if (revision > size)
        revision = size;
    strcpy(out->revision, "main");
    if (has_revision &&
        (!copy(out->revision, sizeof(out->revision), text, revision, true) ||
         !hub_is_path(out->revision)))
        return "its revision is invalid";
    text += revision;
    size -= revision;
    while (size > 0 && text[size - 1] == '/')
        size--;
    if (size > 0) {
        text++;
        size--;
    }
    if (!copy(out->path, sizeof(out->path), text, size, decodes) ||
        (*out->path && !hub_is_path(out->path)))
        return "its path is invalid";
    return NULL;
}

static const char *parse_page(const char *text, struct hub_name *out)
{
    bool views;

    take_repository(&text, out);
    views = *text == '/' && text[1] && !strchr("?#", text[1]);
    if (views)
        text += strlen("/tree/");
    return take_rest(text, strcspn(text, "?#"), views, true, out);
}

const char *hub_parse(const char *operand, struct hub_name *out)
{
    static const char models[] = "models/";
    const char *page = page_of(operand);
    const char *text = operand + strlen(HUB_PREFIX);
    struct hub_endpoint endpoint;
    bool has_revision;

    if (!hub_endpoint(&endpoint))
        return "HF_ENDPOINT is not a URL that can be read";
    if (page)
        return parse_page(page, out);
    if (strncmp(text, models, strlen(models)) == 0 && strchr(text + 7, '/'))
        text += strlen(models);
    else if (is_reserved(text))
        return "only models can be read: hf://OWNER/NAME";
    if (!take_repository(&text, out) || (*text && !strchr("@/", *text)))
        return "expected hf://OWNER/NAME[@REVISION][/FILE]";
    has_revision = *text == '@';
    text += has_revision;
    return take_rest(text, strlen(text), has_revision, false, out);
}
