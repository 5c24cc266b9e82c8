/* SPDX-License-Identifier: Apache-2.0 */
/* thread - threads that are guests in someone else's process, and the locks between them.
 *
 *   From:     whoever starts io, dispatch, handler and worker threads
 *   To:       pthread
 *   Locks:    ki_mutex, a plain mutex that clang's analysis knows.
 *   Not here: queues; deciding when a thread ends (its function returns).
 */
#ifndef KI_UTIL_THREAD_H
#define KI_UTIL_THREAD_H

#include <assert.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "util/annotations.h"

#define KI_THREAD_NAME_BYTES 16

typedef void (*ki_thread_cb)(void *user);

/* Stays where it is from start to join. A zeroed one was never started. */
typedef struct ki_thread {
    pthread_t handle;
    ki_thread_cb run;
    void *user;
    char name[KI_THREAD_NAME_BYTES];
    bool is_started;
} ki_thread;

typedef struct ki_thread_options {
    const char *name; /* "io", "dispatch", …; what top and gdb show; cut to 15 bytes */
    ki_thread_cb run; /* its return ends the thread */
    void *user;
    size_t stack_bytes; /* 0: the system's default */
} ki_thread_options;

/* Starts a thread in which all signals are blocked, so that the program's handlers run on the program's
 * threads; but for those that a fault raises on the faulty thread itself, which belong to the program's
 * crash handler. The caller's own mask is as before. Returns 0, or KI_ERR_SYSTEM; `thread` is zeroed then.
 * */
KI_NODISCARD int ki_thread_start(ki_thread *thread, const ki_thread_options *options, ki_error *err);

/* The same for a thread that nobody joins: it ends by itself. Returns 0; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_thread_start_detached(const ki_thread_options *options, ki_error *err);

/* Around what may start a thread that is not ours: it inherits the mask. Returns 0, or KI_ERR_SYSTEM and
 * nothing is changed. */
KI_NODISCARD int ki_signals_block(sigset_t *out_before);
void ki_signals_restore(const sigset_t *before);

/* Waits until the thread has ended. Takes one that was never started or is joined already. One thread at a
 * time, and never the thread itself. */
void ki_thread_join(ki_thread *thread);

typedef struct KI_CAPABILITY("mutex") ki_mutex {
    pthread_mutex_t raw;
} ki_mutex;

/* Cannot fail: neither glibc nor musl allocates for a mutex or a condition. */
void ki_mutex_init(ki_mutex *mutex);

/* One that is held for less than a microsecond, by many: whoever finds it taken tries for a moment before it
 * sleeps, where the system has such mutexes. */
void ki_mutex_init_short(ki_mutex *mutex);

void ki_mutex_fini(ki_mutex *mutex);
void ki_mutex_lock(ki_mutex *mutex) KI_ACQUIRE(*mutex);
void ki_mutex_unlock(ki_mutex *mutex) KI_RELEASE(*mutex);

/* Whether the calling thread holds it; true where assertions are off. */
bool ki_mutex_is_held(const ki_mutex *mutex);

/* At the beginning of a function whose caller holds the mutex: what KI_REQUIRES() says, checked at run time.
 * Nothing where assertions are off. */
#define KI_ASSERT_HELD(mutex) assert(ki_mutex_is_held(&(mutex)))

/* How many the calling thread holds, for assertions; 0 where these are off. */
size_t ki_mutex_held(void);

/* Has them counted anew: around a function of the program's that runs under a lock, as its header says. What
 * that does is its own affair. Returns how many there were, to be set again. */
size_t ki_mutex_set_held(size_t count);

typedef struct ki_cond {
    pthread_cond_t raw;
} ki_cond;

void ki_cond_init(ki_cond *cond);
void ki_cond_fini(ki_cond *cond);
void ki_cond_signal(ki_cond *cond);
void ki_cond_broadcast(ki_cond *cond);

/* Both give the mutex away while they wait and may return for no reason: test the condition in a loop. */
void ki_cond_wait(ki_cond *cond, ki_mutex *mutex) KI_REQUIRES(*mutex);

/* Returns false when the time ran out. No step of the calendar shortens or lengthens it. It stands still
 * while the machine is suspended, unlike ki_clock: a loop takes what is left from ki_clock each time
 * around. */
bool ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms) KI_REQUIRES(*mutex);

#endif
