/* SPDX-License-Identifier: Apache-2.0 */
/* store_contest - readers look up keys for a while, beside a writer that tries 100,000 updates per second.
 *
 *   From:     bench_store.c
 *   To:       the store; and the same table under a pthread_rwlock
 */
#ifndef BENCH_STORE_CONTEST_H
#define BENCH_STORE_CONTEST_H

#include <stdbool.h>

#include "store_pods.h"

enum store_contestant { STORE_GET, STORE_PEEK, RWLOCK_GET, RWLOCK_PEEK, STORE_CONTESTANTS };

enum { STORE_CONTEST_READERS_MAX = 8, STORE_CONTEST_UPDATES_A_SECOND = 100000 };

struct store_contest {
    const struct store_pods *versions; /* two versions of the same keys */
    enum store_contestant contestant;
    int readers;
    double seconds;
};

struct store_contest_result {
    double lookups_a_second; /* of one reader, on average */
    double updates_a_second;
};

const char *store_contestant_name(enum store_contestant contestant);

/* Returns false if a thread cannot be started, or if a lookup has failed. */
bool store_contest_run(const struct store_contest *contest, struct store_contest_result *out_result);

#endif
