/* SPDX-License-Identifier: Apache-2.0 */
/* run - one simulated life of some informers: what a seed decides, what happens, what must have come of it.
 *
 *   From:     sim_informer.c, sim_no_memory.c
 *   To:       support/sim_world.h, support/sim_server.h, the informer through its public calls
 *   Locks:    none; one thread.
 *   Not here: the server's faults.
 *
 *   plan.c     which world, which server, which options: all from the seed
 *   follower.c one informer; what is done to it
 *   witness.c  one handler; whether what it is told may be true
 *   life.c     the rounds: the world changes, time passes, a loop gets to run
 *   trial.c    requests of one kind are broken for a long time
 *   verdict.c  the end: the world stands still, and all is as it should be
 *
 * Some internals of the library are read, to know how far an informer has come, and its loops are run one by
 * one, in any order, as threads would run them. One seed, one exact run.
 */
#ifndef KI_TESTS_SIM_RUN_H
#define KI_TESTS_SIM_RUN_H

#include <kinformer.h>
#include <stdbool.h>

#include "informer/informer.h"
#include "support/sim_server.h"
#include "util/random.h"

#define SIM_NS_PER_MS UINT64_C(1000000)
#define SIM_NS_PER_S UINT64_C(1000000000)

enum { SIM_FOLLOWERS_MAX = 3, SIM_WITNESSES_MAX = 8, SIM_LOOPS = 3, SIM_STOPS_MAX = 16 };

/* ---- what the seed decides --------------------------------------------------------------------------- */

/* Before the life, or after it, requests of some kinds are broken for some time. */
typedef struct sim_trial {
    sim_breakage breakage;
    bool is_first; /* nothing has synced yet */
    bool turns;    /* then, with broken watches mended, lists are broken */
} sim_trial;

/* Chances are of a round. */
typedef struct sim_plan {
    sim_world_options world;
    sim_server_options server; /* without its pointers */
    uint32_t first_objects;    /* deeds before anything starts */
    uint32_t followers;
    uint32_t rounds;
    bool is_long;       /* a life with time for what takes time */
    bool is_split;      /* io, dispatch and handlers run apart, as with threads; else on one loop */
    double mutates;     /* one change of the world, or several */
    double ticks;       /* others change it */
    double compacts;    /* its history is forgotten */
    double resets;      /* its history becomes another one */
    double cuts;        /* all connections are lost */
    double deeds;       /* something is done to an informer: stop, start, handlers come and go */
    double inner_deeds; /* likewise inside a callback */
    double holds;       /* a loop is not run for a while */
    double slow;        /* a callback takes time */
    uint64_t jump_ns;   /* time that passes in a round at the most */
    bool touches;       /* the objects change once more in the end */
    sim_trial trial;    /* none, if no kind is broken */
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
    ki_object **known;             /* of each key: what it was told last; NULL: nothing, or that it is gone */
    ki_object **gone;              /* of each key: what it was told when it was deleted last */
    uint64_t news;                 /* events but for resyncs */
    uint64_t reminders;            /* the resyncs */
    uint64_t high_water;
    size_t step; /* of its backlog */
    uint32_t synced;
    uint32_t released;
    bool is_in_batch;
    bool is_inside; /* of a callback */
} sim_witness;

/* Random properties; registers it. If memory runs out there is none, and it is not reported. */
void sim_witness_join(sim_follower *follower);
void sim_witness_leave(sim_witness *witness, bool waits);
void sim_witness_fini(sim_witness *witness);

/* Whether what it was told is what the store holds. */
void sim_witness_check(sim_witness *witness);

/* How often it is reminded of what it knows, in milliseconds; 0: never, or it knows of nothing. */
uint64_t sim_witness_period_ms(const sim_witness *witness);

/* ---- one informer ------------------------------------------------------------------------------------ */

/* Versions: after the first, up to the last. */
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
    double refusing;   /* how often its transform refuses */
    bool is_stopped;   /* by us */
    uint64_t start_ns; /* when it is started again */
    uint32_t stops;
    sim_stretch lost[SIM_STOPS_MAX]; /* of the first stops: what each may have applied and forgotten */
    size_t items_max;                /* that have waited in its queue */
    size_t bytes_max;                /* likewise */
    size_t deltas_max;               /* likewise: one item holds those of a key */
    sim_witness witnesses[SIM_WITNESSES_MAX];
    uint32_t witness_count;
};

void sim_follower_plan(sim_follower *follower);
void sim_follower_open(sim_follower *follower);
void sim_follower_start(sim_follower *follower);
void sim_follower_free(sim_follower *follower);

/* Something at random; `witness` is the one that is being called, or NULL. */
void sim_follower_deed(sim_follower *follower, sim_witness *witness);

/* The version that it has received; 0: none. What it holds may be newer when `is_sound` is false: then a
 * reset of the history would go unnoticed. */
uint64_t sim_follower_version(const sim_follower *follower);
bool sim_follower_is_sound(const sim_follower *follower);
void sim_follower_look(sim_follower *follower); /* measures what waits */

/* Whether it was stopped when it may have applied this version, and continues from before that one. */
bool sim_follower_may_repeat(const sim_follower *follower, uint64_t from, uint64_t applied);

/* ---- all of it --------------------------------------------------------------------------------------- */

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
    bool is_waiting;  /* a call that waits runs the loops: who is freed meanwhile must not be used by it */
    bool is_settling; /* no more faults, deeds or slowness */
    uint64_t common_version; /* up to here all histories of the world are the same */
    uint64_t hash;           /* of all that was told */
    uint64_t events;
    uint64_t news;     /* but for resyncs */
    char failure[256]; /* "": all is well */
};

void sim_run_init(sim_run *run, uint64_t seed);
void sim_run_open(sim_run *run);   /* world, server, client, informers */
void sim_run_live(sim_run *run);   /* the rounds */
void sim_run_try(sim_run *run);    /* the trial */
void sim_run_settle(sim_run *run); /* the end */
void sim_run_close(sim_run *run);  /* frees all, and looks whether it is */

/* All of these; returns run->hash. */
uint64_t sim_run_whole(sim_run *run, uint64_t seed);

/* Waits, without faults, until all know what the world is like. */
void sim_run_come_to_rest(sim_run *run, const char *when);

/* Runs all that is due now, and moves the clock to what is due next, `limit_ns` at the most. */
void sim_run_step(sim_run *run, uint64_t limit_ns);

/* Whether the world may change: it may not outgrow what an informer knows of another history. */
bool sim_run_may_write(const sim_run *run, uint64_t versions);

/* The first failure counts. */
void sim_run_fail(sim_run *run, const char *format, ...) KI_PRINTF(2, 3);
void sim_run_trace(const sim_run *run, const char *format, ...) KI_PRINTF(2, 3);

bool sim_chance(sim_run *run, double chance);
uint64_t sim_below(sim_run *run, uint64_t bound);
uint64_t sim_number(ki_str text); /* a decimal number; 0: none */
void sim_mix(sim_run *run, uint64_t number);

#endif
