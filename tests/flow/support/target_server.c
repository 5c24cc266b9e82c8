/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/target_server.h"

#include <string.h>

static scripted_next target_serve(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (strcmp(r->target, "/plain") == 0) {
        (void)scripted_answer(c, "200 OK", "", "hello");
    } else if (strcmp(r->target, "/chunked") == 0) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, "hel") && scripted_chunk(c, "lo") &&
               scripted_chunk(c, ""));
    } else if (strcmp(r->target, "/until-closed") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/bytewise") == 0) {
        const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        for (const char *at = text; *at != 0; at++)
            if (!scripted_send_bytes(c, at, 1))
                return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-head") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nContent-Le");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-length") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-chunk") == 0) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, "hello"));
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/reset") == 0) {
        return SCRIPTED_RESET;
    } else if (strcmp(r->target, "/close") == 0) {
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/wait") == 0) {
        (void)scripted_wait(c, 1);
        (void)scripted_answer(c, "200 OK", "", "late");
    } else if (strcmp(r->target, "/echo") == 0) {
        (void)scripted_answer(c, "200 OK", "", r->head);
    } else if (strncmp(r->target, "/status/", 8) == 0) {
        (void)scripted_answer(c, r->target + 8, "Retry-After: 7\r\n", "no");
    } else if (strcmp(r->target, "/redirect") == 0) {
        (void)scripted_answer(c, "302 Found", "Location: https://u:secret@other.example/x?token=secret\r\n",
                              "");
    } else if (strcmp(r->target, "/interim") == 0) {
        (void)(scripted_send(c, "HTTP/1.1 103 Early Hints\r\nRetry-After: 3\r\n\r\n") &&
               scripted_answer(c, "200 OK", "", "hello"));
    } else {
        (void)scripted_answer(c, "404 Not Found", "", "");
    }
    return SCRIPTED_KEEP;
}

const scripted_http_options target_server = {.serve = target_serve};
