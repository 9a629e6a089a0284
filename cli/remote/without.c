/* SPDX-License-Identifier: MIT
 *
 * without.c - the door of cli/remote where no library can be loaded
 *
 * The program of `make static` has this file in place of all others here: names
 * of models on servers are known, and say why they cannot be read.
 */
#if defined(MF_STATIC)

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli/remote/remote.h"

bool remote_is_hub(const char *operand)
{
    return strncmp(operand, "hf://", 5) == 0;
}

bool remote_is_url(const char *operand)
{
    return strncasecmp(operand, "http://", 7) == 0 ||
           strncasecmp(operand, "https://", 8) == 0 || remote_is_hub(operand);
}

char *remote_named(char *operand)
{
    return operand;
}

static const char *why(const struct mf_error *error)
{
    return remote_is_url(error->path)
               ? "URLs need libcurl, and a static program loads no library"
               : "";
}

bool remote_begin(struct run *run)
{
    run->why = why;
    return true;
}

static int64_t read_nothing(void *user, uint64_t offset, void *buffer,
                            size_t count)
{
    (void)user;
    (void)offset;
    (void)buffer;
    (void)count;
    return -EIO;
}

enum mf_status remote_open(struct run *run, const char *url,
                           const struct mf_open_options *options,
                           struct mf_model **out)
{
    const struct mf_byte_source source = {
        .size = sizeof(source), .name = url, .bytes = 1, .read = read_nothing
    };

    return mf_model_open_source(run->env, &source, options, out);
}

enum mf_status remote_check(struct run *run, const struct mf_model *model,
                            const char *operand)
{
    (void)run;
    (void)model;
    (void)operand;
    return MF_OK;
}

void remote_end(void)
{
}

#else

/* Elsewhere the others are there. */
typedef int remote_is_here;

#endif
