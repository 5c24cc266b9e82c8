/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem; NOLINT(bugprone-reserved-identifier) */
#endif
#include "api/decode/refusal.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "util/error.h"
#include "util/text/one_line.h"

enum { SHOWN_BYTES = 200 };

/* How servers written in Go, nginx and Apache respond to a client that does not use TLS. */
static const char *const plain_http_phrases[] = {"HTTP request to an HTTPS server",
                                                 "plain HTTP request was sent to HTTPS port",
                                                 "speaking plain HTTP to an SSL-enabled server"};

static int contains(ki_str text, const char *phrase)
{
    return memmem(text.ptr, text.len, phrase, strlen(phrase)) != NULL;
}

static int wants_tls(const ki_refusal *refusal)
{
    const size_t count = sizeof(plain_http_phrases) / sizeof(plain_http_phrases[0]);
    for (size_t i = 0; refusal->http_status == 400 && refusal->body.len > 0 && i < count; i++)
        if (contains(refusal->body, plain_http_phrases[i]))
            return 1;
    return 0;
}

/* The first line, unless the body is HTML or JSON, or begins with white space. */
static ki_str first_line(ki_str body)
{
    ki_str line = body;
    if (body.len == 0 || strchr("<{[\r\n \t", body.ptr[0]) != NULL)
        return (ki_str){0};
    const char *end = memchr(body.ptr, '\n', body.len);
    if (end != NULL)
        line.len = (size_t)(end - body.ptr);
    while (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

static const char *withheld(const ki_refusal *refusal)
{
    bool is_about_who = refusal->http_status == 401 || refusal->http_status == 403;
    return is_about_who && refusal->withheld != NULL ? refusal->withheld : "";
}

/* With a Status, the object is missing, not the resource. */
static const char *hint(const ki_refusal *refusal)
{
    assert(refusal->status == NULL);
    return refusal->http_status == 404 ? ", as for a resource that it does not serve" : "";
}

void ki_refusal_explain(const ki_refusal *refusal, ki_error *err)
{
    assert(refusal != NULL);
    char shown[SHOWN_BYTES];
    const ki_status *status = refusal->status;
    const char *why = withheld(refusal);
    const char *comma = why[0] != 0 ? ", and " : "";
    if (status != NULL) {
        ki_error_set(err, refusal->code, 0, "the server responded with %d%s%.*s%s%s%s%.*s",
                     refusal->http_status, status->reason.len > 0 ? " " : "", KI_STR_ARGS(status->reason),
                     comma, why, status->message.len > 0 ? ": " : "", KI_STR_ARGS(status->message));
    } else if (wants_tls(refusal)) {
        ki_error_set(err, refusal->code, 0,
                     "the server responded with %d, because it expects TLS: its address must begin with "
                     "https://",
                     refusal->http_status);
    } else {
        size_t n = ki_one_line_cut(shown, sizeof(shown), first_line(refusal->body));
        ki_error_set(err, refusal->code, 0, "the server responded with %d%s%s%s%s%s", refusal->http_status,
                     comma, why, hint(refusal), n > 0 ? ": " : "", shown);
    }
}
