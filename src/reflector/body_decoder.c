/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/body_decoder.h"

#include <assert.h>

void ki_body_decoder_init(ki_body_decoder *decoder, ki_body_form form, ki_object_plan *plan)
{
    assert(decoder != NULL && form != KI_BODY_NONE);
    decoder->form = form;
    switch (form) {
    case KI_BODY_JSON_LIST:
        ki_list_decoder_init(&decoder->as.json_list, plan);
        break;
    case KI_BODY_JSON_WATCH:
        ki_watch_decoder_init(&decoder->as.json_watch, plan);
        break;
    case KI_BODY_PROTO_LIST:
        ki_proto_list_init(&decoder->as.proto_list, plan);
        break;
    default:
        ki_proto_watch_init(&decoder->as.proto_watch, plan);
        break;
    }
}

void ki_body_decoder_fini(ki_body_decoder *decoder)
{
    assert(decoder != NULL);
    if (decoder->form == KI_BODY_JSON_LIST)
        ki_list_decoder_fini(&decoder->as.json_list);
    else if (decoder->form == KI_BODY_JSON_WATCH)
        ki_watch_decoder_fini(&decoder->as.json_watch);
    else if (decoder->form == KI_BODY_PROTO_LIST)
        ki_proto_list_fini(&decoder->as.proto_list);
    else if (decoder->form == KI_BODY_PROTO_WATCH)
        ki_proto_watch_fini(&decoder->as.proto_watch);
    decoder->form = KI_BODY_NONE;
}

int ki_body_decoder_feed(ki_body_decoder *decoder, ki_str bytes, size_t *out_used, ki_error *err)
{
    switch (decoder->form) {
    case KI_BODY_JSON_LIST:
        return ki_list_decoder_feed(&decoder->as.json_list, bytes.ptr, bytes.len, out_used, err);
    case KI_BODY_JSON_WATCH:
        return ki_watch_decoder_feed(&decoder->as.json_watch, bytes.ptr, bytes.len, out_used, err);
    case KI_BODY_PROTO_LIST:
        return ki_proto_list_feed(&decoder->as.proto_list, bytes.ptr, bytes.len, out_used, err);
    default:
        assert(decoder->form == KI_BODY_PROTO_WATCH);
        return ki_proto_watch_feed(&decoder->as.proto_watch, bytes.ptr, bytes.len, out_used, err);
    }
}

int ki_body_decoder_end(ki_body_decoder *decoder, ki_error *err)
{
    switch (decoder->form) {
    case KI_BODY_JSON_LIST:
        return ki_list_decoder_end(&decoder->as.json_list, err);
    case KI_BODY_JSON_WATCH:
        return ki_watch_decoder_end(&decoder->as.json_watch, err);
    case KI_BODY_PROTO_LIST:
        return ki_proto_list_end(&decoder->as.proto_list, err);
    default:
        assert(decoder->form == KI_BODY_PROTO_WATCH);
        return ki_proto_watch_end(&decoder->as.proto_watch, err);
    }
}

ki_decoded *ki_body_decoder_result(ki_body_decoder *decoder)
{
    switch (decoder->form) {
    case KI_BODY_JSON_LIST:
        return &decoder->as.json_list.decoded;
    case KI_BODY_JSON_WATCH:
        return &decoder->as.json_watch.decoded;
    case KI_BODY_PROTO_LIST:
        return &decoder->as.proto_list.decoded;
    default:
        assert(decoder->form == KI_BODY_PROTO_WATCH);
        return &decoder->as.proto_watch.decoded;
    }
}

int ki_body_decoder_is_proto(const ki_body_decoder *decoder)
{
    return decoder->form == KI_BODY_PROTO_LIST || decoder->form == KI_BODY_PROTO_WATCH;
}

const ki_proto_unknown *ki_body_decoder_unknown(const ki_body_decoder *decoder)
{
    if (decoder->form == KI_BODY_PROTO_LIST)
        return &decoder->as.proto_list.reader.unknown;
    return decoder->form == KI_BODY_PROTO_WATCH ? &decoder->as.proto_watch.reader.unknown : NULL;
}

int ki_body_decoder_is_unknown_kind(const ki_body_decoder *decoder)
{
    return (decoder->form == KI_BODY_PROTO_LIST && decoder->as.proto_list.is_unknown_kind) ||
           (decoder->form == KI_BODY_PROTO_WATCH && decoder->as.proto_watch.is_unknown_kind);
}
