/* SPDX-License-Identifier: Apache-2.0 */
/* require - assertions on threads: cmocka's belong to the main one.
 *
 *   From:     tests of tests/race
 *   To:       stderr; the main thread asserts in the end that there were no failures
 */
#ifndef KI_TESTS_SUPPORT_REQUIRE_H
#define KI_TESTS_SUPPORT_REQUIRE_H

#include <stdatomic.h>
#include <stdio.h>

/* How many there were in this program; the first is told. */
static atomic_int failures;

#define require(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition) && atomic_fetch_add(&failures, 1) == 0)                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
    } while (0)

#endif
