/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_shape.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    PODS_PER_WORKLOAD = 8,
    WORKLOADS_PER_NAMESPACE = 12,
    PODS_PER_NODE = 60,
    LANGUAGE_PODS_PER_THOUSAND = 5,
    LANGUAGE_COUNT = 6,
    FIRST_CREATION = 1785542400, /* 2026-08-01T00:00:00Z */
    CREATION_SPREAD = 9158400,   /* 106 days */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const subjects[] = {
    "account", "billing", "catalog", "checkout", "delivery", "gateway",  "identity", "inventory",
    "ledger",  "mailer",  "pricing", "ranking",  "search",   "sessions", "shipping", "telemetry",
};
static const char *const roles[] = {
    "api", "backend", "consumer", "frontend", "scheduler", "worker",
};
static const char *const teams[] = {"core", "data", "edge", "growth", "payments", "platform"};
static const char *const stages[] = {"production", "staging", "canary"};
static const char *const versions[] = {"v1.18.4", "v2.0.11", "v2.7.0-rc.3", "v3.41.9"};
static const char *const cpu_requests[] = {"50m", "100m", "250m", "500m"};
static const char *const memory_requests[] = {"64Mi", "128Mi", "256Mi", "512Mi"};

struct sidecar {
    const char *name;
    const char *image;
    const char *port;
};
static const struct sidecar sidecars[] = {
    {"istio-proxy", "docker.io/istio/proxyv2:1.24.1", "15090"},
    {"log-shipper", "docker.io/fluent/fluent-bit:3.2.2", "2020"},
    {"metrics-exporter", "quay.io/prometheus/statsd-exporter:v0.28.0", "9102"},
    {"zone-agent", "registry.example.com/platform/zone-agent:v0.9.3", "8484"},
};

const struct environment_entry pod_environment[] = {
    {"CACHE_URL", ENVIRONMENT_VALUE, "redis://cache-master.shared.svc.cluster.local:6379/0"},
    {"DATABASE_HOST", ENVIRONMENT_VALUE, "postgres-rw.databases.svc.cluster.local"},
    {"DATABASE_PASSWORD", ENVIRONMENT_SECRET, "password"},
    {"DATABASE_POOL_SIZE", ENVIRONMENT_VALUE, "20"},
    {"FEATURE_FLAGS", ENVIRONMENT_VALUE, "{\\\"new-basket\\\":true,\\\"limit\\\":25}"},
    {"GOMAXPROCS", ENVIRONMENT_VALUE, "2"},
    {"HOST_IP", ENVIRONMENT_FIELD, "status.hostIP"},
    {"HTTP_TIMEOUT", ENVIRONMENT_VALUE, "30s"},
    {"LOG_LEVEL", ENVIRONMENT_VALUE, "info"},
    {"NODE_NAME", ENVIRONMENT_FIELD, "spec.nodeName"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT", ENVIRONMENT_VALUE,
     "http://otel-collector.observability.svc.cluster.local:4317"},
    {"POD_IP", ENVIRONMENT_FIELD, "status.podIP"},
    {"POD_NAME", ENVIRONMENT_FIELD, "metadata.name"},
    {"POD_NAMESPACE", ENVIRONMENT_FIELD, "metadata.namespace"},
    {"QUEUE_BROKERS", ENVIRONMENT_VALUE, "kafka-0.kafka:9092,kafka-1.kafka:9092"},
    {"SIGNING_KEY", ENVIRONMENT_SECRET, "signing-key"},
};
const size_t pod_environment_count = COUNT(pod_environment);

const struct annotation_key pod_annotation_keys[] = {
    {ANNOTATION_CHECKSUM, "checksum/config"},
    {ANNOTATION_CONTACT, "example.com/contact"},
    {ANNOTATION_LANGUAGE, "example.com/description"},
    {ANNOTATION_NETWORK, "k8s.v1.cni.cncf.io/network-status"},
    {ANNOTATION_RESTARTED, "kubectl.kubernetes.io/restartedAt"},
    {ANNOTATION_SCRAPE, "prometheus.io/port"},
    {ANNOTATION_SCRAPE, "prometheus.io/scrape"},
};
const size_t pod_annotation_key_count = COUNT(pod_annotation_keys);

struct random {
    uint64_t state;
};

enum stream { STREAM_WORKLOAD = 1, STREAM_POD = 2 };

/* splitmix64: every state is valid, so a stream can start anywhere without a warm-up. */
static uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static struct random random_stream(uint64_t seed, enum stream stream, uint64_t number)
{
    struct random random = {seed};
    random.state = random_next(&random) ^ (uint64_t)stream;
    random.state = random_next(&random) ^ number;
    random_next(&random);
    return random;
}

static size_t random_below(struct random *random, size_t limit)
{
    return (size_t)(random_next(random) % limit);
}

static bool random_chance(struct random *random, unsigned percent)
{
    return random_below(random, 100) < percent;
}

/* The letters that kube-controller-manager uses in names: without vowels, so that they form no words. */
static void put_name_letters(char *out, size_t length, uint64_t number)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    for (size_t i = 0; i < length; i++) {
        out[i] = letters[number % (sizeof(letters) - 1)];
        number /= sizeof(letters) - 1;
    }
    out[length] = '\0';
}

