/* SPDX-License-Identifier: Apache-2.0 */
/* log - sends log messages to the sink of a client or of the process.
 *
 *   From:     all code that logs
 *   To:       the callback of <kinformer/log.h>, or of ki_client_options
 *   Locks:    none; the callback runs on the calling thread, so hold no lock of the library around ki_log().
 *   Not here: printing; time stamps; throttling.
 *
 * Most messages are logged on a loop of a client (util/loop/loop.h), which selects the client's sink while
 * a job runs. When a client works on a thread of the program, it selects its sink itself: ki_log_use(),
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

/* KI_LOG_FIELDS({"resource", KI_STR("pods")}, {"namespace", ns}): up to KI_LOG_FIELDS_MAX fields. */
#define KI_LOG_FIELDS(...)                                                                                   \
    ((ki_log_fields){(const ki_log_field[]){__VA_ARGS__},                                                    \
                     sizeof((const ki_log_field[]){__VA_ARGS__}) / sizeof(ki_log_field)})
#define KI_LOG_NO_FIELDS ((ki_log_fields){NULL, 0})

/* Logs one message: level, component ("reflector"), fields, then a format and its arguments, which are
 * evaluated only if the level is enabled. Message and values are cut (KI_LOG_MESSAGE_BYTES,
 * KI_LOG_VALUE_BYTES), and control characters are replaced. Allocates nothing. */
#define ki_log(level, component, fields, ...)                                                                \
    do {                                                                                                     \
        if (ki_log_is_on(level))                                                                             \
            ki_log_write((level), (component), (fields), __VA_ARGS__);                                       \
    } while (0)

/* Like ki_log(), for a given sink; NULL is the sink of the process. */
#define ki_log_to(sink, level, component, fields, ...)                                                       \
    do {                                                                                                     \
        const ki_log_sink *ki_log_before = ki_log_use(sink);                                                 \
        ki_log(level, component, fields, __VA_ARGS__);                                                       \
        (void)ki_log_use(ki_log_before);                                                                     \
    } while (0)

typedef struct ki_log_sink {
    ki_log_cb callback;
    void *user;
    int level_max; /* the most verbose level that the sink receives; 0 if it receives none */
} ki_log_sink;

/* Written only by ki_set_log(), while no other thread uses the library. */
extern ki_log_sink ki_log_of_process;

/* The sink of this thread; NULL is the sink of the process. */
extern _Thread_local const ki_log_sink *ki_log_of_thread;

/* Sets the sink of this thread. Returns the previous one, which the caller restores. */
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

/* The implementation of ki_log(). */
void ki_log_write(ki_log_level level, const char *component, ki_log_fields fields, const char *format, ...)
    KI_PRINTF(4, 5);

#endif
