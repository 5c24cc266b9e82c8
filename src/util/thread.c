/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np; NOLINT(bugprone-reserved-identifier) */
#endif
#include "util/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* How often, and at which interval, ki_mutex_lock_short() tries before the thread sleeps. */
enum { TRIES = 30, TRY_AGAIN_NS = 1500 };

static ki_thread_refuse_cb is_refused;
static void *refuse_user;

void ki_thread_refuse_by(ki_thread_refuse_cb refuse, void *user)
{
    is_refused = refuse;
    refuse_user = user;
}

static void *thread_main(void *argument)
{
    ki_thread *thread = argument;
    (void)pthread_setname_np(pthread_self(), thread->name);
    thread->run(thread->user);
    return NULL;
}

/* The thread owns the struct, and frees it. */
static void *detached_main(void *argument)
{
    ki_thread thread = *(ki_thread *)argument;
    ki_free(argument);
    (void)pthread_setname_np(pthread_self(), thread.name);
    thread.run(thread.user);
    return NULL;
}

/* Blocking a signal that a fault raises on the thread itself would kill the process without running a
 * handler. */
static void fill_blocked(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(set, faults[i]);
}

int ki_signals_block(sigset_t *out_before)
{
    sigset_t blocked;
    fill_blocked(&blocked);
    return pthread_sigmask(SIG_SETMASK, &blocked, out_before) == 0 ? 0 : KI_ERR_SYSTEM;
}

void ki_signals_restore(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The creator changes its own mask, which the thread inherits. So no signal interrupts the thread at any
 * time. */
static int create_masked(ki_thread *thread, const pthread_attr_t *attributes, bool is_detached)
{
    sigset_t before;
    pthread_t handle; /* a detached thread may free the struct before this is set */
    if (ki_signals_block(&before) < 0)
        return EINVAL;
    int rc = pthread_create(&handle, attributes, is_detached ? detached_main : thread_main, thread);
    if (rc == 0 && !is_detached)
        thread->handle = handle;
    ki_signals_restore(&before);
    return rc;
}

static int create(ki_thread *thread, size_t stack_bytes, bool is_detached)
{
    pthread_attr_t attributes;
    if (is_refused != NULL && is_refused(thread->name, refuse_user))
        return EAGAIN;
    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return rc;
    if (stack_bytes != 0)
        rc = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (rc == 0 && is_detached)
        rc = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (rc == 0)
        rc = create_masked(thread, &attributes, is_detached);
    (void)pthread_attr_destroy(&attributes);
    return rc;
}

static void describe(ki_thread *thread, const ki_thread_options *options)
{
    assert(options->name != NULL && options->run != NULL);
    *thread = (ki_thread){.run = options->run, .user = options->user};
    size_t len = strnlen(options->name, KI_THREAD_NAME_BYTES - 1);
    memcpy(thread->name, options->name, len);
}

static int fail_start(const ki_thread_options *options, int code, ki_error *err)
{
    return ki_fail(err, KI_ERR_SYSTEM, "cannot start thread %s: %s", options->name, strerror(code));
}

int ki_thread_start(ki_thread *thread, const ki_thread_options *options, ki_error *err)
{
    describe(thread, options);
    int rc = create(thread, options->stack_bytes, false);
    if (rc != 0) {
        *thread = (ki_thread){0};
        return fail_start(options, rc, err);
    }
    thread->is_started = true;
    return 0;
}

int ki_thread_start_detached(const ki_thread_options *options, ki_error *err)
{
    ki_thread *thread = ki_malloc(sizeof(*thread));
    if (thread == NULL)
        return ki_fail_no_memory(err);
    describe(thread, options);
    int rc = create(thread, options->stack_bytes, true);
    if (rc == 0)
        return 0;
    ki_free(thread);
    return fail_start(options, rc, err);
}

void ki_thread_join(ki_thread *thread)
{
    if (!thread->is_started)
        return;
    assert(!pthread_equal(thread->handle, pthread_self()));
    int rc = pthread_join(thread->handle, NULL);
    assert(rc == 0);
    (void)rc;
    *thread = (ki_thread){0};
}

static uint64_t monotonic_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * KI_NS_PER_S + (uint64_t)now.tv_nsec;
}

