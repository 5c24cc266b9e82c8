/* SPDX-License-Identifier: Apache-2.0 */
/* unit - cmocka, and the standard headers that must be included before it. */
#ifndef KI_TESTS_SUPPORT_UNIT_H
#define KI_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 defines a very common name, and renames the comparisons of unsigned numbers. */
#undef stop
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

/* Runs the tests of the array `tests` and ends the program with the number that failed. */
#define RUN_TESTS(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

#endif
