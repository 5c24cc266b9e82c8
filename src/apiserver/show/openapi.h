/* SPDX-License-Identifier: Apache-2.0 */
/* openapi - enough of /openapi/v3 (and v2) that kubectl validates, explains, diffs and applies with no flag.
 *
 *   From:     GET of /openapi/v3, /openapi/v3/apis/GROUP/VERSION, /openapi/v2
 *   To:       answers; NULL without memory
 *   Locks:    the caller holds the storage's
 *   Not here: discovery
 */
#ifndef KI_APISERVER_SHOW_OPENAPI_H
#define KI_APISERVER_SHOW_OPENAPI_H

#include "apiserver/kind/resource.h"

/* {"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=…"},…}} */
json_t *ki_as_openapi_index(const struct ki_as_resources *resources);
/* /openapi/v2 with no path and no kind in it: kubectl reads it for a kind that /openapi/v3 does not have, and
 * only then says that there is no such kind. The bytes are the same in protobuf. */
json_t *ki_as_openapi_old(void);
ki_str ki_as_openapi_old_bytes(void);
/* One group and version: paths and components.schemas with x-kubernetes-group-version-kind; the fields known
 * to us typed, the rest x-kubernetes-preserve-unknown-fields.
 * json_null() when there is no such group or version. */
json_t *ki_as_openapi_version(const struct ki_as_resources *resources, ki_str group, ki_str version);

#endif
