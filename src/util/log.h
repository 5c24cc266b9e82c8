/* SPDX-License-Identifier: Apache-2.0 */
/* log - what the library has to say, brought to the sink of a client or of the process.
 *
 *   From:     everywhere that has something to say
 *   To:       the callback of <kinformer/log.h>, or of ki_client_options
 *   Locks:    none; the callback runs on the calling thread, so no lock of ours may be held around ki_log().
 *   Not here: printing; time stamps; throttling.
 *
 * Most of what speaks does so on a loop of a client (util/loop/loop.h), which says whose sink is meant while
 * a job runs. What a client does on a thread of the program's names its sink by itself: ki_log_use(),
 * ki_log_to().
 */
#ifndef KI_UTIL_LOG_H
#define KI_UTIL_LOG_H

#include <kinformer/log.h>
#include <stdbool.h>

#define KI_LOG_MESSAGE_BYTES 512
#define KI_LOG_FIELDS_MAX 8
#define KI_LOG_VALUE_BYTES 256

typedef struct ki_log_fields {
    const ki_log_field *items;
    size_t count;
} ki_log_fields;

/* KI_LOG_FIELDS({"resource", KI_STR("pods")}, {"namespace", ns}): up to KI_LOG_FIELDS_MAX of them. */
#define KI_LOG_FIELDS(...)                                                                                   \
    ((ki_log_fields){(const ki_log_field[]){__VA_ARGS__},                                                    \
                     sizeof((const ki_log_field[]){__VA_ARGS__}) / sizeof(ki_log_field)})
#define KI_LOG_NO_FIELDS ((ki_log_fields){NULL, 0})

/* Says one thing: level, component ("reflector"), fields, then a format and its arguments, none of which
 * are evaluated unless the level is on. Message and values are cut (KI_LOG_MESSAGE_BYTES,
 * KI_LOG_VALUE_BYTES) and cleaned of control characters. Allocates nothing. */
#define ki_log(level, component, fields, ...)                                                                \
    do {                                                                                                     \
        if (ki_log_is_on(level))                                                                             \
            ki_log_write((level), (component), (fields), __VA_ARGS__);                                       \
    } while (0)

/* The same to a sink that is named; NULL: that of the process. */
#define ki_log_to(sink, level, component, fields, ...)                                                       \
    do {                                                                                                     \
        const ki_log_sink *ki_log_before = ki_log_use(sink);                                                 \
        ki_log(level, component, fields, __VA_ARGS__);                                                       \
        (void)ki_log_use(ki_log_before);                                                                     \
    } while (0)

typedef struct ki_log_sink {
    ki_log_cb callback;
    void *user;
    int level_max; /* the most talkative level that it gets; 0: none */
} ki_log_sink;

/* Written by ki_set_log() only, while no other thread is inside the library. */
extern ki_log_sink ki_log_of_process;

/* Whom this thread speaks for; NULL: the process. */
extern _Thread_local const ki_log_sink *ki_log_of_thread;

/* From now on this thread speaks for another. Returns for whom it did, to be given back. */
static inline const ki_log_sink *ki_log_use(const ki_log_sink *sink)
{
    const ki_log_sink *before = ki_log_of_thread;
    ki_log_of_thread = sink;
    return before;
}

static inline const ki_log_sink *ki_log_current(void)
{
    return ki_log_of_thread != NULL ? ki_log_of_thread : &ki_log_of_process;
}

static inline bool ki_log_is_on(ki_log_level level)
{
    return (int)level <= ki_log_current()->level_max;
}

/* The part behind ki_log(). */
void ki_log_write(ki_log_level level, const char *component, ki_log_fields fields, const char *format, ...)
    KI_PRINTF(4, 5);

#endif
