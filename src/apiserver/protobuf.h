/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf - objects as client-go's typed clients write them, as trees.
 *
 *   From:     bodies of application/vnd.kubernetes.protobuf
 *   To:       what JSON would have been
 *   Locks:    none
 *   Not here: writing protobuf: those clients read JSON as well, and say so
 */
#ifndef KI_APISERVER_PROTOBUF_H
#define KI_APISERVER_PROTOBUF_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/failure.h"

bool ki_as_protobuf_is_type(ki_str media_type);
/* A kind and its object behind "k8s\0". 0 with a new tree, or -1 with 400 or 500. Fields that nobody knows are left out. */
KI_NODISCARD int ki_as_protobuf_decode(ki_str body, json_t **out, struct ki_as_failure *failure);

#endif
