/* SPDX-License-Identifier: MIT
 *
 * signals.c - holding back the signals that are for the whole program
 */
#include "lib/base/signals.h"

#include <stddef.h>

#if defined(_WIN32) || defined(__wasi__)

void mf_signals_hold(mf_signals *before)
{
    *before = 0;
}

void mf_signals_release(const mf_signals *before)
{
    (void)before;
}

#else

void mf_signals_hold(mf_signals *before)
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

void mf_signals_release(const mf_signals *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
