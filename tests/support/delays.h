/* SPDX-License-Identifier: Apache-2.0 */
/* delays - delays a thread where another could run in between: before it locks a mutex, after it has unlocked
 * one, and before and after it wakes a job. This happens at random, and where a test requests it.
 *
 *   From:     programs linked with --wrap for these functions (KI_DELAYED_TESTS of the build); it has no
 *             effect in others
 *   To:       util/thread.c, util/loop/loop.c
 */
#ifndef KI_TESTS_SUPPORT_DELAYS_H
#define KI_TESTS_SUPPORT_DELAYS_H

/* At the n-th such place from now on, the calling thread sleeps long enough for other threads to overtake
 * it. */
void delays_hold_up(int place);

#endif
