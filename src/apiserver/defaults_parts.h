/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_parts - fields and their values, as tables.
 *
 *   From:     defaults.c, defaults_pod.c
 *   To:       tree.h
 *   Locks:    none
 *   Not here: which kind has which table
 */
#ifndef KI_APISERVER_DEFAULTS_PARTS_H
#define KI_APISERVER_DEFAULTS_PARTS_H

#include <jansson.h>
#include <kinformer/common.h>

#include "apiserver/resource.h"

/* "spec.ports[].protocol" is for each element of a list; "livenessProbe?.periodSeconds" only where there
 * is one. */
struct ki_as_default {
    const char *path;
    enum {
        KI_AS_DEFAULT_TEXT,
        KI_AS_DEFAULT_NUMBER,
        KI_AS_DEFAULT_TRUE,
        KI_AS_DEFAULT_FALSE,
        KI_AS_DEFAULT_OBJECT
    } kind;
    const char *text;
    int64_t number;
};

#define KI_AS_TEXT(path_, text_)                                                                             \
    {                                                                                                        \
        path_, KI_AS_DEFAULT_TEXT, text_, 0                                                                  \
    }
#define KI_AS_NUMBER(path_, number_)                                                                         \
    {                                                                                                        \
        path_, KI_AS_DEFAULT_NUMBER, NULL, number_                                                           \
    }
#define KI_AS_TRUE(path_)                                                                                    \
    {                                                                                                        \
        path_, KI_AS_DEFAULT_TRUE, NULL, 0                                                                   \
    }
#define KI_AS_FALSE(path_)                                                                                   \
    {                                                                                                        \
        path_, KI_AS_DEFAULT_FALSE, NULL, 0                                                                  \
    }
#define KI_AS_OBJECT(path_)                                                                                  \
    {                                                                                                        \
        path_, KI_AS_DEFAULT_OBJECT, NULL, 0                                                                 \
    }

/* Up to one whose path is NULL. 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_fill(json_t *tree, const struct ki_as_default *defaults);

KI_NODISCARD int ki_as_defaults_pod_spec(json_t *spec);
/* `tolerations` are those of a pod that names none, shared by all; NULL: it gets its own. */
KI_NODISCARD int ki_as_defaults_pod(json_t *tree, json_t *tolerations);
/* NULL without memory. */
json_t *ki_as_default_tolerations(void);
KI_NODISCARD int ki_as_defaults_service(json_t *tree);
/* What the schema of a custom resource says. */
KI_NODISCARD int ki_as_defaults_schema(const json_t *schema, json_t *value);

#endif
