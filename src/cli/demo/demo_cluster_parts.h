/* SPDX-License-Identifier: Apache-2.0 */
/* demo_cluster_parts - shared by the files of the simulated cluster.
 *
 *   From:     cli/demo/demo_cluster.c (memory, the first objects), cli/demo/demo_life.c (the next change),
 *             cli/demo/demo_pods.c (pods and nodes), cli/demo/demo_objects.c and cli/demo/demo_pod_object.c
 *             (JSON)
 *   Locks:    none.
 *
 * Invariants: the pod counts of a replica set, a deployment and a node equal the number of pods that refer to
 * them; a pod is only created while its deployment has fewer pods than replicas and surge allow.
 */
#ifndef KI_CLI_DEMO_DEMO_CLUSTER_PARTS_H
#define KI_CLI_DEMO_DEMO_CLUSTER_PARTS_H

#include <kinformer/json.h>

#include "cli/demo/demo_bag.h"
#include "cli/demo/demo_cluster.h"
#include "cli/demo/demo_random.h"

enum {
    CLI_DEMO_SETS = 3, /* per deployment: the current one, the previous one, and one about to be deleted */
    CLI_DEMO_UID_BYTES = 37,
    CLI_DEMO_HASH_BYTES = 11,
    CLI_DEMO_NAME_BYTES = 64,
    CLI_DEMO_POD_NAME_BYTES = CLI_DEMO_NAME_BYTES + CLI_DEMO_HASH_BYTES + 8,
    CLI_DEMO_NODE_PODS_MAX = 110 /* the default of a kubelet */
};

#define CLI_DEMO_NO_NODE UINT32_MAX
#define CLI_DEMO_NO_POD UINT32_MAX

typedef enum cli_demo_pod_state {
    CLI_DEMO_POD_FREE = 0, /* an unused entry */
    CLI_DEMO_POD_PENDING,  /* on no node */
    CLI_DEMO_POD_CREATING, /* on a node, without a container */
    CLI_DEMO_POD_RUNNING,  /* ready */
    CLI_DEMO_POD_CRASHED   /* waits to be restarted */
} cli_demo_pod_state;

typedef struct cli_demo_pod {
    cli_demo_pod_state state;
    uint32_t deployment;
    uint32_t revision; /* identifies the replica set */
    uint32_t node;
    uint32_t address; /* on its node; 0 if none */
    uint32_t restarts;
    uint32_t next; /* the next pod of the deployment, or the next free entry; CLI_DEMO_NO_POD at the end */
    uint32_t previous;
    int64_t created_s;
    int64_t changed_s;
    char uid[CLI_DEMO_UID_BYTES];
    char suffix[6];
} cli_demo_pod;

typedef struct cli_demo_node {
    uint32_t pod_count;
    uint64_t addresses[4]; /* the addresses in use, as bits */
    int is_ready;
    int64_t changed_s;
    char uid[CLI_DEMO_UID_BYTES];
    char name[24];
} cli_demo_node;

typedef struct cli_demo_set {
    uint32_t revision; /* 0 if unused */
    int is_there;      /* it exists on the API server */
    int is_dirty;      /* … and has changed since */
    uint32_t pod_count;
    uint32_t ready_count;
    char uid[CLI_DEMO_UID_BYTES];
    char hash[CLI_DEMO_HASH_BYTES];
} cli_demo_set;

typedef struct cli_demo_deployment {
    const char *ns;
    const char *app;
    char name[CLI_DEMO_NAME_BYTES];
    char uid[CLI_DEMO_UID_BYTES];
    uint32_t base;     /* initial replicas; scaling stays near this number */
    uint32_t replicas; /* desired */
    uint32_t revision;
    uint32_t generation;
    uint32_t pods; /* the first pod; CLI_DEMO_NO_POD if none */
    int64_t changed_s;
    cli_demo_set sets[CLI_DEMO_SETS];
} cli_demo_deployment;