static void put_hex(char *out, size_t digits, struct random *random)
{
    static const char letters[] = "0123456789abcdef";
    uint64_t bits = 0;
    for (size_t i = 0; i < digits; i++) {
        bits = i % 16 == 0 ? random_next(random) : bits >> 4;
        out[i] = letters[bits & 15];
    }
    out[digits] = '\0';
}

static void put_uuid(char *out, struct random *random)
{
    put_hex(out, POD_UUID_SIZE - 1, random);
    out[8] = out[13] = out[18] = out[23] = '-';
    out[14] = '4';
    out[19] = "89ab"[random_below(random, 4)];
}

static void put_time(char *out, time_t seconds)
{
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(out, POD_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void put_address(char *out, unsigned network, uint64_t host)
{
    snprintf(out, POD_ADDRESS_SIZE, "10.%u.%u.%u", network + (unsigned)(host >> 16 & 63),
             (unsigned)(host >> 8 & 255), (unsigned)(host & 255));
}

static enum workload_kind choose_kind(struct random *random)
{
    size_t percent = random_below(random, 100);
    if (percent < 75) {
        return WORKLOAD_REPLICA_SET;
    }
    return percent < 88 ? WORKLOAD_STATEFUL_SET : WORKLOAD_DAEMON_SET;
}

static void put_owner(struct pod_shape *pod, struct random *random)
{
    put_name_letters(pod->revision_hash, sizeof(pod->revision_hash) - 1, random_next(random));
    put_uuid(pod->owner_uid, random);
    if (pod->kind == WORKLOAD_REPLICA_SET) {
        snprintf(pod->owner_name, sizeof(pod->owner_name), "%s-%s", pod->app, pod->revision_hash);
    } else {
        snprintf(pod->owner_name, sizeof(pod->owner_name), "%s", pod->app);
    }
    snprintf(pod->generate_name, sizeof(pod->generate_name), "%s-", pod->owner_name);
}

static void put_label(struct pod_shape *pod, const char *key, const char *value)
{
    pod->labels[pod->label_count++] = (struct pod_label){key, value};
}

/* Keys in sorted order, as a server writes them. */
static void put_labels(struct pod_shape *pod, const char *team, const char *version)
{
    put_label(pod, "app", pod->app);
    if (pod->kind == WORKLOAD_STATEFUL_SET) {
        put_label(pod, "apps.kubernetes.io/pod-index", pod->ordinal);
        put_label(pod, "controller-revision-hash", pod->owner_name);
        put_label(pod, "statefulset.kubernetes.io/pod-name", pod->name);
        return;
    }
    if (pod->kind == WORKLOAD_DAEMON_SET) {
        put_label(pod, "controller-revision-hash", pod->revision_hash);
        put_label(pod, "pod-template-generation", "3");
    } else {
        put_label(pod, "pod-template-hash", pod->revision_hash);
        put_label(pod, "team", team);
    }
    if (version != NULL) {
        put_label(pod, "version", version);
    }
}

static unsigned choose_environment(struct random *random, size_t count)
{
    unsigned chosen = 0;
    for (size_t i = 0; i < count; i++) {
        chosen |= 1U << random_below(random, COUNT(pod_environment));
    }
    return chosen;
}

static void choose_resources(struct pod_container *container, struct random *random)
{
    container->has_cpu_limit = random_chance(random, 30);
    container->cpu_request = cpu_requests[random_below(random, COUNT(cpu_requests))];
    container->memory_request = memory_requests[random_below(random, COUNT(memory_requests))];
    put_hex(container->image_digest, POD_DIGEST_SIZE - 1, random);
}

static void choose_main_container(struct pod_shape *pod, struct random *random, const char *team,
                                  const char *version)
{
    struct pod_container *container = &pod->containers[pod->container_count++];
    container->name = pod->app;
    snprintf(container->image, sizeof(container->image), "registry.example.com/%s/%s:%s", team, pod->app,
             version);
    snprintf(container->port, sizeof(container->port), "%zu", 8000 + random_below(random, 1000));
    container->environment = choose_environment(random, random_below(random, 4));
    container->probes = (random_chance(random, 30) ? PROBE_READINESS : 0U) |
                        (random_chance(random, 15) ? PROBE_LIVENESS : 0U);
    container->has_port = true;
    container->has_config_mount = random_chance(random, 20);
    choose_resources(container, random);
}

static void choose_sidecar(struct pod_shape *pod, struct random *random, size_t which)
{
    struct pod_container *container = &pod->containers[pod->container_count++];
    container->name = sidecars[which].name;
    snprintf(container->image, sizeof(container->image), "%s", sidecars[which].image);
    snprintf(container->port, sizeof(container->port), "%s", sidecars[which].port);
    container->environment = choose_environment(random, random_below(random, 2));
    container->probes = random_chance(random, 10) ? PROBE_READINESS : 0U;
    choose_resources(container, random);
}

static void choose_containers(struct pod_shape *pod, struct random *random, const char *team)
{
    const char *version = versions[random_below(random, COUNT(versions))];
    choose_main_container(pod, random, team, version);
    size_t percent = random_below(random, 100);
    size_t extra = percent < 78 ? 0 : percent < 96 ? 1 : 2;
    size_t first = random_below(random, COUNT(sidecars));
    for (size_t i = 0; i < extra; i++) {
        choose_sidecar(pod, random, (first + i) % COUNT(sidecars));
    }
    put_labels(pod, team, random_chance(random, 50) ? version : NULL);
}

static void choose_annotations(struct pod_shape *pod, struct random *random)
{
    pod->annotations = (random_chance(random, 50) ? ANNOTATION_SCRAPE : 0U) |
                       (random_chance(random, 40) ? ANNOTATION_CHECKSUM : 0U) |
                       (random_chance(random, 15) ? ANNOTATION_NETWORK : 0U) |
                       (random_chance(random, 20) ? ANNOTATION_CONTACT : 0U) |
                       (random_chance(random, 15) ? ANNOTATION_RESTARTED : 0U);
    put_hex(pod->config_checksum, POD_DIGEST_SIZE - 1, random);
}

/* The properties that all pods of a workload share. The values of some labels are the pod's own name and
 * ordinal, which shape_name() fills in afterwards. */
static void shape_workload(struct pod_shape *pod, uint64_t seed, uint64_t workload)
{
    struct random random = random_stream(seed, STREAM_WORKLOAD, workload);
    uint64_t namespace_number = workload / WORKLOADS_PER_NAMESPACE;
    const char *team = teams[namespace_number % COUNT(teams)];
    /* A namespace has fewer workloads than there are subjects, so the names differ. */
    snprintf(pod->app, sizeof(pod->app), "%s-%s", subjects[workload % COUNT(subjects)],
             roles[random_below(&random, COUNT(roles))]);
    snprintf(pod->namespace_name, sizeof(pod->namespace_name), "%s-%s-%04llu", team,
             stages[namespace_number % COUNT(stages)], (unsigned long long)namespace_number);
    pod->kind = choose_kind(&random);
    put_owner(pod, &random);
    choose_containers(pod, &random, team);
    choose_annotations(pod, &random);
    pod->has_service_account = random_chance(&random, 40);
}

static void shape_name(struct pod_shape *pod, uint64_t index)
{
    /* 27^5 names; the factor has no common divisor with 27, so no two pods get the same letters. */
    const uint64_t names = 27ULL * 27 * 27 * 27 * 27;
    char letters[6];
    put_name_letters(letters, 5, index * 7654321 % names);
    snprintf(pod->ordinal, sizeof(pod->ordinal), "%u", (unsigned)(index % PODS_PER_WORKLOAD));
    snprintf(pod->name, sizeof(pod->name), "%s%s", pod->generate_name,
             pod->kind == WORKLOAD_STATEFUL_SET ? pod->ordinal : letters);
}

static void shape_node(struct pod_shape *pod, uint64_t index)
{
    /* Neighbours in the list run on different nodes. */
    uint64_t node = index * 31 % (index / PODS_PER_NODE + 50);
    put_address(pod->host_address, 0, node + 256);
    put_address(pod->pod_address, 64, index + 2);
    snprintf(pod->node_name, sizeof(pod->node_name), "ip-10-0-%u-%u.eu-central-1.compute.internal",
             (unsigned)((node + 256) >> 8 & 255), (unsigned)((node + 256) & 255));
}

static void shape_times(struct pod_shape *pod, struct random *random, const struct pod_version *version)
{
    time_t created = FIRST_CREATION + (time_t)random_below(random, CREATION_SPREAD);
    time_t ready = created + 3 + (time_t)random_below(random, 90);
    put_time(pod->created_at, created);
    put_time(pod->scheduled_at, created + 1);
    put_time(pod->ready_at, ready + (time_t)version->revision * 60);
    if (version->deleted) {
        put_time(pod->deleted_at, FIRST_CREATION + CREATION_SPREAD);
    }
}

void pod_shape_init(struct pod_shape *pod, const struct pod_version *version)
{
    struct random random = random_stream(version->seed, STREAM_POD, version->index);
    *pod = (struct pod_shape){0};
    shape_workload(pod, version->seed, version->index / PODS_PER_WORKLOAD);
    shape_name(pod, version->index);
    shape_node(pod, version->index);
    put_uuid(pod->uid, &random);
    shape_times(pod, &random, version);
    put_name_letters(pod->api_access_volume, 5, random_next(&random));
    snprintf(pod->resource_version, sizeof(pod->resource_version), "%llu",
             (unsigned long long)version->resource_version);
    if (random_below(&random, 1000) < LANGUAGE_PODS_PER_THOUSAND) {
        pod->annotations |= ANNOTATION_LANGUAGE;
        pod->language = random_below(&random, LANGUAGE_COUNT);
    }
    for (size_t i = 0; i < pod->container_count; i++) {
        put_hex(pod->containers[i].container_digest, POD_DIGEST_SIZE - 1, &random);
        pod->containers[i].restarts =
            version->revision + (random_chance(&random, 10) ? random_below(&random, 40) : 0);
    }
}
