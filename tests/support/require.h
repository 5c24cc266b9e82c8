/* SPDX-License-Identifier: Apache-2.0 */
/* require - assertions on other threads: cmocka's work only on the main thread.
 *
 *   From:     tests of tests/race
 *   To:       stderr; at the end the main thread asserts that there were no failures
 */
#ifndef KI_TESTS_SUPPORT_REQUIRE_H
#define KI_TESTS_SUPPORT_REQUIRE_H

#include <stdatomic.h>
#include <stdio.h>

/* The number of failures in this program; the first is printed. */
static atomic_int failures;

#define require(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition) && atomic_fetch_add(&failures, 1) == 0)                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
    } while (0)

#endif
