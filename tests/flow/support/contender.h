/* SPDX-License-Identifier: Apache-2.0 */
/* contender - a process that contends for the Lease "lock" of the embedded API server.
 *
 *   From:     tests/flow/controller/test_apiserver_leader.c,
 *             tests/flow/controller/test_apiserver_leader_slow.c,
 *             tests/flow/controller/test_apiserver_leader_stop.c,
 *             tests/flow/controller/test_apiserver_leader_takeover.c
 *   To:       <kinformer/leader.h>, support/apiserver/api_rig.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_CONTENDER_H
#define KI_TESTS_FLOW_SUPPORT_CONTENDER_H

#include <kinformer.h>
#include <stdbool.h>

#define LOCK_PATH "/apis/coordination.k8s.io/v1/namespaces/default/leases/lock"

typedef struct contender {
    ki_apiserver *server;
    ki_client *client;
    ki_leader *leader;
    _Atomic int started, stopped, released, new_leaders;
    _Atomic int unknown_at_start; /* on_started came before on_new_leader */
    _Atomic int led_inside_stop;  /* is_leading was true in on_stopped */
    _Atomic int held_inside_stop; /* the server still reports us as the holder */
    _Atomic int64_t stopped_us;   /* real time of the last on_stopped */
    int frees_itself;
    uint64_t lease_ms; /* 0: 2,000 */
    uint64_t renew_ms; /* the renew deadline; 0: 1,500 */
    uint64_t retry_ms; /* how often it renews its lease, and tries to get it; 0: 200 */
    int start_ms;      /* how long on_started takes */
    ki_log_cb log;     /* of its client; called with the contender; NULL: none */
} contender;

/* Starts one, with a client of this ki_mode, whose user agent is the identity. */
void contender_begin(contender *c, ki_apiserver *server, const char *identity, int mode);

/* Frees it, and checks that its callbacks came in order. */
void contender_end(contender *c);

/* Starts a server and a contender "a" with threads, and waits until it leads. */
ki_apiserver *contender_lead(contender *c);

/* Whether the lease names this holder; "": none. */
bool contender_holds(contender *c, const char *identity);

/* Lets the client work, if it needs that, or a moment pass. */
void contender_turn(contender *c);

/* Of the monotonic clock. */
uint64_t contender_now_ms(void);

/* Real time, as in the request log. */
int64_t contender_wall_us(void);

/* Of the latest successful write of a Lease: when its request arrived at the server,
 * and the number of all. */
int64_t contender_renewed_us(const ki_apiserver *server);
int contender_renewals(const ki_apiserver *server);

#define WAIT_UNTIL(c, condition)                                                                             \
    do {                                                                                                     \
        uint64_t began_ms = contender_now_ms();                                                              \
        while (!(condition)) {                                                                               \
            contender_turn(c);                                                                               \
            if (contender_now_ms() - began_ms > HANG_MS)                                                     \
                fail_msg("not within %d ms: %s", HANG_MS, #condition);                                       \
        }                                                                                                    \
    } while (0)

#endif
