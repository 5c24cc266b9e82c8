/* SPDX-License-Identifier: Apache-2.0 */
/* log - log records, passed to a callback. The library prints nothing itself: without ki_set_log() it is
 * silent, except for clients with a log callback of their own (ki_client_options.log). */
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

/** One record; everything in it is borrowed for the call. The message is one line of less than 512 bytes, and
 * a value one of less than 256; longer ones are cut. */
typedef struct ki_log_record {
    ki_log_level level;
    const char *component;      /* "reflector" */
    const char *message;        /* no secret */
    const ki_log_field *fields; /* those that have a value */
    size_t field_count;         /* at most 8 */
} ki_log_record;

/** Called from any thread, also from several at once. It must not call the library, except ki_str_…(),
 * ki_error_name() and ki_error_text(). The library holds no lock meanwhile, with one exception: a record that
 * an index or key function causes itself, for example by calling ki_store_free(), is passed on with the lock
 * of the store. */
typedef void (*ki_log_cb)(const ki_log_record *record, void *user);

/**
 * Sets the log callback of the process, and the most verbose level it receives; 0: it receives nothing
 * (unlike in ki_client_options, where 0 means KI_LOG_INFO). A NULL callback, the default: no logging. The
 * callback receives the records of clients that have no log callback of their own, and records that belong to
 * no client.
 *
 * Threads: no other thread may be using the library.
 */
KI_API void ki_set_log(ki_log_cb callback, ki_log_level level, void *user);

/**
 * A ki_log_cb that writes each record as one line to `file`, a FILE *, or to stderr if that is NULL:
 *
 *   ki_set_log(ki_log_print, KI_LOG_WARNING, NULL);
 *   reflector: Failed to connect to 10.0.0.1 port 6443 name=pods resource=pods reason=ConnectionRefused
 *
 * Threads: any; lines are never mixed.
 */
KI_API void ki_log_print(const ki_log_record *record, void *file);

KI_EXTERN_C_END

#endif
