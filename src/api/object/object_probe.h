/* SPDX-License-Identifier: Apache-2.0 */
/* object_probe - notices when a function looks for a field that a projection has dropped from an object.
 *
 *   From:     store/index.c (around an index function), store/store.c, store/store_index.c,
 *             api/object/object.c, api/object/object_text.c, reflector/
 *   To:       json/projection.h
 *   Locks:    none; a probe belongs to one thread.
 *   Not here: reporting it.
 *
 * The probe is used only when a lookup finds nothing, so other lookups do not become slower.
 */
#ifndef KI_API_OBJECT_OBJECT_PROBE_H
#define KI_API_OBJECT_OBJECT_PROBE_H

#include <kinformer/object.h>

struct ki_projection;

typedef struct ki_object_probe {
    const ki_object *object; /* lookups in other objects are ignored */
    const struct ki_projection *projection;
    char path[256]; /* the first dropped path that was looked for; "" if there was none */
} ki_object_probe;

/* The probe of this thread; NULL if there is none. */
extern _Thread_local ki_object_probe *ki_object_probe_current;

/* Notes that nothing was found at `pointer` or, if that is NULL, at the label. */
void ki_object_probe_note(const ki_object *object, const char *pointer, ki_str label);

static inline void ki_object_probe_miss(const ki_object *object, const char *pointer)
{
    if (ki_object_probe_current != NULL)
        ki_object_probe_note(object, pointer, (ki_str){0});
}

/* ---- projections, for folders that do not use json/ -------------------------------------------------- */

/* Like ki_projection_ref() and ki_projection_free(). NULL is allowed. */
struct ki_projection *ki_object_kept_ref(struct ki_projection *projection);
void ki_object_kept_unref(struct ki_projection *projection);

/* Returns 0 if the projection keeps the whole value at the path, else 1. NULL keeps everything. */
int ki_object_kept_lacks(const struct ki_projection *projection, const char *path);

#endif
