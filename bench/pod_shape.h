/* SPDX-License-Identifier: Apache-2.0 */
/* pod_shape - the properties of one generated pod, before it becomes JSON.
 *
 *   From:     generate_pods.c   (requests pod number i)
 *   To:       pod_metadata.c, pod_managed_fields.c, pod_spec.c, pod_status.c   (write it as JSON)
 *   Not here: any JSON syntax.
 *
 * Everything is derived from the seed and the pod's number, so two programs that use the same ones have
 * the same bytes. Pods of one workload share its name, labels, containers and owner; pods of one
 * namespace follow each other, as they do in a server's list.
 */
#ifndef BENCH_POD_SHAPE_H
#define BENCH_POD_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum {
    POD_LABELS_MAX = 4,
    POD_CONTAINERS_MAX = 3,
    POD_UUID_SIZE = 37,
    POD_DIGEST_SIZE = 65,
    POD_TIME_SIZE = 21,
    POD_ADDRESS_SIZE = 16,
};

enum workload_kind { WORKLOAD_REPLICA_SET, WORKLOAD_STATEFUL_SET, WORKLOAD_DAEMON_SET };

enum probe_set { PROBE_LIVENESS = 1, PROBE_READINESS = 2 };

enum annotation_set {
    ANNOTATION_SCRAPE = 1,
    ANNOTATION_CHECKSUM = 2,
    ANNOTATION_NETWORK = 4,
    ANNOTATION_CONTACT = 8,
    ANNOTATION_RESTARTED = 16,
    ANNOTATION_LANGUAGE = 32,
};

struct pod_label {
    const char *key;
    const char *value;
};

struct pod_container {
    const char *name;
    char image[96];
    char port[6];
    char image_digest[POD_DIGEST_SIZE];
    char container_digest[POD_DIGEST_SIZE];
    unsigned environment; /* bit i: entry i of pod_environment */
    unsigned probes;      /* of probe_set */
    bool has_port;        /* declared; a probe may use an undeclared one */
    bool has_config_mount;
    bool has_cpu_limit;
    const char *cpu_request;
    const char *memory_request;
    uint64_t restarts;
};

struct pod_shape {
    enum workload_kind kind;
    char app[48];
    char namespace_name[48];
    char owner_name[64];
    char owner_uid[POD_UUID_SIZE];
    char name[96];
    char generate_name[72];
    char uid[POD_UUID_SIZE];
    char revision_hash[11];
    char ordinal[21];
    char created_at[POD_TIME_SIZE];
    char scheduled_at[POD_TIME_SIZE];
    char ready_at[POD_TIME_SIZE];
    char deleted_at[POD_TIME_SIZE]; /* empty: not being deleted */
    char resource_version[21];
    char node_name[64];
    char host_address[POD_ADDRESS_SIZE];
    char pod_address[POD_ADDRESS_SIZE];
    char api_access_volume[6];
    char config_checksum[POD_DIGEST_SIZE];
    struct pod_label labels[POD_LABELS_MAX];
    size_t label_count;
    unsigned annotations; /* of annotation_set */
    size_t language;      /* which text, when ANNOTATION_LANGUAGE is set */
    struct pod_container containers[POD_CONTAINERS_MAX];
    size_t container_count;
    bool has_service_account; /* its own; otherwise the namespace's default */
};

/* Identifies one state of one pod. */
struct pod_version {
    uint64_t seed;
    uint64_t index;
    uint64_t resource_version;
    unsigned revision; /* 0: as in the list; each later one changes the status */
    bool deleted;
};

enum environment_source { ENVIRONMENT_VALUE, ENVIRONMENT_FIELD, ENVIRONMENT_SECRET };

struct environment_entry {
    const char *name;
    enum environment_source source;
    const char *value; /* the text, the field's path, or the key in the secret */
};

/* Sorted by name, the order in which a server writes the keys of managedFields. */
extern const struct environment_entry pod_environment[];
extern const size_t pod_environment_count;

struct annotation_key {
    unsigned bit; /* of annotation_set */
    const char *key;
};

/* Sorted by key; an entry whose bit is set in pod_shape.annotations is on the pod. */
extern const struct annotation_key pod_annotation_keys[];
extern const size_t pod_annotation_key_count;

void pod_shape_init(struct pod_shape *pod, const struct pod_version *version);

/* Each writes `"key":value` without surrounding commas. */
void pod_write_metadata(struct text *out, const struct pod_shape *pod);
void pod_write_managed_fields(struct text *out, const struct pod_shape *pod);
void pod_write_spec(struct text *out, const struct pod_shape *pod);
void pod_write_status(struct text *out, const struct pod_shape *pod);

#endif
