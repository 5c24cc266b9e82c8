/* SPDX-License-Identifier: Apache-2.0 */
/* reflector - lists and watches one collection, for ever, and says what it learns.
 *
 *   From:     a ki_list_watch (io: heads, bodies and ends of answers), a timer
 *   To:       `on_change`: queue/delta_fifo.c
 *   Locks:    status_mu, a leaf, for who reads the status; all else is io's.
 *   Not here: sockets and threads; what a change does to the store.
 *
 * A state machine: reflector.c begins requests and knows when something is due; reflector_list.c,
 * reflector_stream.c, reflector_watch.c and reflector_probe.c say what comes of each kind, reflector_poll.c
 * what is done about watches that bring nothing;
 * reflector_give.c hands on what they bring; reflector_status.c tells how it is. `version` is how far it has
 * received: all that was handed to on_change and taken. What it asks for is never older than that.
 */
#ifndef KI_REFLECTOR_REFLECTOR_H
#define KI_REFLECTOR_REFLECTOR_H

#include <kinformer/change.h>
#include <kinformer/informer.h>
#include <kinformer/list_watch.h>

#include "api/object/object_plan.h"
#include "api/object/resource_version.h"
#include "client/stream_memory.h"
#include "reflector/answer.h"
#include "reflector/backoff.h"
#include "reflector/reflector_metrics.h"
#include "util/clock.h"
#include "util/thread.h"
#include "util/token_bucket.h"

typedef struct ki_reflector ki_reflector;

/* Texts and pointers are borrowed for the reflector's life, but for list_watch, which is copied. */
typedef struct ki_reflector_options {
    ki_list_watch list_watch; /* `release` is called by ki_reflector_fini() */
    ki_object_plan *plan;
    const ki_informer_options *informer; /* pages, watch_list, backoff, selectors, tweak, transform */
    const ki_clock *clock;
    uint64_t seed; /* of jitter and watch time-outs; 0: random */
    ki_change_cb on_change;
    void (*on_pause)(
        void *user); /* no change follows at once: time to go to work on them. NULL: nobody waits */
    void (*on_error)(const ki_watch_error *error, void *user); /* NULL: nobody listens */
    void (*on_status)(void *user);                 /* phase or reason has changed; NULL: nobody listens */
    void (*schedule)(uint64_t due_ns, void *user); /* call ki_reflector_tick() then; UINT64_MAX: never */
    void *user;                                    /* of the four */
    /* Io's, of all reflectors of one server, with what is listed here. NULL: this one speaks for itself. */
    ki_stream_memory *streams;
    const ki_resource *resource;
    const ki_reflector_metrics *metrics; /* NULL: nothing is counted */
    size_t key_bytes_max;                /* what has a longer key is refused; 0: nothing is */
} ki_reflector_options;

/* ---- what it is made of: for reflector/reflector*.c ---------------------------------------------------- */

/* Which request is under way, and which one is begun next. */
typedef enum ki_reflector_step {
    KI_STEP_NONE = 0,
    KI_STEP_SYNC,       /* next only: a list, in the one way or the other */
    KI_STEP_WHOLE_LIST, /* next only: a LIST without pages */
    KI_STEP_LIST,       /* next: also when it might be streamed */
    KI_STEP_PAGE,       /* next only: the next page of a LIST, or the same again */
    KI_STEP_STREAM,     /* a watch before the end of its list */
    KI_STEP_WATCH
} ki_reflector_step;

/* One attempt to list. */
typedef struct ki_list_attempt {
    uint32_t number; /* counts over the reflector's life */
    uint64_t begun_ns;
    int is_quorum; /* the newest was asked for */
    int is_whole;  /* without pages */
    int has_given; /* an item of it */
    int has_news;  /* an item newer than what was received, if anybody wants to know */
    uint64_t items;
    int was_interrupted;         /* by a page that failed: the server may have another history since */
    uint32_t pages;              /* that are complete */
    uint32_t page_failures;      /* of the page that is asked for */
    uint64_t page_ns;            /* when that was first asked for */
    int page_has_items;          /* the one that is asked for, or was last */
    ki_backoff page_backoff;     /* between its failures */
    ki_resource_version version; /* of its first page */
    ki_buf continue_token;
    ki_buf marked_token; /* the one behind the last page whose number is a power of two */
} ki_list_attempt;

/* One watch, from its request on. */
typedef struct ki_watch_attempt {
    uint64_t begun_ns;
    uint64_t deadline_ns;
    uint64_t bookmark_ns; /* of its last bookmark; UINT64_MAX: none */
    uint64_t item_ns;     /* of the last item of its list; before that, when it was sent */
    int was_heard;        /* anything but an error */
    int has_news;         /* something newer than what was known when it began */
    int has_fruit;        /* an event, or a bookmark, behind the list that it may have begun with */
    int was_paused;       /* since its list: when something was sent is not known */
    int is_unproven;      /* begun after a failure: may be a server with another history */
} ki_watch_attempt;

/* The one-item list beside a watch, to tell whether the server's history is another one. */
typedef struct ki_history_probe {
    ki_resource_version base;    /* `version` when it began */
    ki_resource_version version; /* what it brought */
    uint64_t begun_ns;
    uint64_t not_before_ns; /* of the next */
    int is_last_hope;       /* the watch is silent: it is cut in any case */
    int has_item;
} ki_history_probe;

