/* SPDX-License-Identifier: Apache-2.0 */
/* sim_server - a Kubernetes API server without sockets, as good or as bad as a test wants it.
 *
 *   From:     simulations; users of a ki_list_watch: reflector/reflector.c
 *   To:       support/sim_world.h (what there is to tell), four calls that bring an answer
 *   Locks:    none; one thread, which also moves the clock.
 *   Not here: what happens to the objects; checking what a client made of it.
 *
 * LIST: the newest state, any, or one not older than a version; pages of one state. WATCH: what is in the
 * history after a version, then what happens, with bookmarks; also one that begins with the list. Answers
 * travel in pieces over the time of a virtual clock. A simulation's loop: change the world,
 * sim_server_step(), let the client work, move the clock to the earliest of sim_server_next_ns() and what the
 * client waits for.
 *
 * When the world's history is reset every answer that is under way ends with KI_REASON_CONNECTION_LOST, as
 * when a server starts again. One seed, one exact run. What runs out of memory ends the program.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SERVER_H
#define KI_TESTS_SUPPORT_SIM_SERVER_H

#include <kinformer/list_watch.h>

#include "support/sim_world.h"
#include "util/clock.h"

typedef struct sim_server sim_server;

/* How likely each is, 0 to 1. All zero is a server without fault. */
#define SIM_FAULTS(X)                                                                                        \
    /* What a server may do. Of a request: */                                                                \
    X(eager)              /* some of the answer comes inside `begin` and `resume` */                         \
    X(limit_ignored)      /* a whole list where a page was asked for */                                      \
    X(metadata_last)      /* a list's metadata comes after its items */                                      \
    X(expired_as_status)  /* a watch from too old a version: 410, else an ERROR event */                     \
    X(watch_list_refused) /* 422 for a watch that begins with the list */                                    \
    X(short_watch)        /* a watch ends well after 0 to 3 events */                                        \
    /* What it should not do. Of a request: */                                                               \
    X(begin_fails)        /* `begin` returns KI_ERR_NO_MEMORY */                                             \
    X(refuse)             /* KI_REASON_CONNECTION_REFUSED */                                                 \
    X(http_500)           /* with a Status, or some text */                                                  \
    X(http_429)           /* with Retry-After, 1 to 5 s */                                                   \
    X(empty_body)         /* 200 and nothing */                                                              \
    X(cut_body)           /* a list, or what a watch begins with: KI_REASON_CONNECTION_LOST at any byte */   \
    X(stall)              /* nothing more comes, at any byte or before the head */                           \
    X(stale_list)         /* a list, or what a watch begins with, is older than the version asked for */     \
    X(stale_quorum)       /* likewise when the newest was asked for: to a client it is a reset of history */ \
    X(watch_list_endless) /* what a watch begins with lacks its end */                                       \
    X(token_cycle)        /* the last page of a list leads to the first one */                               \
    /* Of each event, and of items where it says so: */                                                      \
    X(cut_between)     /* KI_REASON_CONNECTION_LOST instead of it */                                         \
    X(cut_in_event)    /* KI_REASON_CONNECTION_LOST inside it */                                             \
    X(duplicate_event) /* one that this watch has had comes again before it */                               \
    X(malformed_event) /* a JSON object that is not an event comes before it, or instead */                  \
    X(garbage)         /* something that is not a JSON object comes before it; reading cannot continue */    \
    X(error_event)     /* an ERROR event of code 500 instead of it, and the end */                           \
    X(malformed_item)  /* the object, also an item's, has a readable key and a UID that is not a string */   \
    X(huge_item)       /* the object, also an item's, is longer than SIM_HUGE_BYTES */

typedef struct sim_faults {
#define SIM_FAULT_CHANCE(name) double name;
    SIM_FAULTS(SIM_FAULT_CHANCE)
#undef SIM_FAULT_CHANCE
    uint32_t lag_records_max; /* a list of RV "0" or "not older" may be this many records behind */
} sim_faults;

/* Requests of some kinds, and how they are answered for as long as it lasts. */
typedef enum sim_kind { SIM_LISTS = 1, SIM_WATCHES = 2, SIM_STREAMS = 4 } sim_kind; /* or several of them */

