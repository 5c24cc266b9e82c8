/* SPDX-License-Identifier: Apache-2.0 */
/* accept - in which form a client wants its answer, and in which it sent its body.
 *
 *   From:     the headers Accept, Accept-Encoding, Content-Type, User-Agent
 *   To:       the handlers and answers
 *   Locks:    none
 *   Not here: writing the answer
 */
#ifndef KI_APISERVER_REQUEST_ACCEPT_H
#define KI_APISERVER_REQUEST_ACCEPT_H

#include <kinformer/common.h>
#include <stdbool.h>

enum ki_as_form {
    KI_AS_FORM_NONE, /* nothing that this server writes: 406 */
    KI_AS_FORM_JSON,
    KI_AS_FORM_TABLE,     /* as=Table of meta.k8s.io/v1 */
    KI_AS_FORM_METADATA,  /* as=PartialObjectMetadata or …List */
    KI_AS_FORM_DISCOVERY, /* as=APIGroupDiscoveryList of apidiscovery.k8s.io/v2 */
    KI_AS_FORM_GNOSTIC,   /* /openapi/v2 as protobuf, application/com.github.proto-openapi.spec.v2… */
};

/* The first of the list that can be written; an empty header is JSON. Qualities other than 0 are ignored, as
 * Kubernetes does in effect: clients name the best first. `allowed` is a mask of 1 << form. */
enum ki_as_form ki_as_accept(ki_str header, unsigned allowed);

bool ki_as_accepts_gzip(ki_str header);

/* Browsers, curl and wget get indented text unless they say otherwise. */
bool ki_as_is_for_people(ki_str user_agent);

/* The type of a body: "application/json" of "application/json; charset=utf-8", without spaces around it. */
ki_str ki_as_media_type(ki_str header);

#endif
