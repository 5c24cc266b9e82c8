/* SPDX-License-Identifier: Apache-2.0 */
/* What the flags of sample-controller do: metrics, leader election, which cluster. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* prlimit; NOLINT(bugprone-reserved-identifier) */
#endif
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/support/sample_world.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/clock.h"

/* Asks sample-controller itself; the answer is freed with free(). NULL: nothing listens yet. */
static char *ask(const struct sockaddr_in *address, const char *request)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char *answer = NULL;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        api_send(fd, request, strlen(request));
        answer = api_receive(fd, NULL, NULL);
    }
    close(fd);
    return answer;
}

static int says(const struct sockaddr_in *address, const char *request, const char *part)
{
    char *answer = ask(address, request);
    int is_so = answer != NULL && strstr(answer, part) != NULL;
    free(answer);
    return is_so;
}

/* At an address of loopback that no other process has. */
static struct sockaddr_in start_with_metrics(const char *more_flags)
{
    unsigned pid = (unsigned)getpid();
    char flags[512], host[32];
    snprintf(host, sizeof(host), "127.%u.%u.%u", 1 + (pid >> 16) % 254, (pid >> 8) & 255, pid & 255);
    snprintf(flags, sizeof(flags), "--metrics-address %s:9090%s", host, more_flags);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9090)};
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    sample_put_foo(sample.server, 1, 1);
    sample_start(&sample.process, sample.server, flags);
    sample_wait_settled(sample.server);
    return address;
}

static void it_serves_its_metrics(void **state)
{
    (void)state;
    struct sockaddr_in address = start_with_metrics("");
    SAMPLE_WAIT_UNTIL(says(&address, "GET /metrics HTTP/1.1\r\n\r\n",
                           "\ncontroller_expectations_total{controller=\"foos\",result=\"timed_out\"} 0\n"));
    assert_true(says(&address, "GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n"));
    assert_true(says(&address, "GET /secret HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"));
    example_end(&sample.process);
}

static long count_retries(const struct sockaddr_in *address)
{
    static const char name[] = "\ncontroller_reconcile_total{controller=\"foos\",result=\"retry\"} ";
    char *text = ask(address, "GET /metrics HTTP/1.1\r\n\r\n");
    const char *at = text == NULL ? NULL : strstr(text, name);
    assert_non_null(at);
    long count = strtol(at + sizeof(name) - 1, NULL, 10);
    free(text);
    return count;
}

/* Its client would refuse to write anyway; but it does not even try. */
static void when_the_lease_is_lost_it_stops_and_contends_again(void **state)
{
    (void)state;
    struct sockaddr_in address =
        start_with_metrics(" --leader-elect --leader-elect-lease-duration 2s "
                           "--leader-elect-renew-deadline 1500ms --leader-elect-retry-period 100ms");
    sample_patch(LEASES_PATH "/sample-controller",
                 "{\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":3600}}");
    SAMPLE_WAIT_UNTIL(says(&address, "GET /metrics HTTP/1.1\r\n\r\n",
                           "\nleader_election_master_status{name=\"sample-controller\"} 0\n"));
    sample_put_foo(sample.server, 2, 1);
    SAMPLE_WAIT_UNTIL(
        says(&address, "GET /metrics HTTP/1.1\r\n\r\n", "\nworkqueue_depth{name=\"foos\"} 1\n"));
    long retries = count_retries(&address);
    size_t reads = sample_lease_reads();
    SAMPLE_WAIT_UNTIL(sample_lease_reads() > reads + 5);
    assert_int_equal(count_retries(&address), retries);
    sample_patch(LEASES_PATH "/sample-controller", "{\"spec\":{\"holderIdentity\":null}}");
    sample_wait_settled(sample.server);
    example_end(&sample.process);
}

