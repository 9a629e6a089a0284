/* SPDX-License-Identifier: MIT
 *
 * signals.c - holding back the signals that are for the whole program
 */
#include "lib/base/signals.h"

#include <stddef.h>

void mf_signals_hold(sigset_t *before)
{
    static const int of_a_thread[] = {
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF,
    };
    sigset_t held;

    sigfillset(&held);
    for (size_t i = 0; i < sizeof(of_a_thread) / sizeof(*of_a_thread); i++)
        sigdelset(&held, of_a_thread[i]);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

void mf_signals_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
