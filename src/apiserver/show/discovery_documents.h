/* SPDX-License-Identifier: Apache-2.0 */
/* discovery_documents - the served groups, versions and resources, and the server's own version.
 *
 *   From:     apiserver/serve/handle_about.c: GET of /api, /apis, /apis/GROUP, /apis/GROUP/VERSION, /version
 *   To:       responses; NULL if out of memory
 *   Locks:    the caller holds the storage's
 *   Not here: schemas (apiserver/show/openapi.h)
 */
#ifndef KI_APISERVER_SHOW_DISCOVERY_DOCUMENTS_H
#define KI_APISERVER_SHOW_DISCOVERY_DOCUMENTS_H

#include "apiserver/kind/resource.h"

json_t *ki_as_discovery_api(const char *server_address);                 /* APIVersions */
json_t *ki_as_discovery_groups(const struct ki_as_resources *resources); /* APIGroupList */
/* APIGroup or APIResourceList. NULL if out of memory; json_null() if there is no such group or version. */
json_t *ki_as_discovery_group(const struct ki_as_resources *resources, ki_str group);
json_t *ki_as_discovery_version(const struct ki_as_resources *resources, ki_str group, ki_str version);
/* APIGroupDiscoveryList (apidiscovery.k8s.io/v2), for the core group or for all others. */
json_t *ki_as_discovery_aggregated(const struct ki_as_resources *resources, bool is_core);
json_t *ki_as_discovery_server_version(void);

#endif
