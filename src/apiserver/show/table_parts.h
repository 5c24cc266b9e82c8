/* SPDX-License-Identifier: Apache-2.0 */
/* table_parts - columns as data, and cells that need more than a path.
 *
 *   From:     apiserver/show/table.c
 *   To:       apiserver/show/table_columns.c (which kind has which), apiserver/show/table_pod.c,
 *             apiserver/show/table_cells.c
 *   Locks:    none
 *   Not here: the Table around them
 */
#ifndef KI_APISERVER_SHOW_TABLE_PARTS_H
#define KI_APISERVER_SHOW_TABLE_PARTS_H

#include "apiserver/kind/resource.h"
#include "util/buf.h"

/* Writes the text of a cell. 0 or ki_buf's errors. */
typedef int (*ki_as_cell_cb)(const json_t *tree, int64_t now, ki_buf *out);

enum ki_as_cell {
    KI_AS_CELL_TEXT,    /* the string at the path, else `otherwise` */
    KI_AS_CELL_INTEGER, /* the number at the path, else 0 */
    KI_AS_CELL_BOOLEAN,
    KI_AS_CELL_COUNT,    /* of the members or elements at the path */
    KI_AS_CELL_AGE,      /* since the time at the path */
    KI_AS_CELL_LABELS,   /* "a=b,c=d" */
    KI_AS_CELL_SELECTOR, /* a label selector */
    KI_AS_CELL_NAMES,    /* "name" of each element, by commas */
    KI_AS_CELL_IMAGES,   /* "image" of each */
    KI_AS_CELL_MODES,    /* access modes: "RWO,ROX" */
    KI_AS_CELL_FUNCTION, /* what `write` writes */
};

struct ki_as_column {
    const char *name;
    const char *type; /* "string", "integer", "boolean" */
    int priority;     /* 1: only -o wide shows it */
    enum ki_as_cell cell;
    const char *path;
    const char *otherwise;
    ki_as_cell_cb write;
};

/* Up to one without a name. Never NULL: name and age for kinds without any of their own. */
const struct ki_as_column *ki_as_columns_of(const struct ki_as_resource *resource);
/* The value of a cell of a custom resource's column. NULL without memory. */
json_t *ki_as_cell_of_path(const json_t *column, const json_t *tree, int64_t now);

/* Lists of texts: puts a separator unless the buffer is empty. */
KI_NODISCARD int ki_as_cell_add(ki_buf *out, const char *separator, ki_str text);
KI_NODISCARD int ki_as_cell_printf(ki_buf *out, const char *format, ...) KI_PRINTF(2, 3);
KI_NODISCARD int ki_as_cell_age(ki_buf *out, ki_str since, int64_t now);
KI_NODISCARD int ki_as_cell_labels(ki_buf *out, const json_t *labels);
KI_NODISCARD int ki_as_cell_selector(ki_buf *out, const json_t *selector);
KI_NODISCARD int ki_as_cell_modes(ki_buf *out, const json_t *modes);

int ki_as_cell_pod_ready(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_pod_status(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_pod_restarts(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_pod_gates(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_node_status(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_node_roles(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_node_internal_ip(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_node_external_ip(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_node_kernel(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_service_external(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_service_ports(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_ready_of_replicas(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_job_status(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_job_completions(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_job_duration(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_suspended(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_event_last(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_event_first(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_event_object(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_event_source(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_event_count(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_ingress_hosts(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_ingress_address(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_ingress_ports(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_slice_ports(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_slice_endpoints(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_endpoints(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_volume_claim(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_phase(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_claim_capacity(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_claim_modes(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_role(const json_t *tree, int64_t now, ki_buf *out);
int ki_as_cell_scale_target(const json_t *tree, int64_t now, ki_buf *out);

#endif
