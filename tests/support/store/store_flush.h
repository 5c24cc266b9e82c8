/* SPDX-License-Identifier: Apache-2.0 */
/* store_flush - waits for readers and frees the objects that a store has released. */
#ifndef KI_TESTS_SUPPORT_STORE_STORE_FLUSH_H
#define KI_TESTS_SUPPORT_STORE_STORE_FLUSH_H

#include "store/store.h"

/* Never call it in a read section. */
static inline void store_flush(ki_store *store)
{
    ki_mutex_lock(&store->write_mu);
    ki_reclaim_flush(&store->reclaim);
    ki_mutex_unlock(&store->write_mu);
}

#endif
