/* SPDX-License-Identifier: MIT
 *
 * signals.h - blocks the signals that are for the whole program
 */
#ifndef MF_LIB_SIGNALS_H
#define MF_LIB_SIGNALS_H

#include <signal.h>

/* In this thread, and in those that it starts meanwhile.  Signals that its own
 * work may raise, such as SIGSEGV, are not blocked. */
void mf_signals_hold(sigset_t *before);
void mf_signals_release(const sigset_t *before);

#endif
