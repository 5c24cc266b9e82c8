/* SPDX-License-Identifier: Apache-2.0 */
#include "support/apiserver/api_rig.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/unit.h"

enum { TIMEOUT_MS = 30 * 1000, RECEIVE_MS = 10 * 1000 };

/* ---- growable text ------------------------------------------------------------------------------------- */

typedef struct text {
    char *data;
    size_t len;
} text;

static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    text *t = user;
    size_t n = size * count;
    char *data = realloc(t->data, t->len + n + 1);
    assert_non_null(data);
    memcpy(data + t->len, bytes, n);
    t->data = data;
    t->len += n;
    data[t->len] = 0;
    return n;
}

void api_answer_fini(api_answer *answer)
{
    free(answer->headers);
    free(answer->body);
    json_decref(answer->tree);
    *answer = (api_answer){0};
}

/* ---- requests ------------------------------------------------------------------------------------------ */

ki_apiserver *api_rig_start(const ki_apiserver_options *options)
{
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(options, &err);
    if (server == NULL)
        fail_msg("the server does not start: %s", err.message);
    return server;
}

static struct curl_slist *headers_of(const api_request *request)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    int has_type = 0;
    int has_agent = 0;
    for (size_t i = 0; i < 6 && request->headers[i] != NULL; i++) {
        list = curl_slist_append(list, request->headers[i]);
        has_type |= strncasecmp(request->headers[i], "Content-Type:", 13) == 0;
        has_agent |= strncasecmp(request->headers[i], "User-Agent:", 11) == 0;
    }
    if (!has_type)
        list = curl_slist_append(list, "Content-Type: application/json");
    if (!has_agent)
        list = curl_slist_append(list, "User-Agent: tests/1.0");
    return list;
}

static void set_body(CURL *curl, const api_request *request)
{
    if (request->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body));
    }
    if (request->method != NULL)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->method != NULL && strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
}

api_answer api_call(const ki_apiserver *server, const api_request *request)
{
    api_answer answer = {0};
    text headers = {0};
    text body = {0};
    char url[8192];
    long status = 0;
    CURL *curl = curl_easy_init();
    struct curl_slist *list = headers_of(request);
    assert_non_null(curl);
    snprintf(url, sizeof(url), "%s%s", ki_apiserver_url(server), request->path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     request->timeout_ms > 0 ? request->timeout_ms : (long)TIMEOUT_MS);
    struct curl_blob blob = {(char *)(uintptr_t)request->authority,
                             request->authority ? strlen(request->authority) : 0, CURL_BLOB_COPY};
    if (request->authority != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
    set_body(curl, request);
    answer.is_broken = curl_easy_perform(curl) != CURLE_OK;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    answer.status = (int)status;
    answer.headers = headers.data;
    answer.body = body.data != NULL ? body.data : calloc(1, 1);
    answer.body_len = body.len;
    answer.tree = json_loadb(answer.body, answer.body_len, 0, NULL);
    return answer;
}

api_answer api_get(const ki_apiserver *server, const char *path)
{
    return api_call(server, &(api_request){.path = path});
}

void api_post(const ki_apiserver *server, const char *path, const char *body)
{
    api_answer answer = api_call(server, &(api_request){.path = path, .body = body});
    if (answer.status != 201 && answer.status != 200)
        fail_msg("POST %s: %d %s", path, answer.status, answer.body);
    api_answer_fini(&answer);
}

void api_put_pod(ki_apiserver *server, const char *name, const char *app, const char *node)
{
    static const ki_resource pods = {"", "v1", "pods", "Pod", KI_SCOPE_NAMESPACED, 0};
    ki_error err = {0};
    char json[1024];
    snprintf(
        json, sizeof(json),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\","
        "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\"}]}}",
        name, app, node);
    if (ki_apiserver_put(server, &pods, json, &err) < 0)
        fail_msg("put %s: %s", name, err.message);
}

ki_apiserver *api_rig_start_with_pods(const ki_apiserver_options *options)
{
    ki_apiserver *server = api_rig_start(options);
    api_put_pod(server, "a", "web", "node-1");
    api_put_pod(server, "b", "db", "node-2");
    return server;
}

int api_rig_stop(void **state)
{
    ki_apiserver_free(*state);
    return 0;
}

/* ---- the content of a response ------------------------------------------------------------------------- */

const json_t *api_at(const json_t *tree, const char *path)
{
    while (tree != NULL && *path != 0) {
        char name[128];
        size_t len = strcspn(path, ".");
        assert_true(len < sizeof(name));
        memcpy(name, path, len);
        name[len] = 0;
        tree = json_is_array(tree) ? json_array_get(tree, (size_t)atoi(name)) : json_object_get(tree, name);
        path += path[len] == '.' ? len + 1 : len;
    }
    return tree;
}

const char *api_text(const api_answer *answer, const char *path)
{
    const char *value = json_string_value(api_at(answer->tree, path));
    return value == NULL ? "" : value;
}

const char *api_header(const api_answer *answer, const char *name)
{
    static char value[512];
    size_t len = strlen(name);
    value[0] = 0;
    for (const char *line = answer->headers; line != NULL && *line != 0;) {
        const char *end = strstr(line, "\r\n");
        if (end == NULL)
            break;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':')
            snprintf(value, sizeof(value), "%.*s", (int)(end - line - (int)len - 2), line + len + 2);
        line = end + 2;
    }
    return value;
}

json_t *api_next_event(const api_answer *answer, size_t *at)
{
    const char *line = answer->body + *at;
    const char *end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    json_t *event = json_loadb(line, (size_t)(end - line), 0, NULL);
    assert_non_null(event);
    *at += (size_t)(end - line) + 1;
    return event;
}

/* ---- plain sockets ------------------------------------------------------------------------------------- */

int api_connect(const ki_apiserver *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *colon = strrchr(ki_apiserver_url(server), ':');
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)(void *)&address, sizeof(address)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void api_send(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

char *api_receive(int fd, const char *until, int *out_error)
{
    text got = {calloc(1, 1), 0};
    char piece[64 * 1024];
    int error = 0;
    for (;;) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        if (poll(&polled, 1, RECEIVE_MS) <= 0) {
            error = ETIMEDOUT;
            break;
        }
        ssize_t n = recv(fd, piece, sizeof(piece), 0);
        if (n <= 0) {
            error = n < 0 ? errno : 0;
            break;
        }
        size_t from = until != NULL && got.len > strlen(until) ? got.len - strlen(until) : 0;
        (void)on_bytes(piece, 1, (size_t)n, &got);
        if (until != NULL && strstr(got.data + from, until) != NULL)
            break;
    }
    if (out_error != NULL)
        *out_error = error;
    return got.data;
}
