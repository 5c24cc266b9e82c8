/* SPDX-License-Identifier: Apache-2.0 */
/* reflector - lists and watches one collection until it is stopped, and reports changes.
 *
 *   From:     reflector/life.c; informer/informer_run.c, informer/informer_status.c and feed/, which own one;
 *             answers of a ki_list_watch (io: heads, bodies and ends), a timer
 *   To:       `on_change`: informer/informer_run.c (ki_informer_take_change), feed/feed_apply.c
 *   Locks:    status_mu, a leaf, for readers of the status; everything else belongs to io.
 *   Not here: sockets and threads; what a change does to the store.
 *
 * A state machine. reflector.c begins requests, and reflector_due.c keeps the deadlines. reflector_list.c,
 * reflector_stream.c, reflector_watch.c and reflector_probe.c each handle one kind of request, and
 * reflector_poll.c handles watches that bring nothing. reflector_wire.c chooses the format, reflector_give.c
 * passes changes on, and reflector_status.c keeps the status. `version` is the received version: everything
 * up to it was passed to on_change and accepted, or was refused and reported. No request is for an older
 * version.
 */
#ifndef KI_REFLECTOR_REFLECTOR_H
#define KI_REFLECTOR_REFLECTOR_H

#include <kinformer/change.h>
#include <kinformer/informer.h>
#include <kinformer/list_watch.h>

#include "api/object/object_plan.h"
#include "api/object/resource_version.h"
#include "client/stream_memory.h"
#include "client/wire_memory.h"
#include "reflector/answer.h"
#include "reflector/backoff.h"
#include "reflector/reflector_metrics.h"
#include "util/clock.h"
#include "util/loop/loop.h"
#include "util/thread.h"
#include "util/token_bucket.h"

typedef struct ki_reflector ki_reflector;

/* Texts and pointers are borrowed for the reflector's life, except list_watch, which is copied. */
typedef struct ki_reflector_options {
    ki_list_watch list_watch; /* `release` is called by ki_reflector_fini() */
    ki_object_plan *plan;
    const ki_informer_options *informer; /* pages, watch_list, backoff, selectors, tweak, transform */
    const ki_clock *clock;
    uint64_t seed; /* for jitter and watch time-outs; 0: random */
    ki_change_cb on_change;
    void (*on_error)(const ki_informer_error *error, void *user); /* NULL: none */
    void (*on_status)(void *user);                 /* called after phase or reason has changed; NULL: none */
    void (*schedule)(uint64_t due_ns, void *user); /* when to call ki_reflector_tick(); UINT64_MAX: never */
    void *user;                                    /* for the four callbacks above */
    /* `streams` and `wires` are used on io, and are shared by all reflectors of one server; NULL: not shared.
     * `resource` is their key for this collection. */
    ki_stream_memory *streams;
    ki_wire_memory *wires;
    const ki_resource *resource;
    const ki_reflector_metrics *metrics; /* NULL: nothing is counted */
    ki_wire wire;
    size_t key_bytes_max; /* objects with a longer key are refused; 0: no limit */
} ki_reflector_options;

/* ---- what it is made of: for reflector/reflector*.c ---------------------------------------------------- */

/* The current request (`doing`) or the next one (`next`). */
typedef enum ki_reflector_step {
    KI_STEP_NONE = 0,
    KI_STEP_SYNC,       /* next only: a list, of either kind */
    KI_STEP_WHOLE_LIST, /* next only: a LIST without pages */
    KI_STEP_LIST,       /* a LIST; as the next step, even if the list could be streamed */
    KI_STEP_PAGE,       /* next only: the next page of a LIST, or the page that has failed */
    KI_STEP_STREAM,     /* a watch before the end of its list */
    KI_STEP_WATCH
} ki_reflector_step;

