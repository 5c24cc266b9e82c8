/* SPDX-License-Identifier: Apache-2.0 */
/* table_check - checks the invariant of a table slot by slot.
 *
 *   From:     support/store/store_check.c, unit/store/test_table.c, unit/util/test_huge_pages.c
 *   To:       store/table.h
 *   Locks:    those that keep the writer out.
 */
#ifndef KI_TESTS_SUPPORT_STORE_TABLE_CHECK_H
#define KI_TESTS_SUPPORT_STORE_TABLE_CHECK_H

#include "store/table.h"

/* Compares slots with counts and bounds, and finds each entry by its hash.
 * Returns NULL, or a description of what is wrong. */
const char *table_check(const ki_table *table);

#endif
