/* SPDX-License-Identifier: Apache-2.0 */
/* threading_stage - two informers and a factory, and all places from which a program may call the library.
 *
 *   From:     unit/informer/test_threading.c, support/informer/threading_calls.h
 *   To:       support/informer/informer_rig.h, in any mode
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_THREADING_STAGE_H
#define KI_TESTS_SUPPORT_INFORMER_THREADING_STAGE_H

#include <kinformer/delta_queue.h>
#include <kinformer/factory.h>
#include <stdatomic.h>

#include "support/armed_call.h"
#include "support/informer/informer_rig.h"

enum { STAGE_WAIT_MS = 10 * 1000 };

/* ---- places from which a call is made ---------------------------------------------------------------- */

#define PLACES(X)                                                                                            \
    X(OUTSIDE, COLUMN_OUTSIDE)                                                                               \
    X(OWN_HANDLER, COLUMN_OWN)                                                                               \
    X(HANDLER_OF_THE_SAME_INFORMER, COLUMN_ANOTHER)                                                          \
    X(HANDLER_OF_ANOTHER_INFORMER, COLUMN_ANOTHER)                                                           \
    X(FILTER, COLUMN_ANOTHER)                                                                                \
    X(ON_RELEASE, COLUMN_ANOTHER)                                                                            \
    X(TRANSFORM, COLUMN_ANOTHER)                                                                             \
    X(WATCH_ERROR_HANDLER, COLUMN_ANOTHER)                                                                   \
    X(STATUS_HANDLER, COLUMN_ANOTHER)                                                                        \
    X(READ_SECTION, COLUMN_READING)                                                                          \
    X(INDEX_FUNCTION, COLUMN_READING)

typedef enum column { COLUMN_OUTSIDE, COLUMN_OWN, COLUMN_ANOTHER, COLUMN_READING, COLUMNS } column;

#define PLACE_ENUM(name, column) PLACE_##name,
typedef enum place { PLACES(PLACE_ENUM) PLACE_COUNT } place;

typedef struct stage_place_row {
    const char *name;
    column column;
} stage_place_row;

/* By place. */
extern const stage_place_row stage_places[];

/* ---- the stage --------------------------------------------------------------------------------------- */

typedef struct listener {
    heard what;
    stage *on;
    place place; /* the place that its callbacks are */
} listener;

struct stage {
    local_rig rig; /* calls are made for its informer */
    int mode;
    ki_registration *registration; /* of `own`, on that informer */
    ki_informer *fresh;            /* never started */
    ki_informer *another;
    ki_registration *leaver_registration; /* on `another` */
    ki_factory *factory;
    ki_informer *member; /* of the factory, with a handler */
    ki_informer *spare;  /* of the factory, without one */
    ki_registration *member_registration;
    listener own;
    listener sibling;
    listener stranger;
    listener leaver;
    listener of_member;
    heard late;            /* registered by a call */
    ki_client *own_client; /* nothing was made with it; valid until it is freed, like the next */
    ki_store *own_store;   /* has `stored` */
    ki_delta_queue *queue; /* empty; it knows the informer's store */
    ki_object *stored;
    atomic_int is_client_gone;
    armed_call armed;
};

/* Afterwards everything is synced and watching. `is_of_factory`: PLACE_OWN_HANDLER is the handler of the
 * factory's informer, not of the rig's. */
void stage_init(stage *s, int mode, int is_of_factory);

/* Informers and the factory that the call has freed must be NULL.
 * Fails the test unless each handler was released exactly once. */
void stage_fini(stage *s);

/* Makes the call if this is its place. */
void stage_visit(stage *s, place here);

/* Lets the library work for a moment, on its threads or on the caller's. */
void stage_pump(const stage *s);

/* Returns whether the condition held in time. */
int stage_pump_until(stage *s, int (*is_so)(stage *s));

#endif
