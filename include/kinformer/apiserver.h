/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver - a Kubernetes API server inside your program, with no etcd: for tests, demonstrations, tools.
 *
 * Link with libkinformer-apiserver. It serves all built-in resources and CustomResourceDefinitions over HTTP on loopback, to
 * kubectl and to any client:
 *
 *   ki_apiserver *server = ki_apiserver_start(NULL, &err);
 *   ki_apiserver_put(server, &KI_CORE_V1_PODS, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\"}}", &err);
 *   ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
 *   ki_apiserver_fault(server, &(ki_fault){.on = KI_FAULT_WATCH, .after_bytes = 1000, .action = KI_FAULT_RESET, .times = 3},
 *                      &err);
 *
 * Every function may be called from any thread.
 */
#ifndef KI_APISERVER_H
#define KI_APISERVER_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

typedef struct ki_apiserver ki_apiserver;

KI_EXTERN_C_END

#endif
