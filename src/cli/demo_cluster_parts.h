/* SPDX-License-Identifier: Apache-2.0 */
/* demo_cluster_parts - what the files of the simulated cluster share.
 *
 *   From:     cli/demo_cluster.c (memory, the first objects), cli/demo_life.c (what happens next), cli/demo_pods.c (pods
 *             and where they run), cli/demo_objects.c and cli/demo_pod_object.c (JSON)
 *   Locks:    none.
 *
 * What always holds: the counts of pods in a replica set, a deployment and a node are those of the pods that name them;
 * a pod is created only while its deployment has fewer than replicas and surge allow.
 */
#ifndef KI_CLI_DEMO_CLUSTER_PARTS_H
#define KI_CLI_DEMO_CLUSTER_PARTS_H

#include <kinformer/json.h>

#include "cli/demo_bag.h"
#include "cli/demo_cluster.h"
#include "cli/demo_random.h"

enum {
    DEMO_SETS = 3, /* of one deployment: the current one, the one before, and one that is about to go */
    DEMO_UID_BYTES = 37,
    DEMO_HASH_BYTES = 11,
    DEMO_NAME_BYTES = 64,
    DEMO_POD_NAME_BYTES = DEMO_NAME_BYTES + DEMO_HASH_BYTES + 8,
    DEMO_NODE_PODS_MAX = 110 /* as a kubelet's default */
};

#define DEMO_NO_NODE UINT32_MAX
#define DEMO_NO_POD UINT32_MAX

typedef enum demo_pod_state {
    DEMO_POD_FREE = 0, /* the place of a pod that is not there */
    DEMO_POD_PENDING,  /* on no node */
    DEMO_POD_CREATING, /* on a node, without a container */
    DEMO_POD_RUNNING,  /* ready */
    DEMO_POD_CRASHED   /* waits to be restarted */
} demo_pod_state;

typedef struct demo_pod {
    demo_pod_state state;
    uint32_t deployment;
    uint32_t revision; /* which of the replica sets */
    uint32_t node;
    uint32_t address; /* on its node; 0: none */
    uint32_t restarts;
    uint32_t next; /* of the same deployment; DEMO_NO_POD: none. Free places are linked as well */
    uint32_t previous;
    int64_t created_s;
    int64_t changed_s;
    char uid[DEMO_UID_BYTES];
    char suffix[6];
} demo_pod;

typedef struct demo_node {
    uint32_t pod_count;
    uint64_t addresses[4]; /* that are taken, as bits */
    int is_ready;
    int64_t changed_s;
    char uid[DEMO_UID_BYTES];
    char name[24];
} demo_node;

typedef struct demo_set {
    uint32_t revision; /* 0: there is none */
    int is_there;      /* the API server has been told */
    int is_dirty;      /* … and what it was told is not true any more */
    uint32_t pod_count;
    uint32_t ready_count;
    char uid[DEMO_UID_BYTES];
    char hash[DEMO_HASH_BYTES];
} demo_set;

typedef struct demo_deployment {
    const char *ns;
    const char *app;
    char name[DEMO_NAME_BYTES];
    char uid[DEMO_UID_BYTES];
    uint32_t base;     /* replicas at the beginning: it scales around this */
    uint32_t replicas; /* that it should have */
    uint32_t revision;
    uint32_t generation;
    uint32_t pods; /* the first; DEMO_NO_POD: none */
    int64_t changed_s;
    demo_set sets[DEMO_SETS];
} demo_deployment;

struct cli_demo_cluster {
    cli_demo_random random;
    ki_json_writer *writer;
    int64_t now_s;
    size_t loaded; /* of the first objects */
    demo_node *nodes;
    uint32_t node_count;
    demo_deployment *deployments;
    uint32_t deployment_count;
    demo_pod *pods;
    uint32_t pod_max;
    uint32_t first_pods; /* how many there are from the beginning */
    uint32_t free_pods;  /* the first free place */
    uint32_t unready_nodes;
    cli_demo_bag moving;            /* pods that are neither running nor gone */
    cli_demo_bag unsettled;         /* deployments with pods to be made or deleted */
    cli_demo_bag dirty;             /* deployments whose status is not what the API server was told */
    char name[DEMO_POD_NAME_BYTES]; /* of the object of the last change */
    char happening[160];
    char json[8 * 1024]; /* far more than any of these objects takes */
};

/* ---- demo_cluster.c ------------------------------------------------------------------------------------ */

extern const char *const demo_namespaces[];
extern const uint32_t demo_namespace_count;

void demo_draw_uid(cli_demo_cluster *cluster, char out[DEMO_UID_BYTES]);

/* As Kubernetes ends generated names. `bytes` with the NUL. */
void demo_draw_letters(cli_demo_cluster *cluster, char *out, size_t bytes);

/* ---- demo_life.c --------------------------------------------------------------------------------------- */

void demo_next_change(cli_demo_cluster *cluster, cli_demo_change *out);

/* ---- demo_pods.c --------------------------------------------------------------------------------------- */

demo_set *demo_set_of(demo_deployment *deployment, uint32_t revision);
uint32_t demo_surge(const demo_deployment *deployment);

/* A pod of the current replica set, not on a node. Returns its number, or DEMO_NO_POD when there is no place. */
uint32_t demo_pod_add(cli_demo_cluster *cluster, uint32_t deployment);
void demo_pod_remove(cli_demo_cluster *cluster, uint32_t pod);

/* Returns 0 when no node has room. */
int demo_pod_schedule(cli_demo_cluster *cluster, uint32_t pod);
void demo_pod_run(cli_demo_cluster *cluster, uint32_t pod);
void demo_pod_crash(cli_demo_cluster *cluster, uint32_t pod);

void demo_pod_name(const cli_demo_cluster *cluster, uint32_t pod, char out[DEMO_POD_NAME_BYTES]);

/* ---- demo_objects.c, demo_pod_object.c: what a change says of an object -------------------------------- */

void demo_tell_namespace(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void demo_tell_node(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void demo_tell_deployment(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void demo_tell_set(cli_demo_cluster *cluster, uint32_t number, const demo_set *set, cli_demo_change *out);
void demo_tell_pod(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);

/* The pod spec that a deployment's template, its replica sets and its pods have in common: the members. */
void demo_write_pod_spec(ki_json_writer *writer, const demo_deployment *deployment, uint32_t revision);

/* Members of JSON objects. */
void demo_write_text(ki_json_writer *writer, const char *name, const char *text);
void demo_write_number(ki_json_writer *writer, const char *name, int64_t number);
void demo_write_flag(ki_json_writer *writer, const char *name, int flag);
void demo_write_time(ki_json_writer *writer, const char *name, int64_t time_s);
void demo_write_object(ki_json_writer *writer, const char *name); /* begins */
void demo_write_array(ki_json_writer *writer, const char *name);  /* begins */
void demo_write_condition(ki_json_writer *writer, const char *type, int is_true, int64_t since_s);

/* Labels that all of an app's objects have; with the hash of a replica set when there is one. */
void demo_write_labels(ki_json_writer *writer, const demo_deployment *deployment, const demo_set *set);

/* metadata.ownerReferences with one controller. */
typedef struct demo_owner {
    const char *kind;
    const char *name;
    const char *uid;
} demo_owner;

void demo_write_owner(ki_json_writer *writer, const demo_owner *owner);

#endif
