/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication, and requests from web pages. */
#include <fcntl.h>
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/client/certificates.h"
#include "support/patience.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/text/base64.h"

static const char *const tokens[] = {"first-secret", "second-secret", NULL};

static int status_with(ki_apiserver *server, const char *header)
{
    api_answer answer = api_call(server, &(api_request){.path = "/api/v1/pods", .headers = {header}});
    int status = answer.status;
    if (status == 401) {
        assert_string_equal(api_text(&answer, "reason"), "Unauthorized");
        assert_string_equal(api_text(&answer, "message"), "Unauthorized");
    }
    api_answer_fini(&answer);
    return status;
}

static void only_requests_with_a_token_are_accepted(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    assert_int_equal(status_with(server, "Authorization: Bearer first-secret"), 200);
    assert_int_equal(status_with(server, "Authorization: bearer second-secret"), 200);
    assert_int_equal(status_with(server, "Authorization: Bearer first-secre"), 401);
    assert_int_equal(status_with(server, "Authorization: Bearer first-secret2"), 401);
    assert_int_equal(status_with(server, "Authorization: Basic first-secret"), 401);
    assert_int_equal(status_with(server, "X-Nothing: 1"), 401);
    api_answer answer = api_get(server, "/healthz");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

static void assert_first_line(ki_apiserver *server, const char *request, const char *line)
{
    int fd = api_connect(server);
    api_send(fd, request, strlen(request));
    char *got = api_receive(fd, "\r\n", NULL);
    assert_int_equal(strncmp(got, line, strlen(line)), 0);
    free(got);
    close(fd);
}

/* Without tokens, the Host header shows which requests come from pages of other sites. */
static void a_request_of_http_1_1_must_have_a_host(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){0});
    assert_first_line(server, "GET /api/v1/pods HTTP/1.1\r\n\r\n", "HTTP/1.1 400");
    assert_first_line(server, "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200");
    assert_first_line(server, "GET /api/v1/pods HTTP/1.0\r\n\r\n", "HTTP/1.1 200");
    ki_apiserver_free(server);
}

static int status_of_names(ki_apiserver *server, const char *host, const char *origin)
{
    api_answer answer = api_call(server, &(api_request){.path = "/api/v1/pods", .headers = {host, origin}});
    int status = answer.status;
    if (status == 403)
        assert_string_equal(api_text(&answer, "reason"), "Forbidden");
    api_answer_fini(&answer);
    return status;
}

/* A page of another site, in a browser on this machine. */
static void pages_of_other_origins_are_rejected_without_a_token(void **state)
{
    (void)state;
    static const char *const hosts[] = {"api.test", NULL};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.hosts = hosts});
    assert_int_equal(status_of_names(server, "Host: localhost:8001", NULL), 200);
    assert_int_equal(status_of_names(server, "Host: api.test:8001", NULL), 200);
    assert_int_equal(status_of_names(server, "Host: rebound.example:8001", NULL), 403);
    assert_int_equal(status_of_names(server, "Host: localhost", "Origin: http://localhost"), 200);
    assert_int_equal(status_of_names(server, "Host: localhost", "Origin: http://evil.example"), 403);
    assert_int_equal(status_of_names(server, "Host: localhost", "Origin: null"), 403);
    api_answer answer = api_call(
        server, &(api_request){.path = "/api/v1/namespaces",
                               .body = "{\"metadata\":{\"name\":\"a\"}}",
                               .headers = {"Origin: http://evil.example", "Content-Type: text/plain"}});
    assert_int_equal(answer.status, 403);
    api_answer_fini(&answer);
    answer = api_call(server, &(api_request){.path = "/healthz", .headers = {"Host: rebound.example"}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

static void with_a_token_host_and_origin_do_not_matter(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    const api_request request = {.path = "/api/v1/pods",
                                 .headers = {"Authorization: Bearer first-secret", "Host: api.example",
                                             "Origin: http://page.example"}};
    api_answer answer = api_call(server, &request);
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

static void a_certificate_is_made_and_can_be_checked(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.is_tls = 1});
    const char *authority = ki_apiserver_certificate(server);
    assert_int_equal(strncmp(ki_apiserver_url(server), "https://127.0.0.1:", 18), 0);
    assert_non_null(strstr(authority, "BEGIN CERTIFICATE"));
    api_answer answer =
        api_call(server, &(api_request){.path = "/api/v1/namespaces", .authority = authority});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_call(server, &(api_request){.path = "/api/v1/namespaces"});
    assert_int_equal(answer.status, 0);
    api_answer_fini(&answer);
    answer = api_call(server, &(api_request){.path = "/api/v1/namespaces?watch=1&timeoutSeconds=1",
                                             .authority = authority});
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"name\":\"default\""));
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

