/* SPDX-License-Identifier: MIT
 *
 * address.h - URLs as text: which are accepted, and what is next to one
 */
#ifndef MF_CLI_REMOTE_ADDRESS_H
#define MF_CLI_REMOTE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a URL, its NUL included. */
#define ADDRESS_SIZE 4096

struct address {
    char at[ADDRESS_SIZE];
};

/* Whether it begins with http:// or https://. */
bool address_is_url(const char *text);
bool address_is_https(const char *url);

/* NULL, or why the URL is not accepted. */
const char *address_refused(const char *url);

/* Whether two URLs have one scheme, host and port. */
bool address_is_same_server(const char *a, const char *b);

/* Writes a text with %XX for whatever is not plain, and for slashes unless they
 * are kept.  The bytes that it takes; 0 if there is no room. */
size_t address_escape(char *to, size_t room, const char *text, bool slashes);

/* The bytes of a URL before its query and fragment, and before its fragment. */
size_t address_path_size(const char *url);
size_t address_size(const char *url);

/* The URL of another file in the same folder, or below it, from a name that
 * begins with the folder; false if no file there can have that name.  A query
 * is left out. */
bool address_beside(const char *url, const char *name, size_t size,
                    struct address *out);

#endif