/* The current context leads nowhere. */
static void flags_name_the_cluster_and_the_lease(void **state)
{
    (void)state;
    temp_dir dir;
    char config[512], flags[512];
    snprintf(config, sizeof(config),
             "{apiVersion: v1, kind: Config, current-context: away,"
             " clusters: [{name: here, cluster: {server: '%s'}},"
             "  {name: away, cluster: {server: 'http://127.0.0.1:1'}}],"
             " contexts: [{name: here, context: {cluster: here}}, {name: away, context: {cluster: away}}]}\n",
             ki_apiserver_url(sample.server));
    temp_dir_make(&dir);
    snprintf(flags, sizeof(flags),
             "--kubeconfig %s --context=here --leader-elect=true --leader-elect-resource-name lock "
             "--leader-elect-resource-namespace kube-system --leader-elect-identity me",
             temp_dir_write(&dir, "config", config));
    sample_put_foo(sample.server, 1, 1);
    example_start(&sample.process, "sample-controller", flags);
    sample_wait_settled(sample.server);
    api_answer lease =
        api_get(sample.server, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/lock");
    assert_string_equal(api_text(&lease, "spec.holderIdentity"), "me");
    api_answer_fini(&lease);
    example_end(&sample.process);
    temp_dir_remove(&dir);
}

/* Status 2 is wrong usage. */
static void expect_end(const char *flags, int status, const char *message)
{
    char line[512], said[1024];
    snprintf(line, sizeof(line), "%s/sample-controller --server http://127.0.0.1:1 %s 2>&1",
             getenv("KI_EXAMPLES"), flags);
    FILE *program = popen(line, "r");
    assert_non_null(program);
    said[fread(said, 1, sizeof(said) - 1, program)] = 0;
    int ended = pclose(program);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status)
        fail_msg("%s: ended with %#x", flags, (unsigned)ended);
    if (strstr(said, message) == NULL)
        fail_msg("%s: %s", flags, said);
}

static void flags_that_are_wrong_are_named(void **state)
{
    (void)state;
    expect_end("--leader-elect --leader-elect-lease-duration 10s", 2,
               "--leader-elect-lease-duration must be more than --leader-elect-renew-deadline");
    expect_end("--leader-elect --leader-elect-retry-period 9s", 2,
               "--leader-elect-renew-deadline must be more than 1.2 times --leader-elect-retry-period");
    expect_end("--leader-elect --leader-elect-lease-duration 1ms", 2, "--leader-elect-lease-duration must");
}

static void a_metrics_address_has_a_port(void **state)
{
    (void)state;
    static const char *const wrong[] = {"9090", "127.0.0.1", "127.0.0.1:", "127.0.0.1:metrics",
                                        "127.0.0.1:65536"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char flags[64], message[128];
        snprintf(flags, sizeof(flags), "--metrics-address %s", wrong[i]);
        snprintf(message, sizeof(message), "--metrics-address: invalid value \"%s\": expected ADDRESS:PORT",
                 wrong[i]);
        expect_end(flags, 2, message);
    }
    expect_end("--metrics-address 192.0.2.1:9090", 1, "192.0.2.1:9090: Cannot assign requested address");
    expect_end("--metrics-address 300.0.0.1:9090", 1, "cannot listen at 300.0.0.1:9090: ");
}

/* The address space is too small for the stacks of so many workers. */
static void limit_memory(pid_t pid)
{
    enum { SPACE_BYTES = 512 << 20 };
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    rlim_t bytes = pages * (rlim_t)sysconf(_SC_PAGESIZE) + SPACE_BYTES;
    assert_int_equal(prlimit(pid, RLIMIT_AS, &(struct rlimit){bytes, bytes}, NULL), 0);
}

/* It would hold the lease, and nobody would act. */
static void a_leader_that_cannot_start_ends_and_gives_the_lease_back(void **state)
{
    (void)state;
    int status = 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer ends the process when it has no memory for a thread */
#endif
    api_answer lease = api_call(
        sample.server,
        &(api_request){.method = "POST",
                       .path = LEASES_PATH,
                       .body = "{\"metadata\":{\"name\":\"sample-controller\"},\"spec\":{\"holderIdentity\":"
                               "\"other\",\"leaseDurationSeconds\":3600}}"});
    assert_int_equal(lease.status, 201);
    api_answer_fini(&lease);
    sample_start(&sample.process, sample.server,
                 "--leader-elect --leader-elect-retry-period 100ms --workers 1000 --stop-timeout 1s");
    SAMPLE_WAIT_UNTIL(sample_lease_reads() > 2);
    limit_memory(sample.process.pid);
    sample_patch(LEASES_PATH "/sample-controller", "{\"spec\":{\"holderIdentity\":null}}");
    SAMPLE_WAIT_UNTIL(waitpid(sample.process.pid, &status, WNOHANG) != 0);
    close(sample.process.input);
    sample.process = (example_process){0};
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    lease = api_get(sample.server, LEASES_PATH "/sample-controller");
    assert_null(api_at(lease.tree, "spec.holderIdentity"));
    api_answer_fini(&lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sample_test(it_serves_its_metrics),
        sample_test(when_the_lease_is_lost_it_stops_and_contends_again),
        sample_test(flags_name_the_cluster_and_the_lease),
        sample_test(flags_that_are_wrong_are_named),
        sample_test(a_metrics_address_has_a_port),
        sample_test(a_leader_that_cannot_start_ends_and_gives_the_lease_back),
    };
    return RUN_TESTS(tests);
}
