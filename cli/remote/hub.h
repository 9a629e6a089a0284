/* SPDX-License-Identifier: MIT
 *
 * hub.h - names of models of the Hub
 *
 *     hf://OWNER/NAME[@REVISION][/PATH]
 *     https://huggingface.co/OWNER/NAME[/tree/REVISION[/PATH]]
 *     https://huggingface.co/OWNER/NAME/blob/REVISION/PATH
 *
 * The Hub is what HF_ENDPOINT names, whatever host a page's address has.
 */
#ifndef MF_CLI_REMOTE_HUB_H
#define MF_CLI_REMOTE_HUB_H

#include "cli/hub_cache.h"

#define HUB_REPOSITORY_SIZE 200
#define HUB_PATH_SIZE       1024

struct hub_name {
    char repository[HUB_REPOSITORY_SIZE]; /* "owner/name" */
    char revision[256];                   /* "main" where none is given */
    char path[HUB_PATH_SIZE];             /* of a file or folder; "": all */
};

/* Whether an operand is such a name, right or wrong. */
bool hub_is_name(const char *operand);

/* NULL, or why it cannot be read. */
const char *hub_parse(const char *operand, struct hub_name *out);

/* Parts between slashes that lead nowhere else, and can be printed. */
bool hub_is_path(const char *text);

/* Without a slash at its end. */
struct hub_endpoint {
    char at[512];
};

/* False if HF_ENDPOINT is not a URL. */
bool hub_endpoint(struct hub_endpoint *out);

/* The token that HF_TOKEN or a file has, "" if there is none; false if what is
 * there cannot be one. */
#define HUB_TOKEN_SIZE 512
bool hub_token(char out[HUB_TOKEN_SIZE]);

#endif
