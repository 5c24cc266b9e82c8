/* SPDX-License-Identifier: Apache-2.0 */
/* sim_server - a Kubernetes API server without sockets, which behaves as well or as badly as a test wants.
 *
 *   From:     sim/ and tests under a virtual clock; a reflector, by its ki_list_watch
 *   To:       support/sim/sim_world.h (the objects and their history), four calls that deliver an answer
 *   Locks:    none; one thread, which also moves the clock.
 *   Not here: changing the objects; checking a client's state.
 *
 * LIST: the newest state, any state, or one not older than a version; pages of one state. WATCH: the
 * history after a version, then new changes, with bookmarks; also streamed lists. Answers are delivered in
 * pieces, by a virtual clock. The loop of a simulation: change the world, call sim_server_step(), let the
 * client work, and move the clock to the earlier of sim_server_next_ns() and the client's next due time.
 *
 * When the world's history is reset, every open answer ends with KI_REASON_CONNECTION_LOST, as when a server
 * restarts. One seed gives one exact run. It ends the program if out of memory.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_SERVER_H
#define KI_TESTS_SUPPORT_SIM_SIM_SERVER_H

#include <kinformer/list_watch.h>

#include "support/sim/sim_world.h"
#include "util/clock.h"

typedef struct sim_server sim_server;

/* How likely each fault is, 0 to 1. All zero: a server without faults. */
#define SIM_FAULTS(X)                                                                                        \
    /* Allowed behaviour, per request: */                                                                    \
    X(eager)              /* a part of the answer is delivered inside `begin` and `resume` */                \
    X(limit_ignored)      /* a whole list instead of a page */                                               \
    X(metadata_last)      /* a list's metadata comes after its items */                                      \
    X(expired_as_status)  /* an expired version gives 410, not an ERROR event */                             \
    X(watch_list_refused) /* 422 for a watch that begins with the list */                                    \
    X(short_watch)        /* a watch ends normally after 0 to 3 events */                                    \
    /* Faults, per request: */                                                                               \
    X(begin_fails)        /* `begin` returns KI_ERR_NO_MEMORY */                                             \
    X(refuse)             /* KI_REASON_CONNECTION_REFUSED */                                                 \
    X(http_500)           /* with a Status or other text */                                                  \
    X(http_429)           /* with Retry-After, 1 to 5 s */                                                   \
    X(empty_body)         /* 200 and an empty body */                                                        \
    X(cut_body)           /* a list, or the start of a watch: KI_REASON_CONNECTION_LOST at any byte */       \
    X(stall)              /* nothing more is sent, from any byte on or before the head */                    \
    X(stale_list)         /* a list, or the start of a watch, is older than the version asked for */         \
    X(stale_quorum)       /* the same for the newest version: to a client it looks like a reset */           \
    X(watch_list_endless) /* the list at the start of a watch has no end */                                  \
    X(token_cycle)        /* the last page of a list leads to the first one */                               \
    /* Faults, per event, and per item where noted: */                                                       \
    X(cut_between)     /* KI_REASON_CONNECTION_LOST instead of it */                                         \
    X(cut_in_event)    /* KI_REASON_CONNECTION_LOST inside it */                                             \
    X(duplicate_event) /* an earlier event of this watch is repeated before it */                            \
    X(malformed_event) /* a JSON object that is not an event, before it or instead of it */                  \
    X(garbage)         /* text that is not a JSON object before it; reading cannot continue */               \
    X(error_event)     /* an ERROR event of code 500 instead of it, then the end */                          \
    X(malformed_item)  /* the object, also an item's, has a readable key and a UID that is not a string */   \
    X(huge_item)       /* the object, also an item's, is longer than SIM_HUGE_BYTES */

typedef struct sim_faults {
#define SIM_FAULT_CHANCE(name) double name;
    SIM_FAULTS(SIM_FAULT_CHANCE)
#undef SIM_FAULT_CHANCE
    uint32_t lag_records_max; /* a list of RV "0" or "not older" may be this many records behind */
} sim_faults;

