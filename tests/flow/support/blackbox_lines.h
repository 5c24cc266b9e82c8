/* SPDX-License-Identifier: Apache-2.0 */
/* blackbox_lines - the output of `-o events`, in the words of blackbox.h.
 *
 * Fails the test for a line that is not JSON or lacks its resource or its time, for BACKING_OFF without a
 * reason, and for an impossible history of a key. */
#ifndef KI_TESTS_FLOW_SUPPORT_BLACKBOX_LINES_H
#define KI_TESTS_FLOW_SUPPORT_BLACKBOX_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "support/text_log.h"

enum { BLACKBOX_KEYS = 32 };

typedef struct blackbox_lines {
    bool is_new_history; /* versions may decrease */
    text_log events;
    text_log phases;
    size_t used; /* bytes of the output that were read */
    size_t key_count;
    struct blackbox_key {
        char name[64];
        char version[32]; /* of the last event; may be truncated */
        bool is_there;
    } keys[BLACKBOX_KEYS];
} blackbox_lines;

/* Reads the complete lines that were written since the last call. */
void blackbox_lines_take(blackbox_lines *lines, const text_log *written);
void blackbox_lines_fini(blackbox_lines *lines);

#endif
