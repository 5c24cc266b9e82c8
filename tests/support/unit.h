/* SPDX-License-Identifier: Apache-2.0 */
/* unit - cmocka, with the standard headers that it wants before it. */
#ifndef KI_TESTS_SUPPORT_UNIT_H
#define KI_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Runs the tests of the array `tests` and ends the program with the number that failed. */
#define RUN_TESTS(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

#endif
