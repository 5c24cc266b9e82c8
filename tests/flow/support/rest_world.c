/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
#include "flow/support/rest_world.h"

#include <stdio.h>
#include <string.h>

#include "flow/support/client_live.h"
#include "flow/support/scripted_client.h"
#include "support/patience.h"
#include "support/unit.h"

ki_rest_request rest_request(int verb)
{
    ki_rest_request request = {
        .verb = (ki_rest_verb)verb, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"};
    if (verb == KI_REST_CREATE || verb == KI_REST_LIST)
        request.name = NULL;
    if (verb == KI_REST_PATCH)
        request.patch = KI_PATCH_MERGE;
    if (verb == KI_REST_CREATE || verb == KI_REST_UPDATE || verb == KI_REST_PATCH)
        request.body = KI_STR("{\"metadata\":{\"name\":\"a\"}}");
    return request;
}

void rest_world_hear(const ki_rest_answer *answer, void *user)
{
    told_answer *told = user;
    told->error = answer->error.code;
    told->code = answer->http_status;
    told->attempts = answer->attempts;
    if (answer->object != NULL)
        (void)snprintf(told->name, sizeof(told->name), "%.*s", KI_STR_ARGS(ki_object_name(answer->object)));
    told->times++;
}

ki_rest_request rest_request_heard(int verb, told_answer *told)
{
    ki_rest_request request = rest_request(verb);
    request.on_answer = rest_world_hear;
    request.user = told;
    return request;
}

void rest_world_init(rest_world *w, scripted_serve_cb serve, void *user)
{
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = user});
    w->options.mode = (ki_mode)w->mode;
    w->client = scripted_client_new(w->options, w->server, &w->http);
}

void rest_world_fini(rest_world *w)
{
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

uint64_t rest_world_now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

void rest_world_live(rest_world *w)
{
    client_live(w->client, (ki_mode)w->mode);
}

void rest_world_wait(rest_world *w, told_answer *told, int times)
{
    uint64_t deadline_ms = rest_world_now_ms() + HANG_MS;
    while (told->times < times) {
        assert_true(rest_world_now_ms() < deadline_ms);
        rest_world_live(w);
    }
}

static void find_header(const scripted_request *r, const char *name, char *value, size_t size)
{
    const char *at = strcasestr(r->head, name);
    value[0] = 0;
    if (at == NULL)
        return;
    at += strlen(name);
    (void)snprintf(value, size, "%.*s", (int)strcspn(at, "\r"), at);
}

scripted_next rest_world_echo(scripted_connection *c, const scripted_request *r, void *user)
{
    char type[128];
    char body[1024];
    char text[8192];
    (void)user;
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    find_header(r, "\r\nContent-Type: ", type, sizeof(type));
    (void)snprintf(
        text, sizeof(text),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"web\",\"name\":\"a\"},"
        "\"method\":\"%s\",\"target\":\"%s\",\"type\":\"%s\",\"body\":%s}",
        r->method, r->target, type, body[0] == 0 ? "null" : body);
    (void)scripted_answer(c, "200 OK", "", text);
    return SCRIPTED_KEEP;
}
