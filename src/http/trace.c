/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trace.h"

#include <assert.h>
#include <string.h>

#include "config/redact.h"
#include "util/log.h"

enum { LINE_BYTES = 400 };

static void log_line(const ki_mask *mask, const char *direction, ki_str line)
{
    char shown[LINE_BYTES];
    size_t len = ki_redact_header(shown, sizeof(shown), line);
    if (mask->hide != NULL && len > 0) {
        len = mask->hide(shown, len, mask->user);
        shown[len] = 0;
    }
    if (len > 0)
        ki_log(KI_LOG_TRACE, "http", KI_LOG_NO_FIELDS, "%s %s", direction, shown);
}

/* The rest of a line that has begun in the piece before is left out: without its name nobody can tell whether
 * it is a secret. */
void ki_trace_take(ki_trace *trace, bool is_sent, ki_str piece)
{
    assert(trace != NULL);
    assert(piece.ptr != NULL || piece.len == 0);
    bool *is_inside = is_sent ? &trace->is_inside_sent : &trace->is_inside_received;
    while (piece.len > 0) {
        const char *end = memchr(piece.ptr, '\n', piece.len);
        size_t n = end != NULL ? (size_t)(end - piece.ptr) + 1 : piece.len;
        if (!*is_inside)
            log_line(&trace->mask, is_sent ? ">" : "<", (ki_str){piece.ptr, n});
        *is_inside = end == NULL;
        piece.ptr += n;
        piece.len -= n;
    }
}

/* As libcurl declares it. NOLINTNEXTLINE(readability-non-const-parameter) */
static int on_debug(CURL *easy, curl_infotype type, char *bytes, size_t n, void *user)
{
    (void)easy;
    if (type == CURLINFO_HEADER_OUT || type == CURLINFO_HEADER_IN)
        ki_trace_take(user, type == CURLINFO_HEADER_OUT, (ki_str){bytes, n});
    return 0;
}

bool ki_trace_set(ki_trace *trace, CURL *easy, ki_mask mask)
{
    if (!ki_log_is_on(KI_LOG_TRACE))
        return true;
    *trace = (ki_trace){.mask = mask};
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_DEBUGDATA, trace) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L) == CURLE_OK;
}
