/* A pool of threads that call one function together.
 *
 * A call takes less than a millisecond in a search on small data, so threads poll for the next call, and the caller for
 * the end of a call, before they sleep: to wake a thread takes about as long as a short call. A thread that polls gives
 * its core to any other thread that wants it. One thread at a time may call. Between calls the threads of the pool sleep:
 * a new thread often starts on the core of its maker, and it takes some milliseconds until the system moves it to a free
 * one. A process that was forked has no threads of the pool, so it has to make its own pool.
 */
#ifndef LITERATI_THREAD_POOL_H
#define LITERATI_THREAD_POOL_H
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define POOL_SPINS 500             /* polls before a thread offers its core to others between polls */
#define POOL_YIELDS 2000           /* such polls before it sleeps, about a millisecond in all: a safe default */
#define POOL_STACK_BYTES (2 << 20) /* the steps of a search need less than 100 KiB */

#if defined(__x86_64__) || defined(__i386__)
#define POOL_PAUSE() __builtin_ia32_pause()
#else
#define POOL_PAUSE() ((void)0)
#endif

typedef void (*pool_fn)(void *state, int32_t thread);

typedef struct thread_pool thread_pool;
typedef struct {
    thread_pool *pool;
    int32_t index;
    pthread_t thread;
} pool_member;

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t called;    /* there is a new call, or the pool is closing */
    pthread_cond_t finished;  /* no thread works on the call any more */
    pool_fn function;         /* NULL: the pool is closing */
    void *state;
    int32_t calls;            /* number of calls so far; a thread waits until it changes */
    int32_t working;          /* threads that have not finished the call */
    int32_t n;                /* threads beside the caller */
    pid_t process;            /* that has the threads */
    pool_member members[];
};

/* Return the value of a counter and add one to it. */
static inline int32_t pool_take(int32_t *counter) {
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Order all memory accesses before it before all behind it. */
static inline void pool_fence(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Poll until a counter is `value`, or until it is not; return whether that happened before it is time to sleep. */
static int pool_poll(const int32_t *counter, int32_t value, int equal) {
    for (int i = 0; i < POOL_SPINS + POOL_YIELDS; i++) {
        if ((__atomic_load_n(counter, __ATOMIC_ACQUIRE) == value) == equal) return 1;
        if (i < POOL_SPINS) {
            POOL_PAUSE();
        } else {
            sched_yield();
        }
    }
    return 0;
}

static int32_t pool_next_call(thread_pool *pool, int32_t seen) {
    if (pool_poll(&pool->calls, seen, 0)) return __atomic_load_n(&pool->calls, __ATOMIC_ACQUIRE);
    pthread_mutex_lock(&pool->lock);
    while (__atomic_load_n(&pool->calls, __ATOMIC_ACQUIRE) == seen) pthread_cond_wait(&pool->called, &pool->lock);
    seen = __atomic_load_n(&pool->calls, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&pool->lock);
    return seen;
}

static void *pool_work(void *argument) {
    const pool_member *member = (const pool_member *)argument;
    thread_pool *pool = member->pool;
    int32_t calls = 0;
    for (;;) {
        calls = pool_next_call(pool, calls);
        if (pool->function == NULL) return NULL;
        pool->function(pool->state, member->index);
        if (__atomic_sub_fetch(&pool->working, 1, __ATOMIC_ACQ_REL) == 0) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static void pool_announce(thread_pool *pool, pool_fn function, void *state) {
    pool->function = function;
    pool->state = state;
    __atomic_store_n(&pool->working, pool->n, __ATOMIC_RELAXED);
    pthread_mutex_lock(&pool->lock);
    __atomic_add_fetch(&pool->calls, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool->called);
    pthread_mutex_unlock(&pool->lock);
}

/* Call function(state, thread) in all threads, with 0 in the calling one; return when all calls have returned. */
static void pool_run(thread_pool *pool, pool_fn function, void *state) {
    pool_announce(pool, function, state);
    function(state, 0);
    if (pool_poll(&pool->working, 0, 1)) return;
    pthread_mutex_lock(&pool->lock);
    while (__atomic_load_n(&pool->working, __ATOMIC_ACQUIRE)) pthread_cond_wait(&pool->finished, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* Return whether the threads of a pool exist in this process. */
static int pool_is_here(const thread_pool *pool) {
    return pool != NULL && pool->process == getpid();
}

/* End the threads. A pool that another process has made is given up: its lock may be held for ever. */
static void pool_free(thread_pool *pool) {
    if (!pool_is_here(pool)) return;
    pool_announce(pool, NULL, NULL);
    for (int32_t i = 0; i < pool->n; i++) pthread_join(pool->members[i].thread, NULL);
    pthread_cond_destroy(&pool->called);
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Start up to n threads beside the caller, numbered from 1. Return NULL if none can be started. */
static thread_pool *pool_new(int32_t n) {
    thread_pool *pool = (thread_pool *)calloc(1, sizeof(thread_pool) + (size_t)n * sizeof(pool_member));
    pthread_attr_t attributes;
    if (pool == NULL) return NULL;
    pool->process = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->called, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES);
    while (pool->n < n) {
        pool_member *member = &pool->members[pool->n];
        member->pool = pool;
        member->index = pool->n + 1;
        if (pthread_create(&member->thread, &attributes, pool_work, member) != 0) break;
        pool->n++;
    }
    pthread_attr_destroy(&attributes);
    if (pool->n == 0) {
        pool_free(pool);
        return NULL;
    }
    return pool;
}
#endif
