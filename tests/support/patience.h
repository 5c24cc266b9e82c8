/* SPDX-License-Identifier: Apache-2.0 */
/* patience - how long tests wait by the real clock, long enough for a busy machine.
 *
 *   From:     tests that use real threads, sockets and processes
 *   Not here: how long a whole test program may take, which ctest decides
 */
#ifndef KI_TEST_PATIENCE_H
#define KI_TEST_PATIENCE_H

enum {
    /* An expected event that has not happened by then never will. */
    HANG_MS = 120 * 1000,
    /* A call that must not wait for a timer is done by then: all timers that it could wait for are longer. */
    AT_ONCE_MS = 8 * 1000,
    /* For alarm(), where a hang would block the test itself. */
    WATCHDOG_SECONDS = 600,
};

#endif
