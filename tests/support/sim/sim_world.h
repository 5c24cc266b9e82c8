/* SPDX-License-Identifier: Apache-2.0 */
/* sim_world - the objects of a simulated API server, and all changes that they ever had.
 *
 *   From:     simulations (change it), sim_server (reads it)
 *   To:       util/random.h; the memory is from malloc, so a failing allocator does not affect it
 *   Locks:    none; one thread.
 *   Not here: requests, answers, time.
 *
 * It has one namespaced resource. Every change is a record with its own version, from a counter that other
 * resources advance, too. The valid records since the beginning are its history. The oldest part may be
 * dropped, as by a compaction of etcd. The newest part may be undone, as when etcd is restored from a backup:
 * then a new epoch begins, and versions occur again with different content. Records are never deleted, so
 * that a test can look up everything that has existed.
 *
 * One seed gives one exact run. It ends the program if out of memory.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_WORLD_H
#define KI_TESTS_SUPPORT_SIM_SIM_WORLD_H

#include <kinformer/object.h>

typedef struct sim_world sim_world;

/* Zero means default. */
typedef struct sim_world_options {
    uint64_t seed;
    uint32_t namespaces;    /* "a", "b", …, at most 26; default 3 */
    uint32_t names;         /* "n0", "n1", … in each; default 20 */
    uint64_t first_version; /* of the empty world; default 90, so that versions soon get another digit */
    size_t history_max;     /* records that a watch may still ask for; default 1,000 */
    double jumps; /* how likely other resources advance the version before a change here; default 0 */
} sim_world_options;

sim_world *sim_world_new(const sim_world_options *options);
void sim_world_free(sim_world *world);

/* ---- changes ----------------------------------------------------------------------------------------- */

/* Creates, updates, deletes or recreates (two records) one object at random. */
void sim_world_mutate(sim_world *world);

/* The same for one key and one kind of change. Each does nothing if the object already exists,
 * or does not exist. */
void sim_world_create(sim_world *world, uint32_t key);
void sim_world_update(sim_world *world, uint32_t key);
void sim_world_delete(sim_world *world, uint32_t key);

/* Updates each object once, so that a watcher then has the newest version of all of them. */
void sim_world_touch_all(sim_world *world);

/* Other resources change: the version advances, and the objects stay the same. */
void sim_world_tick_other(sim_world *world);

/* Drops the history until now. */
void sim_world_compact(sim_world *world);

/* Undoes the last `records` records together with their versions, and begins a new epoch.
 *
 * A client that is disconnected until the new history has passed the version that it knows cannot notice the
 * reset; no rule of a cache helps then. A test that wants clients to notice it keeps sim_world_version()
 * below sim_world_highest_version() until they have had time for it. */
void sim_world_reset_history(sim_world *world, size_t records);

/* ---- queries ----------------------------------------------------------------------------------------- */

typedef enum sim_type { SIM_ADDED, SIM_MODIFIED, SIM_DELETED } sim_type;

#define SIM_NONE UINT32_MAX

/* One change; pointers to it are valid until the next change.
 * The version of a deletion is that of its event. */
typedef struct sim_record {
    uint64_t version;
    uint64_t uid;        /* a number in the object's text */
    uint64_t value;      /* likewise */
    uint32_t key;        /* namespace × names + name */
    uint32_t padding;    /* number of words in a text that makes the object longer */
    uint32_t epoch;      /* in which it was written */
    uint32_t last_epoch; /* the last one whose history has it; SIM_NONE: the current one has it */
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

/* The object of that key, now or at that version; NULL: it does not exist. */
const sim_record *sim_world_object(const sim_world *world, uint32_t key);
const sim_record *sim_world_object_at(const sim_world *world, uint32_t key, uint64_t version);

/* The current history: records up to a version come before this position. A watch from a version below
 * sim_world_forgotten_version() misses something. */
size_t sim_world_history_count(const sim_world *world);
size_t sim_world_history_position(const sim_world *world, uint64_t version);
const sim_record *sim_world_history_record(const sim_world *world, size_t position);
size_t sim_world_forgotten_count(const sim_world *world);
uint64_t sim_world_forgotten_version(const sim_world *world);

/* ---- as text, for comparison ------------------------------------------------------------------------- */

typedef struct sim_object {
    char ns[8];
    char name[16];
    char uid[40];
    char version[24];
    char value[24]; /* of spec.value */
} sim_object;

void sim_world_describe(const sim_world *world, const sim_record *record, sim_object *out);

/* Returns the next object. Begin with a cursor of 0. Returns 0 if there are no more. */
int sim_world_next(const sim_world *world, uint32_t *cursor, sim_object *out);

/* The key with these names, or SIM_NONE. */
uint32_t sim_world_key(const sim_world *world, ki_str ns, ki_str name);

/* The record with this key, UID, version and (if it was kept) spec.value, in any epoch; the newest of
 * several. NULL: no such object has ever existed. */
const sim_record *sim_world_find(const sim_world *world, const ki_object *object);

/* Returns 1 if the history of that epoch has the record. */
int sim_record_is_of_epoch(const sim_record *record, uint32_t epoch);

#endif
