/* SPDX-License-Identifier: MIT
 *
 * helper.h - the process that talks to the network
 */
#ifndef MF_CLI_REMOTE_HELPER_H
#define MF_CLI_REMOTE_HELPER_H

#include <sys/types.h>

#include "cli/remote/hub_serve.h"
#include "cli/remote/shelf.h"

/* What the command line names, and nothing else is fetched. */
struct helper_work {
    const char *const *url;
    size_t url_count;
    struct hub_site hub;
    uint64_t most;  /* bytes that it keeps */
    uint64_t block; /* that it fetches ahead at a time */
    struct shelf shelf;
};

/* How much it keeps, and the memory that both processes see. */
void helper_prepare(const struct run *run, struct helper_work *work);

/* Answers what comes from fd until the program, its parent, closes it.  It
 * opens the URLs that it is given, and files next to them, and files of the
 * repositories. */
_Noreturn void helper_serve(struct run *run, pid_t program, int fd,
                            struct helper_work *work);

#endif
