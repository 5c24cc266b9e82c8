/* SPDX-License-Identifier: Apache-2.0 */
/* table_parts - columns as data, and cells that need more than a path.
 *
 *   From:     apiserver/show/table.c
 *   To:       apiserver/show/table_columns.c (columns by kind), apiserver/show/table_pod.c,
 *             apiserver/show/table_cells.c
 *   Locks:    none
 *   Not here: the Table object
 */
#ifndef KI_APISERVER_SHOW_TABLE_PARTS_H
#define KI_APISERVER_SHOW_TABLE_PARTS_H

#include "apiserver/kind/resource.h"
#include "util/buf.h"

/* Writes the text of a cell. Returns 0 or an error of ki_buf. */
typedef int (*ki_as_cell_cb)(const json_t *tree, int64_t now, ki_buf *out);

enum ki_as_cell {
    KI_AS_CELL_TEXT,    /* the string at the path, else `otherwise` */
    KI_AS_CELL_INTEGER, /* the number at the path, else 0 */
    KI_AS_CELL_BOOLEAN,
    KI_AS_CELL_COUNT,    /* number of members or elements at the path */
    KI_AS_CELL_AGE,      /* time since the time at the path */
    KI_AS_CELL_LABELS,   /* "a=b,c=d" */
    KI_AS_CELL_SELECTOR, /* a label selector */
    KI_AS_CELL_NAMES,    /* "name" of each element, separated by commas */
    KI_AS_CELL_IMAGES,   /* "image" of each element */
    KI_AS_CELL_MODES,    /* access modes: "RWO,ROX" */
    KI_AS_CELL_FUNCTION, /* written by `write` */
};

struct ki_as_column {
    const char *name;
    const char *type; /* "string", "integer", "boolean" */
    int priority;     /* 1: shown only with -o wide */
    enum ki_as_cell cell;
    const char *path;
    const char *otherwise;
    ki_as_cell_cb write;
};

/* The columns of a kind. The array ends with a column without a name.
 * Never NULL: other kinds have the columns name and age. */
const struct ki_as_column *ki_as_columns_of(const struct ki_as_resource *resource);
/* The value of a custom resource's cell. NULL if out of memory. */
json_t *ki_as_cell_of_path(const json_t *column, const json_t *tree, int64_t now);

/* Appends an item of a list, with a separator unless the buffer is empty. */
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
