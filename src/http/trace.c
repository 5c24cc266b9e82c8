/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trace.h"

#include <string.h>

#include "config/redact.h"
#include "util/log.h"

enum { LINE_BYTES = 400 };

static void log_line(const char *direction, ki_str line)
{
    char shown[LINE_BYTES];
    if (ki_redact_header(shown, sizeof(shown), line) > 0)
        ki_log(KI_LOG_TRACE, "http", KI_LOG_NO_FIELDS, "%s %s", direction, shown);
}

/* A request's head comes whole, an answer's line by line. */
static void log_lines(const char *direction, ki_str text)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
        log_line(direction, (ki_str){text.ptr, n});
        text.ptr += n;
        text.len -= n;
    }
}

/* As libcurl declares it. NOLINTNEXTLINE(readability-non-const-parameter) */
static int on_debug(CURL *easy, curl_infotype type, char *bytes, size_t n, void *user)
{
    (void)easy;
    (void)user;
    if (type == CURLINFO_HEADER_OUT)
        log_lines(">", (ki_str){bytes, n});
    else if (type == CURLINFO_HEADER_IN)
        log_lines("<", (ki_str){bytes, n});
    return 0;
}

bool ki_trace_set(CURL *easy)
{
    if (!ki_log_is_on(KI_LOG_TRACE))
        return true;
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L) == CURLE_OK;
}
