/* SPDX-License-Identifier: Apache-2.0 */
/* names - checks names, labels and keys, with Kubernetes' messages for invalid ones.
 *
 *   From:     apiserver/object/selector_labels.c, apiserver/kind/check.h,
 *             apiserver/validate/validate_definition.c, apiserver/validate/validate_metadata.c,
 *             apiserver/validate/validate_rules.c
 *   To:       the callers' messages
 *   Locks:    none
 *   Not here: the path of the field
 */
#ifndef KI_APISERVER_VALUE_NAMES_H
#define KI_APISERVER_VALUE_NAMES_H

#include <kinformer/common.h>
#include <stdbool.h>

enum { KI_AS_COMPLAINTS_MAX = 5 };

/* Static texts; no texts means that the name is valid. */
struct ki_as_complaints {
    const char *texts[KI_AS_COMPLAINTS_MAX];
    size_t count;
};

typedef struct ki_as_complaints (*ki_as_name_check)(ki_str text);

struct ki_as_complaints ki_as_check_subdomain(ki_str text);    /* RFC 1123 with dots: most names */
struct ki_as_complaints ki_as_check_label(ki_str text);        /* without dots: namespaces, containers */
struct ki_as_complaints ki_as_check_label_1035(ki_str text);   /* starts with a letter */
struct ki_as_complaints ki_as_check_path_segment(ki_str text); /* any URL path segment: roles */
struct ki_as_complaints ki_as_check_label_key(ki_str text);    /* "example.com/name": labels, finalizers */
struct ki_as_complaints ki_as_check_label_value(ki_str text);
struct ki_as_complaints ki_as_check_port_name(ki_str text);

#endif