/* Some clients reject a CA certificate as that of a server. */
static void a_certificate_is_only_for_a_server(void **state)
{
    (void)state;
    static const char no_authority[] = "\x55\x1d\x13\x01\x01\xff\x04\x02\x30"; /* an empty sequence */
    char text[4096];
    char bytes[4096];
    size_t text_len = 0;
    size_t len = 0;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.is_tls = 1});
    const char *at = strchr(ki_apiserver_certificate(server), '\n');
    for (; *at != '-' && text_len < sizeof(text); at++)
        if (*at != '\n')
            text[text_len++] = *at;
    assert_int_equal(ki_base64_decode((ki_str){text, text_len}, bytes, &len), 0);
    size_t start = 0;
    while (start + sizeof(no_authority) < len &&
           memcmp(bytes + start, no_authority, sizeof(no_authority)) != 0)
        start++;
    assert_true(start + sizeof(no_authority) < len);
    ki_apiserver_free(server);
}

static void invalid_certificates_are_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_apiserver_start(
        &(ki_apiserver_options){.certificate_file = "/nowhere", .key_file = "/nowhere"}, &err));
    assert_non_null(strstr(err.message, "/nowhere"));
    assert_null(ki_apiserver_start(&(ki_apiserver_options){.certificate_file = "/nowhere"}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_null(ki_apiserver_start(
        &(ki_apiserver_options){.certificate_file = "/proc/self/status", .key_file = "/proc/self/status"},
        &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "/proc/self/status: not a certificate and its key: "));
}

static void an_invalid_address_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_apiserver_start(&(ki_apiserver_options){.bind = "nowhere"}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    ki_apiserver *server = api_rig_start(NULL);
    const char *colon = strrchr(ki_apiserver_url(server), ':');
    assert_null(ki_apiserver_start(&(ki_apiserver_options){.port = (uint16_t)atoi(colon + 1)}, &err));
    assert_int_equal(err.code, KI_ERR_SYSTEM);
    ki_apiserver_free(server);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Each step of the start is the first one to fail once. */
static void a_start_without_descriptors_fails_cleanly(void **state)
{
    (void)state;
    struct rlimit before;
    int started = 0;
    ki_apiserver_free(api_rig_start(NULL)); /* opens what a process opens only once */
    int open_before = open_descriptors();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t extra = 0; extra < 40 && !started; extra++) {
        struct rlimit few = {(rlim_t)open_before + extra, before.rlim_max};
        ki_error err = {0};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        ki_apiserver *server = ki_apiserver_start(NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        started = server != NULL;
        if (!started)
            assert_int_equal(err.code, KI_ERR_SYSTEM);
        ki_apiserver_free(server);
        assert_int_equal(open_descriptors(), open_before);
    }
    assert_true(started);
}

/* ---- kubeconfigs --------------------------------------------------------------------------------------- */

static void synced_with(const char *kubeconfig)
{
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.kubeconfig = kubeconfig}, &err);
    if (client == NULL)
        fail_msg("%s", err.message);
    ki_informer *informer = ki_informer_new(client, &KI_CORE_V1_NAMESPACES, NULL, &err);
    assert_non_null(informer);
    assert_int_equal(ki_informer_start(informer, &err), 0);
    assert_int_equal(ki_informer_wait_for_sync(informer, HANG_MS, &err), 0);
    ki_object *object = ki_store_get(ki_informer_store(informer), KI_STR(""), KI_STR("kube-system"));
    assert_non_null(object);
    ki_object_unref(object);
    ki_informer_free(informer);
    ki_client_free(client);
}

static void a_kubeconfig_is_enough_for_a_client(void **state)
{
    (void)state;
    char file[512];
    struct stat about;
    ki_error err = {0};
    temp_dir dir;
    temp_dir_make(&dir);
    snprintf(file, sizeof(file), "%s/kubeconfig", dir.path);
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.is_tls = 1, .tokens = tokens});
    assert_int_equal(ki_apiserver_write_kubeconfig(server, file, &err), 0);
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    synced_with(file);
    assert_int_equal(ki_apiserver_write_kubeconfig(server, "/nowhere/at/all", &err), KI_ERR_SYSTEM);
    ki_apiserver_free(server);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_requests_with_a_token_are_accepted),
        cmocka_unit_test(a_request_of_http_1_1_must_have_a_host),
        cmocka_unit_test(pages_of_other_origins_are_rejected_without_a_token),
        cmocka_unit_test(with_a_token_host_and_origin_do_not_matter),
        cmocka_unit_test(a_certificate_is_made_and_can_be_checked),
        cmocka_unit_test(a_certificate_is_only_for_a_server),
        cmocka_unit_test(invalid_certificates_are_refused),
        cmocka_unit_test(an_invalid_address_is_refused),
        cmocka_unit_test(a_start_without_descriptors_fails_cleanly),
        cmocka_unit_test(a_kubeconfig_is_enough_for_a_client),
    };
    return RUN_TESTS(tests);
}
