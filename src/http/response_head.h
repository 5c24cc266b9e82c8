/* SPDX-License-Identifier: Apache-2.0 */
/* response_head - what the head of an HTTP answer says, read line by line, within a limit.
 *
 *   From:     http/transfer.c   (lines as libcurl splits them)
 *   To:       whoever asked
 *   Locks:    none; plain data.
 *   Not here: what a status means.
 */
#ifndef KI_HTTP_RESPONSE_HEAD_H
#define KI_HTTP_RESPONSE_HEAD_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

#include "util/clock.h"

#define KI_RETRY_AFTER_SECONDS_MAX 600

/* One with bytes_max alone has read nothing. What does not fit a text is cut. */
typedef struct ki_response_head {
    int status;
    uint32_t retry_after_seconds; /* 0: not said */
    bool is_complete;
    bool is_gzip;          /* Content-Encoding */
    bool has_other_coding; /* one that nobody has asked for */
    size_t bytes;
    size_t bytes_max;      /* of the head, with those of interim answers and trailers */
    char content_type[64]; /* without parameters, as it was written */
    char location[256];    /* without user, query and fragment, which may be secrets */
} ki_response_head;

/* One line with its end; an empty one ends the head. Interim answers (1xx) are read and forgotten. What
 * lines behind the head (trailers) say is ignored; they count all the same, since libcurl keeps them. `clock`
 * tells what a date is worth. Returns 0, or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_response_head_line(ki_response_head *head, ki_str line, const ki_clock *clock);

#endif
