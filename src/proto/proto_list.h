/* SPDX-License-Identifier: Apache-2.0 */
/* proto_list - turns the body of a LIST response in protobuf into objects, one at a time, as its bytes
 * arrive.
 *
 *   From:     reflector/body_decoder.c   (io: a body in any split)
 *   To:       proto/item.c; api/decode/decoded.h, with the same results as api/decode/list_decoder.h
 *   Locks:    none; one owner.
 *   Not here: pages; what a list proves; which responses are protobuf.
 *
 * The body is "k8s", a zero byte and {1: type, 2: list}; the list is {1: metadata, 2: items}. All lengths are
 * known in advance, so only one item is buffered, and only if it arrives in more than one piece.
 */
#ifndef KI_PROTO_PROTO_LIST_H
#define KI_PROTO_PROTO_LIST_H

#include "api/decode/decoded.h"
#include "proto/gather.h"
#include "proto/item.h"

typedef struct ki_proto_list {
    ki_object_plan
        *plan; /* borrowed; takes kind and apiVersion from the list if the resource does not have them */
    ki_decoded decoded;
    ki_buf kind; /* of the list: "PodList" */
    ki_buf api_version;
    int is_unknown_kind;    /* decoding has failed because the kind is not in the tables */
    ki_proto_reader reader; /* reader.unknown: the fields that were lost */
    /* private to proto_list.c */
    ki_proto_gather gather;
    ki_buf resource_version;
    ki_buf continue_token;
    const ki_proto_message *message;
    int has_names; /* the items are PartialObjectMetadata, not of the plan's kind */
    int state;
    int is_ended;       /* the list is complete */
    uint64_t left;      /* the number of bytes of the list to come */
    uint64_t head[2];   /* the tag of a field, and its length or number */
    unsigned head_part; /* which element of `head` is being read */
    ki_str ahead;       /* the bytes after those that were taken */
    unsigned head_bits;
} ki_proto_list;

void ki_proto_list_init(ki_proto_list *decoder, ki_object_plan *plan);
void ki_proto_list_fini(ki_proto_list *decoder);

/* Takes up to `n` bytes. Returns a ki_list_step, or the error that ends the list: KI_ERR_PROTOBUF (framing
 * is lost), KI_ERR_NOT_A_LIST, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. *out_used is the number of bytes
 * consumed; call again with the rest. KI_LIST_END is returned only if a byte follows the list; not all
 * servers send one. */
KI_NODISCARD int ki_proto_list_feed(ki_proto_list *decoder, const char *bytes, size_t n, size_t *out_used,
                                    ki_error *err);

/* Signals the end of the body. Returns 0 after a complete list, else an error. */
KI_NODISCARD int ki_proto_list_end(ki_proto_list *decoder, ki_error *err);

#endif
