/* SPDX-License-Identifier: Apache-2.0 */
/* How long tests wait by the real clock, also on a machine that has much else to do.
 * From: tests that use real threads, sockets and processes
 * Not here: how long a whole program of tests may take, which is for ctest to say */
#ifndef KI_TEST_PATIENCE_H
#define KI_TEST_PATIENCE_H

enum {
    /* What has to come has come by then; what has not, never will. */
    HANG_MS = 120 * 1000,
    /* What may not wait for any timer is done by then: the timers that it could wait for are longer. */
    AT_ONCE_MS = 8 * 1000,
    /* For alarm(), where what hangs would hang the test itself. */
    WATCHDOG_SECONDS = 600,
};

#endif
