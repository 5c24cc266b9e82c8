/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for which there was no memory. No event comes twice, so none may be lost: such a key is kept in a
 * buffer that was allocated with the controller, and added when there is memory again.
 *
 * When the buffer is full, every object of every informer is asked for its keys once more. That finds all but
 * the keys of objects that are gone, and of what an object was before an update: these are precious, and have
 * half of the buffer to themselves. */
#include <string.h>

#include "controller/controller.h"
#include "util/units.h"

enum { AGAIN_MS = 100, HEAD_BYTES = 3, ORDINARY_BYTES_MAX = KI_CONTROLLER_SPARE_BYTES / 2 };

/* Returns whether there was room. */
static bool keep_locked(ki_controller *c, ki_str key, ki_priority priority, bool is_precious)
    KI_REQUIRES(c->mu)
{
    ki_spare *spare = &c->spare;
    size_t limit = is_precious ? KI_CONTROLLER_SPARE_BYTES : ORDINARY_BYTES_MAX;
    if (spare->len + HEAD_BYTES + key.len > limit)
        return false;
    char *at = spare->bytes + spare->len;
    at[0] = (char)priority;
    at[1] = (char)(key.len & 0xff);
    at[2] = (char)(key.len >> 8);
    memcpy(at + HEAD_BYTES, key.ptr, key.len);
    spare->len += HEAD_BYTES + key.len;
    return true;
}

static void wait_a_little_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    c->spare.again_ns = ki_controller_now_ns(c) + ki_ns_of_ms(AGAIN_MS);
}

void ki_controller_add(ki_controller *c, ki_str key, ki_priority priority, bool is_precious)
{
    if (ki_workqueue_add(c->queue, key, priority) != KI_ERR_NO_MEMORY) {
        ki_controller_wake(c);
        return;
    }
    ki_mutex_lock(&c->mu);
    bool is_kept = keep_locked(c, key, priority, is_precious);
    if (!is_kept)
        c->spare.has_lost_some = true;
    wait_a_little_locked(c);
    ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
    if (!is_kept && is_precious)
        ki_controller_log(c, KI_LOG_ERROR, key, "out of memory for too long: a deletion may go unnoticed");
}

/* From the first on, as far as memory goes. */
static void add_spare_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    ki_spare *spare = &c->spare;
    size_t at = 0;
    while (at < spare->len) {
        const unsigned char *entry = (const unsigned char *)spare->bytes + at;
        size_t key_len = entry[1] | (size_t)entry[2] << 8;
        ki_str key = {spare->bytes + at + HEAD_BYTES, key_len};
        if (ki_workqueue_add(c->queue, key, (ki_priority)entry[0]) == KI_ERR_NO_MEMORY)
            break;
        at += HEAD_BYTES + key_len;
    }
    memmove(spare->bytes, spare->bytes + at, spare->len - at);
    spare->len -= at;
    if (spare->len > 0)
        wait_a_little_locked(c);
}

void ki_controller_retry_spare(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    bool is_due = ki_controller_next_spare_ns_locked(c) <= ki_controller_now_ns(c);
    bool has_lost_some = is_due && c->spare.has_lost_some;
    if (is_due)
        add_spare_locked(c);
    if (has_lost_some)
        c->spare.has_lost_some = false; /* before the walk: what is lost meanwhile needs another */
    ki_mutex_unlock(&c->mu);
    if (has_lost_some && ki_controller_add_all(c) < 0) {
        ki_mutex_lock(&c->mu);
        c->spare.has_lost_some = true;
        wait_a_little_locked(c);
        ki_mutex_unlock(&c->mu);
    }
    ki_mutex_lock(&c->mu);
    if (is_due)
        ki_cond_broadcast(&c->work);
    ki_mutex_unlock(&c->mu);
}

uint64_t ki_controller_next_spare_ns_locked(const ki_controller *c)
{
    return c->spare.len > 0 || c->spare.has_lost_some ? c->spare.again_ns : UINT64_MAX;
}