struct cli_demo_cluster {
    cli_demo_random random;
    ki_json_writer *writer;
    int64_t now_s;
    size_t loaded; /* initial objects written so far */
    cli_demo_node *nodes;
    uint32_t node_count;
    cli_demo_deployment *deployments;
    uint32_t deployment_count;
    cli_demo_pod *pods;
    uint32_t pod_max;
    uint32_t first_pods; /* initial number of pods */
    uint32_t free_pods;  /* the first free entry */
    uint32_t unready_nodes;
    cli_demo_bag moving;                /* pods that are neither running nor deleted */
    cli_demo_bag unsettled;             /* deployments with pods to be created or deleted */
    cli_demo_bag dirty;                 /* deployments whose status must be written to the API server */
    char name[CLI_DEMO_POD_NAME_BYTES]; /* of the object in the last change */
    char happening[160];
    char json[8 * 1024]; /* far more than any of these objects needs */
};

/* ---- demo_cluster.c ------------------------------------------------------------------------------------ */

extern const char *const cli_demo_namespaces[];

void cli_demo_draw_uid(cli_demo_cluster *cluster, char out[CLI_DEMO_UID_BYTES]);

/* Random letters as in Kubernetes' generated names. `bytes` includes the NUL. */
void cli_demo_draw_letters(cli_demo_cluster *cluster, char *out, size_t bytes);

/* ---- demo_life.c --------------------------------------------------------------------------------------- */

void cli_demo_next_change(cli_demo_cluster *cluster, cli_demo_change *out);

/* ---- demo_pods.c --------------------------------------------------------------------------------------- */

cli_demo_set *cli_demo_set_of(cli_demo_deployment *deployment, uint32_t revision);
uint32_t cli_demo_surge(const cli_demo_deployment *deployment);

/* Adds a pod of the current replica set, without a node. Returns its number, or CLI_DEMO_NO_POD if there
 * is no space. */
uint32_t cli_demo_pod_add(cli_demo_cluster *cluster, uint32_t deployment);
void cli_demo_pod_remove(cli_demo_cluster *cluster, uint32_t pod);

/* Returns 0 if all nodes are full. */
int cli_demo_pod_schedule(cli_demo_cluster *cluster, uint32_t pod);
void cli_demo_pod_run(cli_demo_cluster *cluster, uint32_t pod);
void cli_demo_pod_crash(cli_demo_cluster *cluster, uint32_t pod);

void cli_demo_pod_name(const cli_demo_cluster *cluster, uint32_t pod, char out[CLI_DEMO_POD_NAME_BYTES]);

/* ---- demo_objects.c, demo_pod_object.c: the JSON of objects -------------------------------------------- */

void cli_demo_tell_namespace(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void cli_demo_tell_node(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void cli_demo_tell_deployment(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);
void cli_demo_tell_set(cli_demo_cluster *cluster, uint32_t number, const cli_demo_set *set,
                       cli_demo_change *out);
void cli_demo_tell_pod(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out);

/* Writes the members of the pod spec that a deployment's template, its replica sets and its pods share. */
void cli_demo_write_pod_spec(ki_json_writer *writer, const cli_demo_deployment *deployment,
                             uint32_t revision);

/* Members of JSON objects. */
void cli_demo_write_text(ki_json_writer *writer, const char *name, const char *text);
void cli_demo_write_number(ki_json_writer *writer, const char *name, int64_t number);
void cli_demo_write_flag(ki_json_writer *writer, const char *name, int flag);
void cli_demo_write_time(ki_json_writer *writer, const char *name, int64_t time_s);
void cli_demo_write_object(ki_json_writer *writer, const char *name); /* begins */
void cli_demo_write_array(ki_json_writer *writer, const char *name);  /* begins */
void cli_demo_write_condition(ki_json_writer *writer, const char *type, int is_true, int64_t since_s);

/* Labels that all objects of an app have; with the hash of a replica set if there is one. */
void cli_demo_write_labels(ki_json_writer *writer, const cli_demo_deployment *deployment,
                           const cli_demo_set *set);

/* metadata.ownerReferences with one controller. */
typedef struct cli_demo_owner {
    const char *kind;
    const char *name;
    const char *uid;
} cli_demo_owner;

void cli_demo_write_owner(ki_json_writer *writer, const cli_demo_owner *owner);

#endif
