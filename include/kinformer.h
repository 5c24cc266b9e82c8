/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer - Kubernetes informers for C: all public headers. The functions of <kinformer/apiserver.h> are in
 * a separate library, libkinformer-apiserver. */
#ifndef KINFORMER_H
#define KINFORMER_H

#include <kinformer/alloc.h>
#include <kinformer/apiserver.h>
#include <kinformer/body.h>
#include <kinformer/change.h>
#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/config.h>
#include <kinformer/controller.h>
#include <kinformer/delta_queue.h>
#include <kinformer/discovery.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/handler.h>
#include <kinformer/informer.h>
#include <kinformer/json.h>
#include <kinformer/key.h>
#include <kinformer/leader.h>
#include <kinformer/limiter.h>
#include <kinformer/list_watch.h>
#include <kinformer/lister.h>
#include <kinformer/log.h>
#include <kinformer/metrics.h>
#include <kinformer/object.h>
#include <kinformer/parallelize.h>
#include <kinformer/predicate.h>
#include <kinformer/quantity.h>
#include <kinformer/recorder.h>
#include <kinformer/resource.h>
#include <kinformer/resources.h>
#include <kinformer/rest.h>
#include <kinformer/selector.h>
#include <kinformer/status.h>
#include <kinformer/store.h>
#include <kinformer/timestamp.h>
#include <kinformer/workqueue.h>

#endif