/* One attempt to list. */
typedef struct ki_list_attempt {
    uint32_t number; /* counts all attempts of this reflector */
    uint64_t begun_ns;
    int is_quorum; /* the newest version was requested */
    int is_whole;  /* without pages */
    int has_given; /* an item was passed on */
    int has_news;  /* an item is newer than the received version; only set while lists replace watches */
    uint64_t items;
    int was_interrupted;         /* a page has failed: the server may have another history now */
    uint32_t pages;              /* complete pages */
    uint32_t page_failures;      /* of the requested page */
    uint64_t page_ns;            /* when that page was first requested */
    int page_has_items;          /* the page requested now, or last, has brought an item */
    ki_backoff page_backoff;     /* for the retries of that page */
    ki_resource_version version; /* the version of the first page */
    ki_buf continue_token;
    ki_buf marked_token; /* the token after the last page whose number is a power of two */
} ki_list_attempt;

/* One watch, from its request. */
typedef struct ki_watch_attempt {
    uint64_t begun_ns;
    uint64_t deadline_ns;
    uint64_t bookmark_ns; /* when the last bookmark arrived; UINT64_MAX: none has */
    uint64_t item_ns;     /* when the last item of its list arrived; before that, when the request was sent */
    int was_heard;        /* a head or bytes have arrived, and not of an error */
    int has_news;         /* it has brought something newer than the version it began with */
    int has_result;  /* an event or a bookmark has arrived, apart from the list it may have started with */
    int was_paused;  /* paused since it began, or since its list ended: send times are unknown */
    int is_unproven; /* started after a failure: the server may have another history */
} ki_watch_attempt;

/* The one-item list beside a watch, which detects another history of the server. */
typedef struct ki_history_probe {
    ki_resource_version base;    /* ki_reflector_list_floor() when the probe began */
    ki_resource_version version; /* its result */
    uint64_t begun_ns;
    uint64_t not_before_ns; /* the earliest time of the next probe */
    int is_last_hope;       /* the watch is silent: it is cut whatever the result */
    int has_item;
} ki_history_probe;

/* Watches that bring nothing, and the lists that replace them. */
typedef struct ki_reflector_poll {
    uint32_t fruitless;     /* watches in a row that brought neither event nor bookmark */
    int was_counted;        /* the last watch was counted as one of them */
    int is_listing;         /* the current or next list replaces a watch: if it fails, a watch may follow */
    int has_failed;         /* the last such list has failed: nothing replaces the watches */
    uint64_t interval_ns;   /* minimum time between lists */
    uint64_t not_before_ns; /* the earliest time of the next such list */
    uint64_t items;         /* number of items of the last list; UINT64_MAX: events have arrived since */
} ki_reflector_poll;

/* What the status is made from. The members that end in _ns are points in time; UINT64_MAX means never. */
typedef struct ki_reflector_report {
    ki_phase phase;
    ki_reason reason;
    int http_status;
    int is_unanswered; /* a request has been sent, and no response has begun */
    uint64_t phase_ns;
    uint64_t byte_ns;
    uint64_t event_ns;
    uint64_t bookmark_ns;
    uint64_t success_ns; /* when the last accepted event or bookmark arrived, or the last complete list
                          * began */
    uint64_t retry_ns;
    uint64_t lists;
    uint64_t watches;
    uint64_t reconnects;
    uint64_t events;
    uint64_t refused;
    uint64_t bytes_read;
    ki_wire wire; /* the format of the last response; AUTO: there was none */
    uint64_t unknown_fields;
    ki_str unknown_message; /* the message type with the first unknown field; constant text */
    uint32_t unknown_number;
    char message[KI_ERROR_MESSAGE_BYTES];
} ki_reflector_report;

struct ki_reflector {
    ki_reflector_options options;
    ki_random random;
    ki_backoff backoff;
    ki_token_bucket bucket;

    ki_reflector_step doing;
    ki_reflector_step next;
    uint64_t next_ns;          /* when `next` begins */
    int next_is_forced;        /* does not need a token */
    int depth;                 /* number of nested calls on the stack; the outermost begins the next
                                * request */
    ki_deferred end_of_pieces; /* updates the status and the timer */
    int is_full;               /* on_change has returned 1: the destination is full */
    int is_ready;              /* initialised */
    uint64_t scheduled_ns;     /* the last argument of `schedule` */
    uint64_t behind_ns;        /* when unread bytes began to wait; UINT64_MAX: none wait */
    uint64_t resumed_ns;       /* when the last pause ended */
    uint64_t quiet_ns;         /* when the silence of `answer` began, not counting pauses */
    uint64_t little_ns;        /* when the current measurement of a list's speed began, */
    size_t little_bytes;       /* and the bytes that have arrived since then */
    ki_answer answer;
    ki_answer probe_answer;

