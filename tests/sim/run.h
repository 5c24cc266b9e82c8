/* SPDX-License-Identifier: Apache-2.0 */
/* run - one simulated run of some informers: what a seed decides, what happens, and the checks at the end.
 *
 *   From:     sim_informer.c, sim_no_memory.c
 *   To:       support/sim/sim_world.h, support/sim/sim_server.h, the informer through its public calls
 *   Locks:    none; one thread.
 *   Not here: the server's faults.
 *
 *   plan.c     which world, which server, which options: all derived from the seed
 *   follower.c one informer, and the calls to it
 *   witness.c  one handler, and whether the events that it gets can be true
 *   life.c     the rounds: the world changes, time passes, a loop runs
 *   trial.c    requests of one kind are broken for a long time
 *   verdict.c  the end: the world stops changing, and everything must be correct
 *
 * Some internals of the library are read to see how far an informer has got, and its loops are run one by
 * one, in any order, as threads would run them. One seed gives one exact run.
 */
#ifndef KI_TESTS_SIM_RUN_H
#define KI_TESTS_SIM_RUN_H

#include <kinformer.h>
#include <stdbool.h>

#include "informer/informer.h"
#include "support/sim/sim_server.h"
#include "util/random.h"

#define SIM_NS_PER_MS UINT64_C(1000000)
#define SIM_NS_PER_S UINT64_C(1000000000)

enum { SIM_FOLLOWERS_MAX = 3, SIM_WITNESSES_MAX = 8, SIM_LOOPS = 3, SIM_STOPS_MAX = 16 };

/* ---- what the seed decides --------------------------------------------------------------------------- */

/* Requests of some kinds are broken for some time, before the life or after it. */
typedef struct sim_trial {
    sim_breakage breakage;
    bool is_first; /* at the beginning, before anything has synced */
    bool turns;    /* afterwards the broken watches work again, and lists are broken */
    bool compacts; /* at the beginning, the history is compacted, so that all have to list */
    double stale;  /* the chance of a stale list meanwhile */
} sim_trial;

/* Chances are per round. */
typedef struct sim_plan {
    sim_world_options world;
    sim_server_options server; /* without its pointers */
    uint32_t first_objects;    /* changes before anything starts */
    uint32_t followers;
    uint32_t rounds;
    bool is_long;       /* a long life, for faults that need time */
    bool is_split;      /* io, dispatch and handlers have separate loops, as with threads */
    double mutates;     /* the world changes, once or several times */
    double ticks;       /* objects of other collections change */
    double compacts;    /* the history is compacted */
    double resets;      /* the history is replaced by another one */
    double cuts;        /* all connections are cut */
    double deeds;       /* an informer is stopped or started, or a handler is added or removed */
    double inner_deeds; /* the same inside a callback */
    double holds;       /* a loop is not run for a while */
    double slow;        /* a callback takes time */
    uint64_t jump_ns;   /* the longest time that passes in a round */
    bool touches;       /* the objects change once more at the end */
    sim_trial trial;    /* without broken kinds, there is no trial */
} sim_plan;

void sim_plan_make(sim_plan *plan, ki_random *random);

typedef struct sim_run sim_run;
typedef struct sim_follower sim_follower;

/* ---- one handler ------------------------------------------------------------------------------------- */

typedef struct sim_witness {
    sim_follower *follower;
    uint32_t number;
    ki_handler handler;
    ki_registration *registration; /* NULL: removed */
    ki_object **known;             /* by key: the object it was last told of; NULL: none, or it was deleted */
    ki_object **gone;              /* by key: the object it was given with the last delete */
    uint64_t news;                 /* events except resyncs */
    uint64_t reminders;            /* resyncs */
    uint64_t high_water;
    size_t step; /* the step of its backlog */
    uint32_t synced;
    uint32_t released;
    bool is_in_batch;
    bool is_inside; /* in a callback */
} sim_witness;

/* Registers a handler with random properties. Out of memory, it adds none and reports nothing. */
void sim_witness_join(sim_follower *follower);
void sim_witness_leave(sim_witness *witness, bool waits);
void sim_witness_fini(sim_witness *witness);

/* Checks that the handler has been told of exactly the objects in the store. */
void sim_witness_check(sim_witness *witness);

