/* SPDX-License-Identifier: Apache-2.0 */
/* store_check - whether all that a store and its indexes say of each other is true.
 *
 *   From:     tests, at their end
 *   To:       store/content.h, store/index.h, store/table.h
 *   Locks:    the store's. Never inside a read section.
 */
#ifndef KI_TESTS_SUPPORT_STORE_CHECK_H
#define KI_TESTS_SUPPORT_STORE_CHECK_H

#include <kinformer/store.h>

/* Returns 0, or KI_ERR_INVALID with what is wrong; KI_ERR_NO_MEMORY. */
KI_NODISCARD int store_check(const ki_store *store, ki_error *err);

#endif
