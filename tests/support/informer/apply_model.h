/* SPDX-License-Identifier: Apache-2.0 */
/* apply_model - the rules of docs/consistency.md as a simple model, run beside the real queue and apply.
 *
 *   From:     tests/unit/informer/apply/test_apply_model.c pushes to both
 *   To:       support/informer/apply_run.h
 *
 * Keys are numbers, named by letters. Versions are numbers, written as such or, in a model of text
 * versions, as "v<number>", which cannot be compared. 0: none.
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_APPLY_MODEL_H
#define KI_TESTS_SUPPORT_INFORMER_APPLY_MODEL_H

#include "support/informer/apply_run.h"

enum {
    MODEL_KEYS = 6,
    MODEL_QUEUE_MAX = 200,
    MODEL_DELTAS_MAX = 60,
    MODEL_HELD_MAX = 400,
    MODEL_WORDS_MAX = 8192
};

/* An object in a change. */
typedef struct model_state {
    unsigned version;
    unsigned uid;
    unsigned value;
} model_state;

typedef struct model_delta {
    ki_change_type type;
    model_state state;
    uint32_t list;
    uint32_t after_list;
    int is_doubtful;
    int is_unseen;
} model_delta;

typedef struct model_entry {
    ki_change_type marker;
    unsigned key;
    uint32_t list;
    unsigned version;
    unsigned version_before;
    size_t count;
    model_delta deltas[MODEL_DELTAS_MAX];
} model_entry;

typedef struct model_object {
    int is_there;
    model_state state;
    uint32_t met; /* the list that has it */
    int is_other; /* that list only proves that it exists; its state is from the previous history */
} model_object;

typedef struct model_held {
    unsigned key;
    model_delta delta;
    uint32_t seen; /* the later list that has it in a form that cannot be used; 0: none */
} model_held;

typedef struct model_queue {
    model_entry entries[MODEL_QUEUE_MAX];
    size_t count;
    size_t next; /* used in a batch */
} model_queue;

typedef struct apply_model {
    uint64_t seed;
    int is_text;      /* versions cannot be compared */
    int is_coherent;  /* only changes that a server could send are pushed */
    int is_projected; /* objects keep only the value */
    apply_run run;
    model_queue queue;
    model_queue batch;
    unsigned batch_version;
    unsigned received;
    uint32_t ended_list;
    unsigned complete; /* F */
    int is_synced;
    int is_due; /* a resync is due */
    uint32_t last_list;
    uint32_t first_list;
    size_t held_count;
    model_held held[MODEL_HELD_MAX];
    uint64_t now_ms;
    unsigned resets;
    model_object objects[MODEL_KEYS];
    char words[MODEL_KEYS][MODEL_WORDS_MAX]; /* by key: the calls that the handler must get */
    size_t words_len[MODEL_KEYS];
    struct {
        int is_there;
        unsigned version;
        unsigned resets;
    } beliefs[MODEL_KEYS]; /* what the handler knows from its calls, by key */
} apply_model;

#define MODEL_CHECK(model, condition)                                                                        \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("KI_SEED=%llu: failed: %s", (unsigned long long)(model)->seed, #condition);             \
    } while (0)

void apply_model_init(apply_model *model, uint64_t seed);
void apply_model_fini(apply_model *model);

/* These push to both queues. */
void apply_model_push(apply_model *model, unsigned key, model_delta delta);
void apply_model_push_marker(apply_model *model, ki_change_type marker, uint32_t list, unsigned version);
void apply_model_begin_history(apply_model *model, uint32_t list);

/* Applies everything and compares the stores, the versions and the calls of the handler. */
void apply_model_settle(apply_model *model);

/* Makes some steps, then a stop and a start. */
void apply_model_drop(apply_model *model, unsigned steps);

#endif
