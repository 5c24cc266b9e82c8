/* SPDX-License-Identifier: Apache-2.0 */
/* sim_world - the objects that a simulated API server has, and all that ever happened to them.
 *
 *   From:     simulations (change it), sim_server (reads it)
 *   To:       util/random.h; the memory is malloc's own, so that a failing allocator does not reach it
 *   Locks:    none; one thread.
 *   Not here: requests, answers, time.
 *
 * One namespaced resource. Every change is a record with a version of its own, from one counter that other
 * resources move, too. The records since the world began that are still true are its history; its oldest part
 * may be forgotten, as etcd compacts, and the newest may be undone, as when etcd is restored from a backup:
 * then a new epoch begins, and versions come again with other content. No record is ever thrown away, so that
 * a test can ask what has existed.
 *
 * One seed, one exact run. What runs out of memory ends the program.
 */
#ifndef KI_TESTS_SUPPORT_SIM_WORLD_H
#define KI_TESTS_SUPPORT_SIM_WORLD_H

#include <kinformer/object.h>

typedef struct sim_world sim_world;

/* Zero means default. */
typedef struct sim_world_options {
    uint64_t seed;
    uint32_t namespaces;    /* "a", "b", …, at most 26; 3 */
    uint32_t names;         /* "n0", "n1", … in each; 20 */
    uint64_t first_version; /* of the empty world; 90, so that numbers get longer soon */
    size_t history_max;     /* records that a watch may still ask for; 1,000 */
    double jumps;           /* how likely others have moved the version before a change here; 0 */
} sim_world_options;

sim_world *sim_world_new(const sim_world_options *options);
void sim_world_free(sim_world *world);

/* ---- what happens to it ------------------------------------------------------------------------------ */

/* Creates, updates, deletes or recreates (two records) one object at random. */
void sim_world_mutate(sim_world *world);

/* As that, for one key and one deed. Each does nothing when the key is not there, or already there. */
void sim_world_create(sim_world *world, uint32_t key);
void sim_world_update(sim_world *world, uint32_t key);
void sim_world_delete(sim_world *world, uint32_t key);

/* Updates each object once: a watcher then has the newest form of all. */
void sim_world_touch_all(sim_world *world);

/* Other resources change: the version moves, nothing happens here. */
void sim_world_tick_other(sim_world *world);

/* Forgets the history until now. */
void sim_world_compact(sim_world *world);

/* Undoes the last `records` of them, with the version, and begins an epoch.
 *
 * A client that is away until the new history has passed the version that it knows cannot notice: no rule of
 * a cache helps then. A test that wants clients to notice leaves sim_world_version() below
 * sim_world_highest_version() until they had the time for it. */
void sim_world_reset_history(sim_world *world, size_t records);

/* ---- what is there ----------------------------------------------------------------------------------- */

typedef enum sim_type { SIM_ADDED, SIM_MODIFIED, SIM_DELETED } sim_type;

#define SIM_NONE UINT32_MAX

/* One change; pointers to it are good until the next one. A deletion's version is that of the deleting, as in
 * the event that tells of it. */
typedef struct sim_record {
    uint64_t version;
    uint64_t uid;        /* a number that is in the text */
    uint64_t value;      /* likewise */
    uint32_t key;        /* namespace × names + name */
    uint32_t padding;    /* words of a text that makes the object longer */
    uint32_t epoch;      /* that it was written in */
    uint32_t last_epoch; /* the last one whose history has it; SIM_NONE: the present one has it */
    uint32_t position;   /* in the history of these epochs */
    uint32_t previous;   /* record of the same key in the same history, or SIM_NONE */
    uint32_t older;      /* record of the same key in any history, or SIM_NONE */
    sim_type type;
} sim_record;

uint64_t sim_world_version(const sim_world *world);
uint64_t sim_world_first_version(const sim_world *world);
uint64_t sim_world_highest_version(const sim_world *world); /* of all epochs */
uint32_t sim_world_epoch(const sim_world *world);           /* from 0 */
uint32_t sim_world_key_count(const sim_world *world);       /* possible keys */
size_t sim_world_count(const sim_world *world);             /* objects */

/* The object of that key as it is, or was when the version was that; NULL: not there. */
const sim_record *sim_world_object(const sim_world *world, uint32_t key);
const sim_record *sim_world_object_at(const sim_world *world, uint32_t key, uint64_t version);

/* The present history: records with a version up to that come before this position. A watch that begins after
 * a version below sim_world_forgotten_version() misses something. */
size_t sim_world_history_count(const sim_world *world);
size_t sim_world_history_position(const sim_world *world, uint64_t version);
const sim_record *sim_world_history_record(const sim_world *world, size_t position);
size_t sim_world_forgotten_count(const sim_world *world);
uint64_t sim_world_forgotten_version(const sim_world *world);

/* ---- as text, for comparing -------------------------------------------------------------------------- */

typedef struct sim_object {
    char ns[8];
    char name[16];
    char uid[40];
    char version[24];
    char value[24]; /* of spec.value */
} sim_object;

void sim_world_describe(const sim_world *world, const sim_record *record, sim_object *out);

/* The next object. Begin with a cursor of 0. Returns 0 when there is none. */
int sim_world_next(const sim_world *world, uint32_t *cursor, sim_object *out);

/* The key of that text, or SIM_NONE. */
uint32_t sim_world_key(const sim_world *world, ki_str ns, ki_str name);

/* The record that has this key, UID, version and (when it was kept) spec.value, in whichever epoch; the
 * newest of several. NULL: no such object has ever existed. */
const sim_record *sim_world_find(const sim_world *world, const ki_object *object);

/* 1 when the history of that epoch has the record. */
int sim_record_is_of_epoch(const sim_record *record, uint32_t epoch);

#endif
