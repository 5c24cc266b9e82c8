/* SPDX-License-Identifier: Apache-2.0 */
/* refcount - counts the owners of a shared object.
 *
 *   From:     all code that has _ref and _unref functions
 *   Locks:    none; any thread that owns a reference may take or drop one.
 *   Not here: freeing; weak references (a count that reached 0 stays there).
 */
#ifndef KI_UTIL_REFCOUNT_H
#define KI_UTIL_REFCOUNT_H

#include <assert.h>
#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct ki_refcount {
    _Atomic uint32_t count;
} ki_refcount;

/* Sets the count to one owner, the creator. */
static inline void ki_refcount_init(ki_refcount *refs)
{
    atomic_init(&refs->count, 1);
}

static inline void ki_refcount_ref(ki_refcount *refs)
{
    /* Relaxed: the caller already sees the object through the reference it holds, and an increment
     * publishes nothing. */
    uint32_t before = atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
    assert(before > 0 && before < UINT32_MAX);
    (void)before;
}

/* Whether there are owners besides the caller, who must be an owner. If not, there are none until the
 * caller adds one. */
static inline bool ki_refcount_is_shared(ki_refcount *refs)
{
    /* Acquire: what former owners did to the object comes before what the last owner does. */
    return atomic_load_explicit(&refs->count, memory_order_acquire) > 1;
}

/* Removes an owner. Returns true to the last owner, who may then free the object. */
KI_NODISCARD static inline bool ki_refcount_unref(ki_refcount *refs)
{
    /* Release: what this owner did to the object comes before the decrement that lets another thread free
     * it. */
    uint32_t before = atomic_fetch_sub_explicit(&refs->count, 1, memory_order_release);
    assert(before > 0);
    if (before != 1)
        return false;
    /* Acquire: this reads the result of the last decrement, so everything the other owners did comes before
     * the free. It is a load and not a fence, because thread sanitizers do not understand fences. */
    (void)atomic_load_explicit(&refs->count, memory_order_acquire);
    return true;
}

#endif
