/* SPDX-License-Identifier: Apache-2.0 */
/* leader - leader election: of several processes, at most one acts at a time.
 *
 * The processes share a Lease (coordination.k8s.io/v1). Its holder renews it; the others take it over when it
 * has not been renewed for its whole duration.
 *
 *   ki_leader_options options = {
 *       .name = "my-controller", .on_started = on_lead, .on_stopped = on_lose, .user = controller};
 *   ki_leader *leader = ki_leader_new(lease_client, &options, &err);
 *   rc = ki_leader_start(leader, &err);
 *   …
 *   ki_leader_free(leader);
 *
 * Give it a client of its own, so that a renewal never waits behind other requests. A controller acts while
 * the process leads: on_lead starts it, on_lose stops it, and the leader is freed first.
 *
 *   static void on_lead(ki_leader *leader, void *controller)
 *   {
 *       if (ki_controller_start(controller, NULL) < 0)
 *           ki_leader_stop(leader); // else it would hold the lease, and nobody would act
 *   }
 *   static void on_lose(ki_leader *leader, void *controller) { ki_controller_stop(controller, NULL); }
 *
 * Guarantees, for machines whose clocks differ in speed by at most 1/64:
 *   - ki_leader_is_leading() is true in at most one process at a time. It reads the clock: after a suspend or
 *     SIGSTOP that outlasted the lease it is false at once. The lease is counted from the moment its renewal
 *     was sent.
 *   - on_stopped is called before the lease is released, and at the latest renew_deadline_ms after the last
 *     renewal, so there is time to stop before the lease ends.
 *   - The lease is released only if it is still ours.
 *   - If the Lease is deleted, its holder creates it again and keeps leading. Others create it when it has
 *     been missing for its whole duration. A process that has never seen it creates it at once, so two may
 *     lead for up to retry_period_ms, or longer if the holder does not reach the server.
 *
 * What no lease can guarantee: a request that was sent while leading may reach the server afterwards. Writes
 * must therefore carry a resourceVersion wherever a late one would do harm.
 *
 * Threads: any, for all calls; from callbacks, too.
 */
#ifndef KI_LEADER_H
#define KI_LEADER_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef struct ki_leader ki_leader;

/** Called when this contender becomes the leader (on_started), and when it no longer is (on_stopped). */
typedef void (*ki_leader_cb)(ki_leader *leader, void *user);

/** Called when the lease has a new holder, which may be this contender. `identity` is the holder's, borrowed
 * for the call; "" when the lease has no holder. */
typedef void (*ki_leader_change_cb)(ki_leader *leader, const char *identity, void *user);

/** Zero means default. Texts are copied. */
typedef struct ki_leader_options {
    const char *name;           /* of the Lease; required */
    const char *ns;             /* NULL or "": ki_client_namespace() */
    const char *identity;       /* unique among the contenders; NULL: the host name and a random number */
    uint64_t lease_duration_ms; /* 0: 15,000; must be 1,000 to 2^31-1, and more than renew_deadline_ms */
    uint64_t renew_deadline_ms; /* 0: 10,000; must be more than 1.2 times retry_period_ms */
    uint64_t retry_period_ms;   /* 0: 2,000 */
    int keep_lease_on_stop;     /* 1: a stop does not release the lease; it expires */
    int reserved_number;
    /* Callbacks run one at a time, on a handler thread or inside ki_client_dispatch(). With KI_MODE_THREADS
     * the lease is renewed meanwhile, so a slow callback does not lose it; in the other modes, with
     * handler_threads, and when the system starts too few threads (a warning is logged), a slow callback
     * delays renewals. */
    ki_leader_cb on_started; /* acting may begin. Return soon: on_stopped waits for it */
    ki_leader_cb on_stopped; /* acting must have ended when this returns. Once for each on_started */
    ki_leader_change_cb on_new_leader;
    void (*on_release)(void *user); /* once, after the last callback; not if ki_leader_new() fails */
    void *user;
    uint64_t reserved[8];
} ki_leader_options;

/**
 * Makes a contender that is not started.
 *
 * Returns:   a leader to free, or NULL with KI_ERR_INVALID (which option), KI_ERR_NO_MEMORY, KI_ERR_SYSTEM,
 *            KI_ERR_STOPPED (the client has been freed), KI_ERR_FORKED.
 * Ownership: the caller frees it with ki_leader_free(). It keeps the memory of the client.
 */
KI_API KI_NODISCARD ki_leader *ki_leader_new(ki_client *client, const ki_leader_options *options,
                                             ki_error *err);

/**
 * Begins to contend for the lease, also after a stop. When the lease is lost, on_stopped is called, and the
 * contender tries to get it again. Does nothing when already started.
 *
 * Returns: 0, KI_ERR_INVALID, KI_ERR_SYSTEM, KI_ERR_NO_MEMORY, KI_ERR_STOPPED, KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_leader_start(ki_leader *leader, ki_error *err);

/**
 * Stops acting, then releases the lease. A lease that is being acquired is released as well, and on_started
 * is not called for it any more. Waits until on_stopped has returned. Then it waits, for at most
 * renew_deadline_ms, until the server has answered the release or, when not leading, the request in flight.
 * From a callback or inside a read section it returns at once, and the work is done soon after. Idempotent.
 */
KI_API void ki_leader_stop(ki_leader *leader);

/** Stops the contender and frees it. Waits as ki_leader_stop() does,
 * and returns at once where that does. NULL is allowed. */
KI_API void ki_leader_free(ki_leader *leader);

/**
 * Whether this process may act now. It reads the clock and takes no lock: call it before every write, not
 * once for a whole piece of work.
 *
 * Returns: 1 or 0; 0 for NULL and in a child of fork().
 */
KI_API int ki_leader_is_leading(const ki_leader *leader);

/**
 * Makes a client, or by further calls several, refuse their writes (POST, PUT, PATCH, DELETE) with
 * KI_ERR_REFUSED while this process does not lead. The check is made just before the first byte is sent, so
 * after a pause of the process only a request that was already in flight can still arrive. The guard replaces
 * any other write gate of the client, and may wait until that gate has returned: see
 * ki_client_set_write_gate(). When the leader is freed, all writes are refused until another gate is set; a
 * gate that has replaced this one stays.
 *
 * Returns: 0; KI_ERR_INVALID for the client that the leader itself uses; KI_ERR_NO_MEMORY; KI_ERR_FORKED.
 *          If it fails, nothing is guarded.
 */
KI_API KI_NODISCARD int ki_leader_guard(ki_leader *leader, ki_client *client);

/**
 * The identity of the lease's holder, as last seen; "" when it has none or was never read, for NULL, and in a
 * child of fork().
 *
 * Returns: the length, like snprintf.
 */
KI_API size_t ki_leader_holder(const ki_leader *leader, char *buffer, size_t buffer_bytes);

/** The identity of this contender; "" for NULL. Lives as long as the leader. */
KI_API const char *ki_leader_identity(const ki_leader *leader);

KI_EXTERN_C_END

#endif
