/* SPDX-License-Identifier: Apache-2.0 */
/* log - what the library has to say, brought to the sink of the process.
 *
 *   From:     everywhere that has something to say
 *   To:       the callback of <kinformer/log.h>
 *   Locks:    none; the callback runs on the calling thread, so no lock of ours may be held around ki_log().
 *   Not here: printing; time stamps; throttling.
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

/* The most talkative level that has a sink; 0: none. Written by ki_set_log() only, while no other thread is
 * inside the library. */
extern int ki_log_level_max;

static inline bool ki_log_is_on(ki_log_level level)
{
    return (int)level <= ki_log_level_max;
}

/* The part behind ki_log(). */
void ki_log_write(ki_log_level level, const char *component, ki_log_fields fields, const char *format, ...)
    KI_PRINTF(4, 5);

#endif
