/* SPDX-License-Identifier: Apache-2.0 */
/* object_probe - notices that a function looks for a field of an object that a projection has dropped.
 *
 *   From:     store/index.c   (around an index function), api/object/object.c, api/object/object_text.c
 *   To:       json/projection.h
 *   Locks:    none; a probe is of one thread.
 *   Not here: what is done about it.
 *
 * It is consulted only when a lookup finds nothing, so it costs other lookups nothing.
 */
#ifndef KI_API_OBJECT_OBJECT_PROBE_H
#define KI_API_OBJECT_OBJECT_PROBE_H

#include <kinformer/object.h>

struct ki_projection;

typedef struct ki_object_probe {
    const ki_object *object; /* lookups in others are not its concern */
    const struct ki_projection *projection;
    char path[256]; /* the first dropped path that was looked for; "": none */
} ki_object_probe;

/* Of this thread; NULL: none. */
extern _Thread_local ki_object_probe *ki_object_probe_current;

/* Nothing was found at a pointer; at the label, if `pointer` is NULL. */
void ki_object_probe_note(const ki_object *object, const char *pointer, ki_str label);

static inline void ki_object_probe_miss(const ki_object *object, const char *pointer)
{
    if (ki_object_probe_current != NULL)
        ki_object_probe_note(object, pointer, (ki_str){0});
}

/* ---- projections, for folders that do not use json/ -------------------------------------------------- */

/* As ki_projection_ref(), ki_projection_free(). NULL is allowed. */
struct ki_projection *ki_object_kept_ref(struct ki_projection *projection);
void ki_object_kept_unref(struct ki_projection *projection);

/* 1 unless the value at a path is kept whole. NULL keeps everything. */
int ki_object_kept_lacks(const struct ki_projection *projection, const char *path);

#endif
