/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/rcu.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/fork.h"
#include "util/units.h"

#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_THREAD_SANITIZED 1
#endif
#endif

/* READERS: a block of this many readers is exactly one page. */
enum { READERS = 63, ROUNDS_WITHOUT_REST = 64 };

typedef struct block {
    _Atomic(struct block *) next;
    _Atomic unsigned used; /* readers from this index on were never taken */
    ki_rcu_reader readers[READERS];
} block;

_Atomic uint64_t ki_rcu_epoch = KI_RCU_EPOCH;
_Atomic bool ki_rcu_needs_fence = true;
_Thread_local ki_rcu_reader *ki_rcu_self;

static block first_block;
static _Atomic size_t counted;               /* open sections of threads without a reader struct */
static _Thread_local unsigned counted_depth; /* the nesting depth of such sections of this thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
static bool has_key;
static int fork_rc;

/* ---- fences ------------------------------------------------------------------------------------------ */

void ki_rcu_fence(void)
{
#ifdef IS_THREAD_SANITIZED
    /* ThreadSanitizer does not understand fences. On the machines it supports, a locked instruction acts as
     * a fence. */
    static _Atomic int place;
    (void)atomic_fetch_add(&place, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static bool call_membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) >= 0;
}

/* Executes a fence on all threads of the process. If the program has forbidden the system call (seccomp)
 * meanwhile, readers use their own fences from now on. Readers that have just begun without a fence are
 * given the time of one rest, which is much longer than a store takes to become visible. */
static void fence_all_threads(void)
{
    ki_rcu_fence();
    if (ki_rcu_needs_fence || call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return;
    ki_rcu_needs_fence = true;
    ki_rcu_rest(ROUNDS_WITHOUT_REST);
}

/* ---- readers ----------------------------------------------------------------------------------------- */

/* Both stores are release: all reads, and the last store to `section`, come before another thread takes the
 * struct. */
static void give_back(ki_rcu_reader *reader)
{
    atomic_store_explicit(&reader->section, 0, memory_order_release);
    atomic_store_explicit(&reader->is_taken, false, memory_order_release);
}

/* If a thread ends inside a section, this ends the section. */
static void end_thread(void *reader)
{
    ki_rcu_self = NULL;
    give_back(reader);
}

static void forget_other_threads(void);

static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    (void)hook;
    if (phase == KI_FORK_CHILD)
        forget_other_threads();
}

static void begin_once(void)
{
    static ki_fork_hook hook = {.order = KI_FORK_RCU, .run = on_fork};
    fork_rc = ki_fork_add(&hook);
    has_key = pthread_key_create(&at_thread_end, end_thread) == 0;
    ki_rcu_needs_fence = !call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

int ki_rcu_begin(void)
{
    (void)pthread_once(&once, begin_once);
    return fork_rc;
}

static bool take(ki_rcu_reader *reader)
{
    /* The load spares the exchange for readers that are taken; it is only a hint, hence relaxed. */
    bool is_taken = atomic_load_explicit(&reader->is_taken, memory_order_relaxed);
    return !is_taken && atomic_compare_exchange_strong(&reader->is_taken, &is_taken, true);
}

static ki_rcu_reader *take_in(block *b)
{
    for (unsigned i = 0; i < READERS; i++) {
        if (!take(&b->readers[i]))
            continue;
        unsigned used = atomic_load(&b->used);
        while (used < i + 1 && !atomic_compare_exchange_weak(&b->used, &used, i + 1)) {
        }
        return &b->readers[i];
    }
    return NULL;
}

/* The memory comes from the system, because it must outlive the program's allocator. */
static block *next_block(block *b)
{
    block *next = atomic_load(&b->next);
    if (next != NULL)
        return next;
    block *fresh = mmap(NULL, sizeof(block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(&b->next, &next, fresh))
        return fresh;
    (void)munmap(fresh, sizeof(block)); /* another thread was faster */
    return next;
}

static ki_rcu_reader *find_reader(void)
{
    (void)!ki_rcu_begin(); /* a thread may read before anything was written */
    if (!has_key)
        return NULL;
    for (block *b = &first_block; b != NULL; b = next_block(b)) {
        ki_rcu_reader *reader = take_in(b);
        if (reader == NULL)
            continue;
        if (pthread_setspecific(at_thread_end, reader) == 0)
            return reader;
        atomic_store(&reader->is_taken, false);
        return NULL;
    }
    return NULL;
}

void ki_rcu_count_this_thread(void)
{
    counted_depth++;
    (void)atomic_fetch_add(&counted, 1);
    ki_rcu_fence();
}

void ki_rcu_read_lock_slowly(void)
{
    if (counted_depth == 0)
        ki_rcu_self = find_reader();
    if (ki_rcu_self != NULL) {
        ki_rcu_read_lock();
        return;
    }
    ki_rcu_count_this_thread();
}

void ki_rcu_read_unlock_slowly(void)
{
    assert(counted_depth > 0);
    counted_depth--;
    (void)atomic_fetch_sub(&counted, 1);
}

bool ki_rcu_is_counted(void)
{
    return counted_depth > 0;
}

/* ---- grace periods ----------------------------------------------------------------------------------- */

uint64_t ki_rcu_begin_grace(void)
{
    uint64_t grace = atomic_fetch_add(&ki_rcu_epoch, KI_RCU_EPOCH) + KI_RCU_EPOCH;
    fence_all_threads();
    return grace;
}

static bool has_passed_in(const block *b, uint64_t grace)
{
    unsigned used = atomic_load(&((block *)b)->used);
    for (unsigned i = 0; i < used; i++) {
        /* Acquire: reads in a section that has ended come before this. */
        uint64_t section = atomic_load_explicit(&((block *)b)->readers[i].section, memory_order_acquire);
        if (section != 0 && section < grace)
            return false;
    }
    return true;
}

/* Readers that are taken after the loop has passed them do not matter: a section that begins after the
 * grace period began cannot find an element that was unlinked before. */
bool ki_rcu_has_passed(uint64_t grace)
{
    if (atomic_load(&counted) != 0)
        return false;
    for (const block *b = &first_block; b != NULL; b = atomic_load(&((block *)b)->next))
        if (!has_passed_in(b, grace))
            return false;
    return true;
}

/* Callers poll: if readers had to wake them, each section would cost a fence. */
void ki_rcu_rest(unsigned round)
{
    if (round < ROUNDS_WITHOUT_REST)
        (void)sched_yield();
    else
        (void)nanosleep(&(struct timespec){.tv_nsec = KI_NS_PER_MS}, NULL);
}

void ki_rcu_wait(uint64_t grace)
{
    assert(!ki_rcu_is_reading());
    for (unsigned round = 0; !ki_rcu_has_passed(grace); round++)
        ki_rcu_rest(round);
}

/* ---- fork -------------------------------------------------------------------------------------------- */

/* In a child, the other threads and their sections are gone. This thread may be in a section. */
static void forget_other_threads(void)
{
    for (block *b = &first_block; b != NULL; b = atomic_load(&b->next))
        for (unsigned i = 0; i < READERS; i++)
            if (&b->readers[i] != ki_rcu_self)
                give_back(&b->readers[i]);
    atomic_store(&counted, counted_depth);
    if (!ki_rcu_needs_fence)
        ki_rcu_needs_fence = !call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
