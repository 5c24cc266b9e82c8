/* SPDX-License-Identifier: Apache-2.0 */
/* store_check - checks that a store and its indexes are consistent.
 *
 *   From:     tests, at their end
 *   To:       store/content.h, store/index.h, store/table.h
 *   Locks:    the store's. Never call it in a read section.
 */
#ifndef KI_TESTS_SUPPORT_STORE_STORE_CHECK_H
#define KI_TESTS_SUPPORT_STORE_STORE_CHECK_H

#include <kinformer/store.h>

/* Returns 0, KI_ERR_INVALID with a message, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int store_check(const ki_store *store, ki_error *err);

#endif
