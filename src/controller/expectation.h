/* SPDX-License-Identifier: Apache-2.0 */
/* expectation - what a reconcile of a key has written, and the cache may not have yet.
 *
 *   From:     controller/request.c adds, controller/controller_work.c asks; controller/controller.c,
 *             controller/controller_watch.c (freed informers)
 *   To:       <kinformer/informer.h>: how far a store is complete
 *   Locks:    the owner's.
 *   Not here: keeping the key from being worked on.
 *
 * For each key and informer, only the write with the highest version counts. Its expectation is met when the
 * store is complete up to that version. Deletes and relists advance the version of the store like any event.
 * A relist that is older than the write does not meet the expectation: the store lacks the write, and the
 * watch that follows delivers it. When the server's history is reset, the version of the store goes back or
 * is unset, which ends every wait. Each expectation also has a timeout. It ends the wait if versions cannot
 * be compared and the store skips the version of the write.
 *
 * A key may also be held until a given time, whatever changes: after a Retry-After of the server.
 */
#ifndef KI_CONTROLLER_EXPECTATION_H
#define KI_CONTROLLER_EXPECTATION_H

#include <kinformer/informer.h>
#include <stdbool.h>

#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"

typedef struct ki_expectations {
    ki_map by_key;
    ki_list all;
    ki_hash_key secret;
} ki_expectations;

typedef enum ki_expectation_state {
    KI_EXPECTATION_NONE = 0, /* there is no expectation */
    KI_EXPECTATION_SEEN,
    KI_EXPECTATION_RESET, /* the history of the server was reset */
    KI_EXPECTATION_TIMED_OUT,
    KI_EXPECTATION_WAITING
} ki_expectation_state;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_expectations_init(ki_expectations *expectations, uint64_t seed);
void ki_expectations_fini(ki_expectations *expectations);

typedef struct ki_expected_write {
    ki_informer *informer;
    ki_str version; /* borrowed */
    uint64_t until_ns;
} ki_expected_write;

/* Returns 0, KI_ERR_NO_MEMORY, or KI_ERR_INVALID for a version that is empty or too long. */
KI_NODISCARD int ki_expectations_add(ki_expectations *expectations, ki_str key, uint64_t now_ns,
                                     const ki_expected_write *write);

/* Makes the key wait until this time. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_expectations_delay(ki_expectations *expectations, ki_str key, uint64_t now_ns,
                                       uint64_t until_ns);

/* The informer is being freed: drops its expectations. */
void ki_expectations_forget(ki_expectations *expectations, const ki_informer *informer);

/* Drops expectations that are met or have timed out. Returns KI_EXPECTATION_WAITING while the key has to
 * wait; then *out_wait_ns is the time until the next check. */
ki_expectation_state ki_expectations_check(ki_expectations *expectations, ki_str key, uint64_t now_ns,
                                           uint64_t *out_wait_ns);

#endif
