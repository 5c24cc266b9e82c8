/* SPDX-License-Identifier: Apache-2.0 */
/* thread - threads that run inside the user's process, and the locks between them.
 *
 *   From:     all code that starts threads or locks
 *   To:       pthread
 *   Locks:    ki_mutex, a plain mutex that clang's analysis understands.
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

/* Must not be moved between start and join. A zeroed struct was never started. */
typedef struct ki_thread {
    pthread_t handle;
    ki_thread_cb run;
    void *user;
    char name[KI_THREAD_NAME_BYTES];
    bool is_started;
} ki_thread;

typedef struct ki_thread_options {
    const char *name; /* "io", "dispatch", …; shown by top and gdb; cut to 15 bytes */
    ki_thread_cb run; /* the thread ends when `run` returns */
    void *user;
    size_t stack_bytes; /* 0 for the system's default */
} ki_thread_options;

/* Starts a thread with all signals blocked, so that the program's handlers run on the program's threads.
 * Signals that a fault raises on the faulting thread stay unblocked for the program's crash handler. The
 * caller's mask is unchanged. Returns 0, or KI_ERR_SYSTEM with `thread` zeroed. */
KI_NODISCARD int ki_thread_start(ki_thread *thread, const ki_thread_options *options, ki_error *err);

/* Like ki_thread_start(), for a thread that is not joined. Returns 0, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_thread_start_detached(const ki_thread_options *options, ki_error *err);

/* Whether the start of the thread with this name fails, as if the system had no more threads. */
typedef bool (*ki_thread_refuse_cb)(const char *name, void *user);

/* For tests: from now on, each start asks `refuse` first; NULL, as at the beginning: none is refused. Call it
 * before other threads run. */
void ki_thread_refuse_by(ki_thread_refuse_cb refuse, void *user);

/* Block and restore the signals of the calling thread. Use these around calls of another library that may
 * start a thread, which inherits the mask. ki_signals_block() returns 0, or KI_ERR_SYSTEM with nothing
 * changed. */
KI_NODISCARD int ki_signals_block(sigset_t *out_before);
void ki_signals_restore(const sigset_t *before);

/* Waits until the thread has ended. A thread that was never started, or is already joined, is allowed.
 * Must not be called concurrently, nor by the thread itself. */
void ki_thread_join(ki_thread *thread);

/* Waits without giving up the processor: only for a few microseconds, where a sleep would cost more. */
void ki_thread_spin_ns(uint64_t ns);

typedef struct KI_CAPABILITY("mutex") ki_mutex {
    pthread_mutex_t raw;
} ki_mutex;

/* Cannot fail: neither glibc nor musl allocates for a mutex or a condition variable. */
void ki_mutex_init(ki_mutex *mutex);

void ki_mutex_fini(ki_mutex *mutex);

/* The mutex may belong to an object that the caller has as const: a lock is not part of the const state. */
void ki_mutex_lock(const ki_mutex *mutex) KI_ACQUIRE(*mutex);
void ki_mutex_unlock(const ki_mutex *mutex) KI_RELEASE(*mutex);

/* For a contended mutex that is rarely held for more than a microsecond: a thread that finds it locked tries
 * again a few times before it sleeps. */
void ki_mutex_lock_short(const ki_mutex *mutex) KI_ACQUIRE(*mutex);

/* Whether the calling thread holds the mutex; true if assertions are disabled. */
bool ki_mutex_is_held(const ki_mutex *mutex);

/* For the beginning of a function whose caller holds the mutex: checks KI_REQUIRES() at run time. */
#define KI_ASSERT_HELD(mutex) assert(ki_mutex_is_held(&(mutex)))

/* For assertions: the number of mutexes that the calling thread holds; 0 if assertions are disabled. */
size_t ki_mutex_held(void);

/* Sets the result of ki_mutex_held() and returns the previous one, which the caller restores. Used around a
 * callback of the program that runs under a lock, as its header documents, so that locks the callback takes
 * are not checked. */
size_t ki_mutex_set_held(size_t count);

typedef struct ki_cond {
    pthread_cond_t raw;
} ki_cond;

void ki_cond_init(ki_cond *cond);
void ki_cond_fini(ki_cond *cond);
void ki_cond_signal(ki_cond *cond);
void ki_cond_broadcast(ki_cond *cond);

/* Both functions release the mutex while they wait, and may wake up spuriously: test the condition in a
 * loop. */
void ki_cond_wait(ki_cond *cond, ki_mutex *mutex) KI_REQUIRES(*mutex);

/* Returns false on timeout. Changes of the calendar have no effect. Unlike ki_clock, the timeout stops
 * while the machine is suspended, so a loop must compute the remaining time from ki_clock in each round. */
bool ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms) KI_REQUIRES(*mutex);

#endif
