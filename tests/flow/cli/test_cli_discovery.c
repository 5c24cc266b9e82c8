/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch widgets`: a resource that is not built in. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/cli_process.h"
#include "support/unit.h"

#define ALL                                                                                                  \
    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"example.com\"},\"versions\":[" \
    "{\"version\":\"v1\",\"resources\":[{\"resource\":\"widgets\",\"responseKind\":{\"kind\":\"Widget\"},"   \
    "\"scope\":\"Cluster\",\"singularResource\":\"widget\",\"verbs\":[\"list\",\"watch\"],"                  \
    "\"shortNames\":[\"wd\"]},{\"resource\":\"reviews\",\"responseKind\":{\"kind\":\"Review\"},"             \
    "\"scope\":\"Cluster\",\"singularResource\":\"review\",\"verbs\":[\"create\"]}]}]}]}"
#define LIST                                                                                                 \
    "{\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"resourceVersion\":\"10\"},"  \
    "\"items\":[{\"metadata\":{\"name\":\"a\",\"uid\":\"a\",\"resourceVersion\":\"5\"}}]}"

typedef struct world {
    atomic_int refusals_left;
    atomic_int pages_left; /* wrong pages that a gateway still sends */
    atomic_int asked;
    atomic_bool is_silent;
} world;

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    if (strcmp(r->target, "/apis") == 0)
        w->asked++;
    if (w->is_silent || strstr(r->target, "watch=true") != NULL) {
        if (!w->is_silent)
            (void)scripted_begin(c, "200 OK");
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    if (strcmp(r->target, "/apis") == 0 && w->refusals_left > 0) {
        w->refusals_left--;
        (void)scripted_answer(c, "500 Internal Server Error", NULL, "oh");
    } else if (strcmp(r->target, "/apis") == 0 && w->pages_left > 0) {
        w->pages_left--;
        (void)scripted_answer(c, "200 OK", NULL, "<html>");
    } else if (strcmp(r->target, "/apis") == 0) {
        (void)scripted_answer(c, "200 OK", NULL, ALL);
    } else if (strncmp(r->target, "/apis/example.com/v1/widgets?", 29) == 0) {
        (void)scripted_answer(c, "200 OK", NULL, LIST);
    } else {
        (void)scripted_answer(c, "404 Not Found", NULL, "{}");
    }
    return SCRIPTED_KEEP;
}

static scripted_http *start(world *w)
{
    return scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
}

static void a_name_that_is_not_built_in_is_looked_up_on_the_server(void **state)
{
    (void)state;
    static const char *const names[] = {"widgets", "wd", "Widget", "widgets.example.com"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        world w = {0};
        cli_process p;
        scripted_http *server = start(&w);
        char line[128];
        (void)snprintf(line, sizeof(line), "%s -o events --until-synced --watch-list never", names[i]);
        cli_process_start(&p, server, line);
        assert_int_equal(cli_process_finish(&p), 0);
        assert_true(cli_process_has(&p.written, "\"kind\":\"Widget\",\"apiVersion\":\"example.com/v1\""));
        assert_true(cli_process_has(&p.written, HEAD("SYNCED", "widgets.example.com") "\"objects\":1"));
        assert_int_equal(w.asked, 1);
        cli_process_free(&p);
        scripted_http_stop(server);
    }
}

static void several_names_of_one_resource_are_watched_once(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "wd,widgets,widget -o name --until-synced --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_string_equal(p.written.text, "widget.example.com/a\n");
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_built_in_name_is_not_looked_up(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "pods,widgets.v1.example.com -o events --watch-list never");
    cli_process_wait_for(&p, &p.written, "\"reason\":\"NotFound\"");
    assert_int_equal(w.asked, 0);
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_name_unknown_to_the_server_is_wrong_usage(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "podz");
    assert_int_equal(cli_process_finish(&p), 2);
    assert_null(p.written.text);
    assert_true(cli_process_has(&p.said, "did you mean \"pods\"? It was not found on the server either;"));
    assert_true(cli_process_has(&p.said, "give its full name, for example widgets.v1.example.com"));
    assert_ptr_equal(strchr(p.said.text, '\n'), p.said.text + strlen(p.said.text) - 1);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_name_that_cannot_be_watched_is_not_called_unknown(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "reviews");
    assert_int_equal(cli_process_finish(&p), 2);
    assert_true(cli_process_has(&p.said, "the server has \"reviews\", which cannot be listed and watched\n"));
    assert_false(cli_process_has(&p.said, "not found"));
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_failed_lookup_is_retried(void **state)
{
    (void)state;
    world w = {.refusals_left = 1};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "widgets -o name --until-synced --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_true(cli_process_has(
        &p.said, "widgets: not a built-in resource, and the server could not be asked: the server "
                 "responded with 500"));
    assert_int_equal(w.asked, 2);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_malformed_response_does_not_end_it(void **state)
{
    (void)state;
    world w = {.pages_left = 1};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "widgets -o name --until-synced --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_true(cli_process_has(&p.said, "the server's list of resources cannot be read; retrying in 1 s"));
    assert_int_equal(w.asked, 2);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_signal_ends_it_during_the_lookup(void **state)
{
    (void)state;
    world w = {.is_silent = true};
    cli_process p;
    scripted_http *server = start(&w);
    cli_process_start(&p, server, "widgets");
    while (w.asked == 0)
        (void)cli_process_read(&p);
    cli_process_stop(&p, SIGINT);
    cli_process_free(&p);
    scripted_http_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_built_in_is_looked_up_on_the_server),
        cmocka_unit_test(several_names_of_one_resource_are_watched_once),
        cmocka_unit_test(a_built_in_name_is_not_looked_up),
        cmocka_unit_test(a_name_unknown_to_the_server_is_wrong_usage),
        cmocka_unit_test(a_name_that_cannot_be_watched_is_not_called_unknown),
        cmocka_unit_test(a_failed_lookup_is_retried),
        cmocka_unit_test(a_malformed_response_does_not_end_it),
        cmocka_unit_test(a_signal_ends_it_during_the_lookup),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