    ki_resource_version version;
    ki_resource_version stopped_version; /* received before a stop, which dropped some of the changes */
    int wants_quorum;                    /* the next list requests the newest version */
    int trusts_lists;                    /* until a list has ended, items are applied before the end of their
                                          * list */
    int owes_reset;                      /* the next list begins with RESET */
    int is_new_history;                  /* no list is known to have been applied since the last reset */
    int has_expired;                     /* a watch has expired, and none since has brought anything new */
    int owes_list;                       /* a list was due, or in progress, when it was halted */
    ki_list_attempt list;
    ki_watch_attempt watch;
    ki_reflector_poll poll;
    ki_history_probe probe;

    uint32_t failed_streams;       /* in a row */
    uint32_t failed_lists;         /* in a row; 1 after a success of the kind that is not the usual one */
    uint64_t stream_again_ns;      /* until then LISTs replace streams, for this resource only */
    int has_list_failed;           /* the last list was sent and has failed: the next may be a stream */
    int is_listed_instead;         /* streams have failed, and no LIST has succeeded since */
    uint64_t json_until_ns;        /* until then only JSON is requested, by this reflector only */
    uint64_t bookmark_interval_ns; /* measured for this server; 0: no bookmark has arrived */
    uint64_t relist_ns;            /* when a list is due because of an invalid event; UINT64_MAX: none is */
    uint64_t relisted_ns;          /* when the last list for that reason began; UINT64_MAX: never */

    ki_reflector_report report; /* used on io only, like told_phase and told_reason */
    ki_phase told_phase;        /* phase and reason at the last call of on_status */
    ki_reason told_reason;
    ki_reflector_report published; /* guarded by status_mu */
    ki_mutex status_mu;
};

/* ---- calls ----------------------------------------------------------------------------------------- */

/* Returns 0; KI_ERR_INVALID: lists must be streamed, but the source does not stream;
 * KI_ERR_SYSTEM: no random seed. */
KI_NODISCARD int ki_reflector_init(ki_reflector *reflector, const ki_reflector_options *options,
                                   ki_error *err);

/* It must have been halted. A zeroed struct is allowed. */
void ki_reflector_fini(ki_reflector *reflector);

/* Starts. The store is complete up to `version`; unset means that nothing is known. */
void ki_reflector_begin(ki_reflector *reflector, const ki_resource_version *version);

/* Call it before ki_reflector_begin() to begin with a list in any case. */
void ki_reflector_require_list(ki_reflector *reflector);

/* Cancels all requests. The phase is STOPPED then; ki_reflector_begin() may follow. */
void ki_reflector_halt(ki_reflector *reflector);

/* The time that `schedule` named has come. */
void ki_reflector_tick(ki_reflector *reflector);

/* After on_change has returned 1: changes are accepted again. */
void ki_reflector_resume(ki_reflector *reflector);

/* Too many items of this attempt are held back, because the list has not yet proved that it is not older than
 * the store. If the attempt is still in progress, it is abandoned for a list of the newest version, whose
 * items are applied at once. */
void ki_reflector_doubt_list(ki_reflector *reflector, uint32_t list);

/* Call it inside on_change: returns when the change arrived. After a pause this is not known, since the bytes
 * may have waited in a socket; then it returns the time when the pause began,
 * until everything has been read. */
uint64_t ki_reflector_received_ns(ki_reflector *reflector);

/* Begins the next request now, despite back-off and pacing; nothing while a request runs. */
void ki_reflector_retry_now(ki_reflector *reflector);

/* Any thread. Fills in the members that belong to the reflector: phase, reason, http_status, ages, retry_ms,
 * lists, watches, reconnects, events, refused, bytes_read, wire, unknown_…, message. */
void ki_reflector_read_status(const ki_reflector *reflector, ki_informer_status *out_status);

#endif
