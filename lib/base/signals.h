/* SPDX-License-Identifier: MIT
 *
 * signals.h - blocks the signals that are for the whole program
 */
#ifndef MF_LIB_SIGNALS_H
#define MF_LIB_SIGNALS_H

#if defined(_WIN32) || defined(__wasi__)
typedef int mf_signals; /* these systems have none that a thread can block */
#else
#include <signal.h>
typedef sigset_t mf_signals;
#endif

/* In this thread, and in those that it starts meanwhile.  Signals that its own
 * work may raise, such as SIGSEGV, are not blocked. */
void mf_signals_hold(mf_signals *before);
void mf_signals_release(const mf_signals *before);

#endif
