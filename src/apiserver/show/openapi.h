/* SPDX-License-Identifier: Apache-2.0 */
/* openapi - as much of /openapi/v3 (and v2) as kubectl needs to validate, explain, diff and apply.
 *
 *   From:     apiserver/serve/handle_about.c: GET of /openapi/v3, /openapi/v3/apis/GROUP/VERSION, /openapi/v2
 *   To:       responses; NULL if out of memory
 *   Locks:    the caller holds the storage's
 *   Not here: discovery
 */
#ifndef KI_APISERVER_SHOW_OPENAPI_H
#define KI_APISERVER_SHOW_OPENAPI_H

#include "apiserver/kind/resource.h"

/* {"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=…"},…}} */
json_t *ki_as_openapi_index(const struct ki_as_resources *resources);
/* /openapi/v2 without paths and kinds: kubectl reads it for a kind that /openapi/v3 lacks, before it reports
 * an unknown kind. ki_as_openapi_old_bytes() is the same document in protobuf. */
json_t *ki_as_openapi_old(void);
ki_str ki_as_openapi_old_bytes(void);
/* One group and version: paths and components.schemas with x-kubernetes-group-version-kind. Known fields have
 * types; kinds and fields that are not known have x-kubernetes-preserve-unknown-fields. json_null() if there
 * is no such group or version. */
json_t *ki_as_openapi_version(const struct ki_as_resources *resources, ki_str group, ki_str version);

#endif
