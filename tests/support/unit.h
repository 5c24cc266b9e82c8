/* SPDX-License-Identifier: Apache-2.0 */
/* unit - cmocka, with the standard headers that it wants before it. */
#ifndef KI_TESTS_SUPPORT_UNIT_H
#define KI_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 uses a very common name, and has others for what compares numbers without a sign. */
#undef stop
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

/* Runs the tests of the array `tests` and ends the program with the number that failed. */
#define RUN_TESTS(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

#endif