/* Watches that bring nothing, and the lists that make up for them. */
typedef struct ki_reflector_poll {
    uint32_t fruitless;     /* watches in a row that brought neither event nor bookmark */
    int was_counted;        /* the last watch, as one of them */
    int is_listing;         /* the list that is under way, or next, is such a list: it need not succeed */
    int has_failed;         /* the last of them: nothing makes up for the watches */
    uint64_t interval_ns;   /* from one list to the next, at the least */
    uint64_t not_before_ns; /* of the next */
    uint64_t items;         /* of the last list; UINT64_MAX: events have come since */
} ki_reflector_poll;

/* What is known for the status. Moments; UINT64_MAX: never. */
typedef struct ki_reflector_report {
    ki_phase phase;
    ki_reason reason;
    int http_status;
    uint64_t phase_ns;
    uint64_t byte_ns;
    uint64_t event_ns;
    uint64_t bookmark_ns;
    uint64_t success_ns; /* of the last event or bookmark that was taken, or the end of a list */
    uint64_t retry_ns;
    uint64_t lists;
    uint64_t watches;
    uint64_t reconnects;
    uint64_t events;
    uint64_t refused;
    uint64_t bytes_read;
    char message[KI_ERROR_MESSAGE_BYTES];
} ki_reflector_report;

struct ki_reflector {
    ki_reflector_options options;
    ki_random random;
    ki_backoff backoff;
    ki_token_bucket bucket;

    ki_reflector_step doing;
    ki_reflector_step next;
    uint64_t next_ns;      /* when `next` is begun */
    int next_is_forced;    /* without a token */
    int depth;             /* calls of ours that are on the stack: the outermost begins what is next */
    int is_full;           /* on_change has returned 1 */
    int is_ready;          /* initialised */
    uint64_t scheduled_ns; /* what `schedule` was told */
    uint64_t behind_ns;    /* since when not all is read that has come; UINT64_MAX: all is */
    uint64_t room_ns;      /* when there was room again, the last time */
    uint64_t quiet_ns;     /* since when nothing was heard on `answer` while it was not full */
    uint64_t little_ns;    /* since when it was too little for a list, */
    size_t little_bytes;   /* and how much that was */
    ki_answer answer;
    ki_answer probe_answer;

    ki_resource_version version;
    int wants_quorum; /* the next list asks for the newest */
    int trusts_lists; /* until one has ended: what it brings is believed before that */
    int owes_reset;   /* the next list begins with RESET */
    int has_expired;  /* a watch, and none since has brought news */
    int owes_list;    /* one was due, or under way, when it was halted */
    ki_list_attempt list;
    ki_watch_attempt watch;
    ki_reflector_poll poll;
    ki_history_probe probe;

    uint32_t failed_streams;       /* in a row */
    uint64_t stream_again_ns;      /* until then a LIST is used instead; of this one alone */
    int is_listed_instead;         /* streams have failed, and no LIST has succeeded since */
    uint64_t bookmark_interval_ns; /* of this server; 0: it has sent none */
    uint64_t relist_ns;            /* because of an event that made no sense; UINT64_MAX: none is due */
    uint64_t relisted_ns;          /* when that was last done; UINT64_MAX: never */

    ki_reflector_report report; /* io's, as the next two */
    ki_phase told_phase;        /* what on_status was last called for */
    ki_reason told_reason;
    ki_reflector_report published; /* guarded by status_mu */
    ki_mutex status_mu;
};

/* ---- calls ----------------------------------------------------------------------------------------- */

/* Returns 0; KI_ERR_INVALID: lists are always to be streamed, and the source streams none; KI_ERR_SYSTEM (no
 * random seed). */
KI_NODISCARD int ki_reflector_init(ki_reflector *reflector, const ki_reflector_options *options,
                                   ki_error *err);

/* Halted before. Takes a zeroed struct. */
void ki_reflector_fini(ki_reflector *reflector);

/* Goes to work: `version` is how far the store is complete; unset: nothing is known. */
void ki_reflector_begin(ki_reflector *reflector, const ki_resource_version *version);

/* Before that: it begins with a list in any case. */
void ki_reflector_owe_list(ki_reflector *reflector);

/* Cancels what is under way. The phase is STOPPED then; ki_reflector_begin() may follow. */
void ki_reflector_halt(ki_reflector *reflector);

/* The time that `schedule` named has come. */
void ki_reflector_tick(ki_reflector *reflector);

/* After on_change has returned 1: there is room again. */
void ki_reflector_room(ki_reflector *reflector);

/* Too much of this attempt to list waits for the proof that it is not older than what we have: if it is still
 * under way, it is given up for one of the newest version, which is believed from its beginning. */
void ki_reflector_doubt_list(ki_reflector *reflector, uint32_t list);

/* Inside on_change: when the change came. After a pause that is not known, since it may have waited in a
 * socket: then it is when the pause began, until all has been read. */
uint64_t ki_reflector_received_ns(ki_reflector *reflector);

/* Ends a back-off now. */
void ki_reflector_retry_now(ki_reflector *reflector);

/* Any thread: fills in the members that the reflector knows: phase, reason, http_status, ages, retry_ms,
 * lists, watches, reconnects, events, refused, bytes_read, message. */
void ki_reflector_read_status(ki_reflector *reflector, ki_informer_status *out_status);

#endif
