/* SPDX-License-Identifier: Apache-2.0 */
/* log - what the library has to say, through a callback. It prints nothing by itself: without ki_set_log() it
 * is silent, but for clients that have a log of their own (ki_client_options.log). */
#ifndef KI_LOG_H
#define KI_LOG_H

#include <kinformer/common.h>

KI_EXTERN_C_BEGIN

typedef enum ki_log_level {
    KI_LOG_ERROR = 1,
    KI_LOG_WARNING = 2,
    KI_LOG_INFO = 3,
    KI_LOG_DEBUG = 4,
    KI_LOG_TRACE = 5
} ki_log_level;

/** One structured field of a record. */
typedef struct ki_log_field {
    const char *name;
    ki_str value;
} ki_log_field;

/** One record; everything in it is borrowed for the call. */
typedef struct ki_log_record {
    ki_log_level level;
    const char *component; /* "reflector" */
    const char *message;   /* one line, no secret */
    const ki_log_field *fields;
    size_t field_count;
} ki_log_record;

/** Called from any thread, also from several at once, and never while a lock of the library is held, but for
 * what an index or key function makes the library say itself, as by ki_store_free(); must not call into the
 * library. */
typedef void (*ki_log_cb)(const ki_log_record *record, void *user);

/**
 * Sets the sink of the process and the most talkative level it gets; NULL: silence, as at start. It hears of
 * everything that belongs to no client, and of clients without a log of their own.
 *
 * Threads: none other may be inside the library.
 */
KI_API void ki_set_log(ki_log_cb callback, ki_log_level level, void *user);

KI_EXTERN_C_END

#endif
