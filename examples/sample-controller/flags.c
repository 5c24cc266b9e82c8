/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sample-controller [FLAGS]\n"
    "\n"
    "Keeps a Deployment for each Foo.\n"
    "\n"
    "  --server URL                             API server; no kubeconfig is needed\n"
    "  --kubeconfig FILE                        instead of $KUBECONFIG, ~/.kube/config or the pod's files\n"
    "  --context NAME                           context of the kubeconfig\n"
    "  --workers N                              Foos that are worked on at the same time (default 2)\n"
    "  --stop-timeout DURATION                  how long SIGTERM waits for work under way (default 10s)\n"
    "  --metrics-address ADDRESS:PORT           serve /metrics and /healthz over http (default: off)\n"
    "  --leader-elect                           act only while holding a Lease\n"
    "  --leader-elect-lease-duration DURATION   (default 15s)\n"
    "  --leader-elect-renew-deadline DURATION   (default 10s)\n"
    "  --leader-elect-retry-period DURATION     (default 2s)\n"
    "  --leader-elect-resource-name NAME        name of the Lease (default sample-controller)\n"
    "  --leader-elect-resource-namespace NAME   its namespace (default: the context's)\n"
    "  --leader-elect-identity NAME             unique among the replicas (default: host name and a "
    "number)\n";

static void refuse(const char *flag, const char *value, const char *expected)
{
    fprintf(stderr, "sample-controller: --%s: invalid value \"%s\": expected %s\n", flag, value, expected);
    exit(2);
}

static size_t parse_count(const char *flag, const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end != 0 || n < 1 || n > 1000)
        refuse(flag, text, "a number from 1 to 1000");
    return n;
}

static int parse_bool(const char *flag, const char *text)
{
    if (text == NULL || strcmp(text, "true") == 0)
        return 1;
    if (strcmp(text, "false") != 0)
        refuse(flag, text, "true or false");
    return 0;
}

/* A duration as Go writes it: 1m30s, 15s, 200ms. */
static uint64_t parse_duration(const char *flag, const char *text)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}};
    const char *at = text;
    double sum = 0;
    while (*at >= '0' && *at <= '9') {
        char *end;
        double n = strtod(at, &end);
        size_t i = 0;
        while (i < 4 && strncmp(end, units[i].name, strlen(units[i].name)) != 0)
            i++;
        if (i == 4)
            break;
        sum += n * units[i].ms;
        at = end + strlen(units[i].name);
    }
    if (*at != 0 || at == text || sum < 1 || sum > 1e12)
        refuse(flag, text, "a duration such as 200ms, 15s or 1m30s");
    return (uint64_t)sum;
}

typedef enum flag_kind { TEXT, COUNT, DURATION, BOOL } flag_kind;

#define AT(member) offsetof(flags, member)

static const struct {
    const char *name;
    flag_kind kind;
    size_t at;
} known[] = {
    {"server", TEXT, AT(client.server)},
    {"kubeconfig", TEXT, AT(client.kubeconfig)},
    {"context", TEXT, AT(client.context)},
    {"workers", COUNT, AT(workers)},
    {"stop-timeout", DURATION, AT(stop_timeout_ms)},
    {"metrics-address", TEXT, AT(metrics_address)},
    {"leader-elect", BOOL, AT(leader_elect)},
    {"leader-elect-lease-duration", DURATION, AT(leader.lease_duration_ms)},
    {"leader-elect-renew-deadline", DURATION, AT(leader.renew_deadline_ms)},
    {"leader-elect-retry-period", DURATION, AT(leader.retry_period_ms)},
    {"leader-elect-resource-name", TEXT, AT(leader.name)},
    {"leader-elect-resource-namespace", TEXT, AT(leader.ns)},
    {"leader-elect-identity", TEXT, AT(leader.identity)},
};

static void store(flags *f, size_t i, const char *value)
{
    void *at = (char *)f + known[i].at;
    if (known[i].kind == TEXT)
        *(const char **)at = value;
    else if (known[i].kind == COUNT)
        *(size_t *)at = parse_count(known[i].name, value);
    else if (known[i].kind == DURATION)
        *(uint64_t *)at = parse_duration(known[i].name, value);
    else
        *(int *)at = parse_bool(known[i].name, value);
}

/* "--name value" or "--name=value"; for a BOOL "--name" or "--name=value". Returns the number of words. */
static int take(flags *f, const char *word, const char *next)
{
    size_t len = strcspn(word, "="), i = 0, count = sizeof(known) / sizeof(known[0]);
    while (i < count && (strncmp(word, "--", 2) != 0 || strlen(known[i].name) != len - 2 ||
                         strncmp(known[i].name, word + 2, len - 2) != 0))
        i++;
    int has_value = word[len] == '=', is_alone = has_value || (i < count && known[i].kind == BOOL);
    if (i == count || (!is_alone && next == NULL)) {
        fprintf(stderr, "sample-controller: %s: %s\n", word, i == count ? "no such flag" : "needs a value");
        exit(2);
    }
    store(f, i, has_value ? word + len + 1 : is_alone ? NULL : next);
    return is_alone ? 1 : 2;
}

/* The library's own messages would name fields of its options instead of flags. */
static void check_times(const ki_leader_options *leader)
{
    const char *wrong = NULL;
    if (leader->lease_duration_ms < 1000 || leader->lease_duration_ms > INT32_MAX)
        wrong = "--leader-elect-lease-duration must be between 1s and 596h";
    else if (leader->lease_duration_ms <= leader->renew_deadline_ms)
        wrong = "--leader-elect-lease-duration must be more than --leader-elect-renew-deadline";
    else if (leader->renew_deadline_ms <= leader->retry_period_ms + leader->retry_period_ms / 5)
        wrong = "--leader-elect-renew-deadline must be more than 1.2 times --leader-elect-retry-period";
    if (wrong == NULL)
        return;
    fprintf(stderr, "sample-controller: %s\n", wrong);
    exit(2);
}

void flags_parse(flags *out_flags, int argc, char **argv)
{
    *out_flags = (flags){.workers = 2,
                         .stop_timeout_ms = 10 * 1000,
                         .leader = {.name = "sample-controller",
                                    .lease_duration_ms = 15 * 1000,
                                    .renew_deadline_ms = 10 * 1000,
                                    .retry_period_ms = 2 * 1000}};
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        i += take(out_flags, argv[i], argv[i + 1]);
    }
    check_times(&out_flags->leader);
    unsigned port = 0;
    const char *address = out_flags->metrics_address, *colon = address == NULL ? NULL : strrchr(address, ':');
    if (address != NULL && (colon == NULL || sscanf(colon, ":%5u", &port) != 1 || port > UINT16_MAX))
        refuse("metrics-address", address, "ADDRESS:PORT, as 127.0.0.1:9090, or :9090");
}