#define SIM_MANNERS(X)                                                                                       \
    X(ANSWERS_401)                                                                                           \
    X(ANSWERS_403)                                                                                           \
    X(ANSWERS_500)                                                                                           \
    X(ANSWERS_503)                                                                                           \
    X(RESETS)             /* KI_REASON_CONNECTION_LOST, after the request was sent */                        \
    X(RESETS_BEHIND_HEAD) /* likewise behind a head of 200 */                                                \
    X(ENDS)               /* 200 and nothing */                                                              \
    X(IS_SILENT)          /* nothing comes */                                                                \
    X(IS_SILENT_LATER)    /* a head of 200, a blank, and then nothing */                                     \
    X(CYCLES)             /* lists: the last page leads to the first one; others: as ENDS */                 \
    X(LACKS_END)          /* streams: the end of the list does not come; others: as ENDS */                  \
    X(MAKES_NO_SENSE)    /* watches, streams: no events where bookmarks are due, but junk; lists: as ENDS */ \
    X(BOOKMARKS_NOTHING) /* watches, streams: bookmarks without a version, and nothing else; likewise */

typedef enum sim_manner {
#define SIM_MANNER(name) SIM_##name,
    SIM_MANNERS(SIM_MANNER)
#undef SIM_MANNER
        SIM_MANNER_COUNT
} sim_manner;

typedef struct sim_breakage {
    unsigned kinds; /* 0: nothing is broken */
    sim_manner manner;
} sim_breakage;

/* How often each has happened, and what was asked for. */
typedef struct sim_counts {
#define SIM_FAULT_COUNT(name) uint64_t name;
    SIM_FAULTS(SIM_FAULT_COUNT)
#undef SIM_FAULT_COUNT
    uint64_t broken; /* requests of a kind that was broken */
    uint64_t lists;  /* pages */
    uint64_t watches;
    uint64_t watch_lists; /* of the watches */
    uint64_t events;      /* without bookmarks */
    uint64_t bookmarks;
    uint64_t expired;   /* 410 */
    uint64_t too_large; /* 504 */
    uint64_t silent;    /* watches from a version that is still to come */
    uint64_t
        misuse; /* by the client: cancelled or resumed what it has not begun, or what has ended; asked for
                         * a list of just one version */
} sim_counts;

/* How an answer is brought: as the four of <kinformer/list_watch.h>. */
typedef struct sim_calls {
    void (*sent)(ki_answer *answer);
    void (*head)(ki_answer *answer, int http_status, uint32_t retry_after_seconds);
    int (*body)(ki_answer *answer, const char *bytes, size_t n);
    void (*end)(ki_answer *answer, ki_reason reason, const char *message);
} sim_calls;

/* The library's; in a file of its own. */
extern const sim_calls sim_library_calls;

typedef struct sim_server_options {
    sim_world *world;      /* borrowed, as the two below */
    const ki_clock *clock; /* a virtual one */
    const sim_calls *calls;
    uint64_t seed;
    sim_faults faults;
    uint64_t latency_ns_max; /* between two pieces; 0: all that is due comes in one step */
    uint64_t bookmark_ns;    /* from one bookmark to the next; 0: a minute */
    size_t piece_bytes_max;  /* 0: what is ready comes whole */
    int tells_sent;          /* as in ki_list_watch */
} sim_server_options;

sim_server *sim_server_new(const sim_server_options *options);

/* Answers that are under way are dropped without a word. */
void sim_server_free(sim_server *server);

/* For any number of informers. The server lives longer than they; `release` is NULL. */
ki_list_watch sim_server_list_watch(sim_server *server);

/* For what begins from now on, and for events from now on. */
void sim_server_set_faults(sim_server *server, const sim_faults *faults);

/* From now on, until it is called again; what is under way of these kinds is cut. */
void sim_server_break(sim_server *server, sim_breakage breakage);

/* Texts come as a whole and at once from now on. */
void sim_server_calm(sim_server *server);

/* When there is something to bring, as far as is known now; UINT64_MAX: never. A change of the world may make
 * it earlier. */
uint64_t sim_server_next_ns(const sim_server *server);

/* Brings what is due. */
void sim_server_step(sim_server *server);

/* Ends all that is under way with KI_REASON_CONNECTION_LOST. */
void sim_server_cut_all(sim_server *server);

size_t sim_server_open_count(const sim_server *server);
const sim_counts *sim_server_counts(const sim_server *server);

#endif