/* How often it gets resyncs, in milliseconds; 0: never, or it knows no object. */
uint64_t sim_witness_period_ms(const sim_witness *witness);

/* ---- one informer ------------------------------------------------------------------------------------ */

/* The versions above `after`, up to and including `until`. */
typedef struct sim_stretch {
    uint64_t after;
    uint64_t until;
} sim_stretch;

struct sim_follower {
    sim_run *run;
    uint32_t number;
    ki_informer *informer; /* NULL: freed */
    ki_informer_options options;
    ki_list_watch source;
    char name[16];
    double refusing;   /* how often its transform rejects an object */
    bool is_stopped;   /* by the test */
    uint64_t start_ns; /* when it will be started again */
    uint32_t stops;
    sim_stretch lost[SIM_STOPS_MAX]; /* per stop: versions that may have been applied and dropped */
    size_t items_max;                /* the most items that have waited in its queue */
    size_t bytes_max;                /* the most bytes */
    size_t deltas_max;               /* the most deltas: an item holds all deltas of its key */
    sim_witness witnesses[SIM_WITNESSES_MAX];
    uint32_t witness_count;
};

void sim_follower_plan(sim_follower *follower);
void sim_follower_open(sim_follower *follower);
void sim_follower_start(sim_follower *follower);
void sim_follower_free(sim_follower *follower);

/* Makes a random call; `witness` is the one that is being called, or NULL. */
void sim_follower_deed(sim_follower *follower, sim_witness *witness);

/* The version that it has received; 0: none. If `is_sound` is false, it may hold newer objects: then it would
 * not notice a reset of the history. */
uint64_t sim_follower_version(const sim_follower *follower);
bool sim_follower_is_sound(const sim_follower *follower);
void sim_follower_look(sim_follower *follower); /* records the size of its queue */

/* Whether it was stopped when it may have applied this version, and resumes from an earlier one. */
bool sim_follower_may_repeat(const sim_follower *follower, uint64_t from, uint64_t applied);

/* ---- the whole run ----------------------------------------------------------------------------------- */

struct sim_run {
    sim_plan plan;
    uint64_t seed;
    bool is_verbose;
    ki_random random;
    ki_clock clock;
    sim_world *world;
    sim_server *server;
    ki_client *client;
    sim_follower followers[SIM_FOLLOWERS_MAX];
    uint64_t held_until_ns[SIM_LOOPS];
    bool is_waiting;         /* a call that waits is running the loops, so nothing it uses may be freed */
    bool is_settling;        /* no more faults, random calls or slow callbacks */
    uint64_t common_version; /* all histories of the world are the same up to this version */
    uint64_t hash;           /* of all events */
    uint64_t events;
    uint64_t news;     /* events except resyncs */
    char failure[256]; /* "": no failure */
};

void sim_run_init(sim_run *run, uint64_t seed);
void sim_run_open(sim_run *run);   /* creates the world, the server, the client and the informers */
void sim_run_live(sim_run *run);   /* runs the rounds */
void sim_run_try(sim_run *run);    /* runs the trial */
void sim_run_settle(sim_run *run); /* runs the end */
void sim_run_close(sim_run *run);  /* frees everything, and checks that nothing is left */

/* Runs all of these; returns run->hash. */
uint64_t sim_run_whole(sim_run *run, uint64_t seed);

/* Waits, without faults, until all informers are up to date. */
void sim_run_come_to_rest(sim_run *run, const char *when);

/* Runs everything that is due, and moves the clock to the next due time, at most by `limit_ns`. */
void sim_run_step(sim_run *run, uint64_t limit_ns);

/* Whether the world may change: its version must not pass what an informer has received from another
 * history. */
bool sim_run_may_write(const sim_run *run, uint64_t versions);

/* Only the first failure is kept. */
void sim_run_fail(sim_run *run, const char *format, ...) KI_PRINTF(2, 3);
void sim_run_trace(const sim_run *run, const char *format, ...) KI_PRINTF(2, 3);

bool sim_chance(sim_run *run, double chance);
uint64_t sim_below(sim_run *run, uint64_t bound);
uint64_t sim_number(ki_str text); /* a decimal number, or 0 */
void sim_mix(sim_run *run, uint64_t number);

#endif
