/* SPDX-License-Identifier: Apache-2.0 */
/* The two smaller controllers of examples/ as processes: they keep a ConfigMap "settings" in each
 * namespace. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/sample_world.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { NAMESPACES = 30 };

static ki_apiserver *server;
static example_process process;

static void put_namespace(int number, const char *team)
{
    char json[256];
    snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"ns-%d\",\"labels\":{\"team\":\"%s\"}}}", number,
             team);
    assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_NAMESPACES, json, NULL), 0);
}

static int setup(void **state)
{
    (void)state;
    server = api_rig_start(NULL);
    for (int i = 0; i < NAMESPACES; i++)
        put_namespace(i, "red");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    example_discard(&process);
    ki_apiserver_free(server);
    return 0;
}

static int team_is(int number, const char *team)
{
    char path[128];
    snprintf(path, sizeof(path), "/api/v1/namespaces/ns-%d/configmaps/settings", number);
    api_answer answer = api_get(server, path);
    int is_so = answer.status == 200 && strcmp(api_text(&answer, "data.team"), team) == 0;
    api_answer_fini(&answer);
    return is_so;
}

/* The ConfigMap is created, changed, and restored when it is deleted,
 * also after a server that refuses and goes down. */
static void follow(const char *program)
{
    assert_int_equal(ki_apiserver_fault(server,
                                        &(ki_fault){.action = KI_FAULT_STATUS,
                                                    .http_status = 500,
                                                    .on = KI_FAULT_WRITE,
                                                    .path = "/configmaps",
                                                    .times = 10},
                                        NULL),
                     0);
    example_start(&process, program, ki_apiserver_url(server));
    for (int i = 0; i < NAMESPACES; i++)
        SAMPLE_WAIT_UNTIL(team_is(i, "red"));
    put_namespace(0, "blue");
    SAMPLE_WAIT_UNTIL(team_is(0, "blue"));
    ki_apiserver_down_for(server, 100);
    assert_int_equal(ki_apiserver_delete(server, &KI_CORE_V1_CONFIGMAPS, "ns-1", "settings", NULL), 0);
    SAMPLE_WAIT_UNTIL(team_is(1, "red"));
    assert_int_equal(
        sample_count(server,
                     &(sample_query){.resource = "configmaps", .user_agent = "kinformer/", .status = 409}),
        0);
}

static void the_small_controller_keeps_a_configmap_in_each_namespace(void **state)
{
    (void)state;
    follow("small_controller");
    example_end(&process);
}

static int count_threads(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void the_event_loop_controller_does_the_same_on_one_thread(void **state)
{
    (void)state;
    follow("loop_controller");
    assert_int_equal(count_threads(process.pid), 1);
    assert_int_equal(write(process.input, "\n", 1), 1);
    close(process.input); /* the end of its input ends the program */
    process.input = -1;
    example_wait(&process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_small_controller_keeps_a_configmap_in_each_namespace, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_event_loop_controller_does_the_same_on_one_thread, setup,
                                        teardown),
    };
    return RUN_TESTS(tests);
}