void ki_thread_spin_ns(uint64_t ns)
{
    uint64_t start_ns = monotonic_ns();
    while (monotonic_ns() - start_ns < ns) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

void ki_mutex_init(ki_mutex *mutex)
{
    assert(mutex != NULL);
    int rc = pthread_mutex_init(&mutex->raw, NULL);
    assert(rc == 0);
    (void)rc;
}

void ki_mutex_fini(ki_mutex *mutex)
{
    assert(mutex != NULL);
    int rc = pthread_mutex_destroy(&mutex->raw);
    assert(rc == 0); /* else the mutex is locked */
    (void)rc;
}

/* If assertions are enabled, each thread keeps a list of the mutexes that it holds. Only the thread itself
 * reads it, so the check is not a race. fork() takes the locks of every store. Locks that do not fit into
 * the list are only counted, and until they are released every mutex counts as held. */
#ifndef NDEBUG
enum { HELD_MAX = 32 };

static _Thread_local size_t held;
static _Thread_local const ki_mutex *held_list[HELD_MAX];
static _Thread_local size_t held_count;
static _Thread_local size_t unlisted_count;

static bool is_listed(const ki_mutex *mutex)
{
    for (size_t i = 0; i < held_count; i++)
        if (held_list[i] == mutex)
            return true;
    return false;
}

static void note_locked(const ki_mutex *mutex)
{
    if (held_count < HELD_MAX)
        held_list[held_count++] = mutex;
    else
        unlisted_count++;
    held++;
}

static void note_unlocked(const ki_mutex *mutex)
{
    size_t i = held_count;
    while (i > 0 && held_list[i - 1] != mutex)
        i--;
    assert(i > 0 || unlisted_count > 0); /* else this thread does not hold it */
    if (i > 0)
        held_list[i - 1] = held_list[--held_count];
    else
        unlisted_count--;
    held--;
}
#else
#define note_locked(mutex) ((void)(mutex))
#define note_unlocked(mutex) ((void)(mutex))
#endif

bool ki_mutex_is_held(const ki_mutex *mutex)
{
#ifndef NDEBUG
    return unlisted_count > 0 || is_listed(mutex);
#else
    (void)mutex;
    return true;
#endif
}

size_t ki_mutex_held(void)
{
#ifndef NDEBUG
    return held;
#else
    return 0;
#endif
}

size_t ki_mutex_set_held(size_t count)
{
    size_t before = ki_mutex_held();
#ifndef NDEBUG
    held = count;
#else
    (void)count;
#endif
    return before;
}

static pthread_mutex_t *raw_of(const ki_mutex *mutex)
{
    return (pthread_mutex_t *)&mutex->raw;
}

KI_NO_THREAD_SAFETY_ANALYSIS
void ki_mutex_lock(const ki_mutex *mutex)
{
    assert(!is_listed(mutex)); /* it would deadlock */
    int rc = pthread_mutex_lock(raw_of(mutex));
    assert(rc == 0);
    (void)rc;
    note_locked(mutex);
}

/* Waiting threads try rarely. So the thread that has the mutex gets it again many times, with the guarded
 * data in its own cache. If the others tried all the time, those cache lines would move between processors
 * each time, which takes longer than the work. */
KI_NO_THREAD_SAFETY_ANALYSIS
void ki_mutex_lock_short(const ki_mutex *mutex)
{
    assert(!is_listed(mutex)); /* it would deadlock */
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(raw_of(mutex)) == 0) {
            note_locked(mutex);
            return;
        }
        ki_thread_spin_ns(TRY_AGAIN_NS);
    }
    ki_mutex_lock(mutex);
}

KI_NO_THREAD_SAFETY_ANALYSIS
void ki_mutex_unlock(const ki_mutex *mutex)
{
    assert(mutex != NULL);
    note_unlocked(mutex);
    int rc = pthread_mutex_unlock(raw_of(mutex));
    assert(rc == 0);
    (void)rc;
}

/* By default, pthread measures timeouts by the calendar, which may be set. It rejects CLOCK_BOOTTIME. */
void ki_cond_init(ki_cond *cond)
{
    assert(cond != NULL);
    pthread_condattr_t attributes;
    int rc = pthread_condattr_init(&attributes);
    assert(rc == 0);
    rc = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    assert(rc == 0);
    rc = pthread_cond_init(&cond->raw, &attributes);
    assert(rc == 0);
    (void)rc;
    (void)pthread_condattr_destroy(&attributes);
}

void ki_cond_fini(ki_cond *cond)
{
    assert(cond != NULL);
    (void)pthread_cond_destroy(&cond->raw);
}

void ki_cond_signal(ki_cond *cond)
{
    assert(cond != NULL);
    (void)pthread_cond_signal(&cond->raw);
}

void ki_cond_broadcast(ki_cond *cond)
{
    assert(cond != NULL);
    (void)pthread_cond_broadcast(&cond->raw);
}

void ki_cond_wait(ki_cond *cond, ki_mutex *mutex)
{
    assert(cond != NULL);
    KI_ASSERT_HELD(*mutex);
    int rc = pthread_cond_wait(&cond->raw, &mutex->raw);
    assert(rc == 0);
    (void)rc;
}

/* Longer waits are cut to a year, so that seconds cannot overflow. The caller waits in a loop anyway. */
#define WAIT_MS_MAX (365ull * 24 * 3600 * 1000)

bool ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms)
{
    assert(cond != NULL);
    KI_ASSERT_HELD(*mutex);
    if (timeout_ms > WAIT_MS_MAX)
        timeout_ms = WAIT_MS_MAX;
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(timeout_ms / 1000);
    until.tv_nsec += (long)(timeout_ms % 1000) * (long)KI_NS_PER_MS;
    if (until.tv_nsec >= (long)KI_NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= (long)KI_NS_PER_S;
    }
    int rc = pthread_cond_timedwait(&cond->raw, &mutex->raw, &until);
    assert(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}
