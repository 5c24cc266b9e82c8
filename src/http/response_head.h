/* SPDX-License-Identifier: Apache-2.0 */
/* response_head - parses the head of an HTTP response line by line, within a limit.
 *
 *   From:     http/transfer_receive.c (lines as libcurl splits them), rest/
 *   To:       the transfer's on_head
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

/* If only bytes_max is set, nothing was read so far. Values that do not fit are truncated. */
typedef struct ki_response_head {
    int status;
    uint32_t retry_after_seconds; /* 0 if not given */
    bool is_complete;
    bool is_gzip;          /* Content-Encoding */
    bool has_other_coding; /* another Content-Encoding, which was not requested */
    size_t bytes;
    size_t bytes_max;      /* of the head, including interim responses and trailers */
    char content_type[64]; /* without parameters, as written */
    char location[256];    /* without user, query and fragment, which may be secrets */
} ki_response_head;

/* Takes one line with its end; an empty line ends the head. Interim responses (1xx) are read and dropped.
 * Lines after the head (trailers) are ignored, but count towards the limit, because libcurl keeps them.
 * `clock` is needed for dates. Returns 0 or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_response_head_line(ki_response_head *head, ki_str line, const ki_clock *clock);

#endif
