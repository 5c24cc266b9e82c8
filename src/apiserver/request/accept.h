/* SPDX-License-Identifier: Apache-2.0 */
/* accept - the format that a client accepts, and the format of its body.
 *
 *   From:     apiserver/serve/handle*.c (Accept, Content-Type), apiserver/serve/render.c (of failures),
 *             apiserver/serve/respond.c (Accept-Encoding, User-Agent)
 *   To:       the form of the response: apiserver/serve/render.c, apiserver/serve/stream.c
 *   Locks:    none
 *   Not here: writing the response
 */
#ifndef KI_APISERVER_REQUEST_ACCEPT_H
#define KI_APISERVER_REQUEST_ACCEPT_H

#include <kinformer/common.h>
#include <stdbool.h>

enum ki_as_form {
    KI_AS_FORM_NONE, /* no supported format: 406 */
    KI_AS_FORM_JSON,
    KI_AS_FORM_TABLE,     /* as=Table of meta.k8s.io/v1 */
    KI_AS_FORM_METADATA,  /* as=PartialObjectMetadata or …List */
    KI_AS_FORM_DISCOVERY, /* as=APIGroupDiscoveryList of apidiscovery.k8s.io/v2 */
    KI_AS_FORM_PROTO,     /* application/vnd.kubernetes.protobuf */
    KI_AS_FORM_PROTO_METADATA,
    KI_AS_FORM_GNOSTIC, /* /openapi/v2 as protobuf, application/com.github.proto-openapi.spec.v2… */
};

/* The first supported format of the header; an empty header means JSON. Qualities other than 0 are ignored:
 * clients list the best format first, so the result is the same as in Kubernetes.
 * `allowed` is a mask of 1 << form. */
enum ki_as_form ki_as_accept(ki_str header, unsigned allowed);

bool ki_as_accepts_gzip(ki_str header);

/* Whether the client is a browser, curl or wget: these get indented text,
 * unless the request says otherwise. */
bool ki_as_is_for_people(ki_str user_agent);

/* The media type without parameters and spaces: "application/json" of "application/json; charset=utf-8". */
ki_str ki_as_media_type(ki_str header);

#endif
