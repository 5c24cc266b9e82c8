/* SPDX-License-Identifier: Apache-2.0 */
/* query - the target of a request: a path followed by escaped names and values.
 *
 *   From:     reflector/http_source.c, rest/rest_message.c
 *   To:       http/transfer.c
 *   Locks:    none; one owner.
 *   Not here: paths (api/resource/resource.c); sending.
 */
#ifndef KI_API_RESOURCE_QUERY_H
#define KI_API_RESOURCE_QUERY_H

#include <kinformer/list_watch.h>

#include "util/buf.h"

typedef struct ki_query {
    ki_buf text;    /* "/api/v1/pods?limit=500" */
    char separator; /* '?', then '&' */
    int rc;         /* the first error, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE; later calls do nothing */
} ki_query;

/* `path` is written as it is. */
void ki_query_init(ki_query *query, ki_str path);
void ki_query_fini(ki_query *query);

/* An empty value, 0 and false are omitted. */
void ki_query_add(ki_query *query, const char *name, ki_str value);
void ki_query_add_number(ki_query *query, const char *name, uint64_t value);
void ki_query_add_flag(ki_query *query, const char *name, int is_set);

/* Adds all options, with the names of metav1.ListOptions. */
void ki_query_add_list_options(ki_query *query, const ki_list_options *options);

#endif