/* Requests of some kinds, and how they are answered until that is changed. */
typedef enum sim_kind { /* can be combined */
                        SIM_LISTS = 1,
                        SIM_WATCHES = 2,
                        SIM_STREAMS = 4,
                        SIM_NEWEST = 8, /* lists and streams of the newest version */
                        SIM_CACHED = 16 /* all other lists and streams */
} sim_kind;

#define SIM_MANNERS(X)                                                                                       \
    X(ANSWERS_401)                                                                                           \
    X(ANSWERS_403)                                                                                           \
    X(ANSWERS_500)                                                                                           \
    X(ANSWERS_503)                                                                                           \
    X(RESETS)             /* KI_REASON_CONNECTION_LOST, after the request was sent */                        \
    X(RESETS_BEHIND_HEAD) /* the same, after a head of 200 */                                                \
    X(ENDS)               /* 200 and an empty body */                                                        \
    X(IS_SILENT)          /* nothing is sent */                                                              \
    X(IS_SILENT_LATER)    /* a head of 200, a space, and then nothing */                                     \
    X(CYCLES)             /* lists: the last page leads to the first one; others: like ENDS */               \
    X(LACKS_END)          /* streams: the end of the list is missing; others: like ENDS */                   \
    X(MAKES_NO_SENSE)     /* watches, streams: junk instead of bookmarks; lists: like ENDS */                \
    X(BOOKMARKS_NOTHING)  /* watches, streams: only bookmarks without a version; lists: like ENDS */

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

/* How often each fault has happened, and the requests. */
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
    uint64_t silent;    /* watches from a version that does not exist yet */
    uint64_t misuse;    /* by the client: of a request that is not open, or a list of exactly one version */
} sim_counts;

/* The calls that deliver an answer, like the four of <kinformer/list_watch.h>. */
typedef struct sim_calls {
    void (*sent)(ki_answer *answer);
    void (*head)(ki_answer *answer, int http_status, uint32_t retry_after_seconds);
    int (*body)(ki_answer *answer, const char *bytes, size_t n);
    void (*end)(ki_answer *answer, ki_reason reason, const char *message);
} sim_calls;

/* The library's calls; in a separate file. */
extern const sim_calls sim_library_calls;

typedef struct sim_server_options {
    sim_world *world;      /* borrowed, like the next two */
    const ki_clock *clock; /* a virtual one */
    const sim_calls *calls;
    uint64_t seed;
    sim_faults faults;
    uint64_t latency_ns_max; /* between two pieces; 0: everything due comes in one step */
    uint64_t bookmark_ns;    /* between two bookmarks; 0: a minute */
    size_t piece_bytes_max;  /* 0: everything ready is sent as one piece */
    int tells_sent;          /* as in ki_list_watch */
} sim_server_options;

sim_server *sim_server_new(const sim_server_options *options);

/* Open answers are dropped, without a callback. */
void sim_server_free(sim_server *server);

/* For any number of informers. The server must outlive them; `release` is NULL. */
ki_list_watch sim_server_list_watch(sim_server *server);

/* Applies to requests and events from now on. */
void sim_server_set_faults(sim_server *server, const sim_faults *faults);

/* Applies until it is called again; requests of these kinds that are in progress are cut. */
void sim_server_break(sim_server *server, sim_breakage breakage);

/* From now on bodies are delivered whole and at once. */
void sim_server_calm(sim_server *server);

/* The time of the next delivery, as far as it is known; UINT64_MAX: never.
 * A change of the world may make it earlier. */
uint64_t sim_server_next_ns(const sim_server *server);

/* Delivers everything that is due. */
void sim_server_step(sim_server *server);

/* Ends all open answers with KI_REASON_CONNECTION_LOST. */
void sim_server_cut_all(sim_server *server);

size_t sim_server_open_count(const sim_server *server);
const sim_counts *sim_server_counts(const sim_server *server);

#endif
