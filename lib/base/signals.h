/* SPDX-License-Identifier: MIT
 *
 * signals.h - holding back the signals that are for the whole program
 */
#ifndef MF_LIB_SIGNALS_H
#define MF_LIB_SIGNALS_H

#include <signal.h>

/* In this thread, and in those that it starts meanwhile.  Not those that its
 * own work may raise, as SIGSEGV. */
void mf_signals_hold(sigset_t *before);
void mf_signals_release(const sigset_t *before);

#endif
