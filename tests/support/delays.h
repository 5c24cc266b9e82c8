/* SPDX-License-Identifier: Apache-2.0 */
/* delays - a thread is held up where another one could get in between: before it takes a lock, after it has
 * given one back, and around the waking of a job; now and then by itself, and where a test says so.
 *
 *   From:     programs that are linked with --wrap for these functions (KI_DELAYED_TESTS of the build); in
 *             all others nothing of this has an effect
 *   To:       util/thread.c, util/loop/loop.c
 */
#ifndef KI_TESTS_SUPPORT_DELAYS_H
#define KI_TESTS_SUPPORT_DELAYS_H

/* At the n-th such place from here on the calling thread sleeps for so long that others can do anything. */
void delays_hold_up(int place);

#endif
