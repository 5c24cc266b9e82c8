/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/proto_status.h"

#include "api/decode/list_answer.h"
#include "proto/typed.h"
#include "util/error.h"

enum { TEXT_BYTES_MAX = 1024 * 1024 };

int ki_proto_status_read(ki_proto_reader *reader, ki_str bytes, ki_error *err)
{
    const ki_proto_source source = {.message = ki_proto_find(KI_STR("v1"), KI_STR("Status")),
                                    .bytes = bytes,
                                    .kind = KI_STR("Status"),
                                    .api_version = KI_STR("v1"),
                                    .bytes_max = TEXT_BYTES_MAX,
                                    .is_whole = 1};
    int rc = ki_proto_read(reader, &source, err);
    if (rc == 0 && reader->sink.overflowed)
        return ki_fail(err, KI_ERR_TOO_LARGE, "the Status is too large");
    return rc;
}

int ki_proto_status_parse(ki_str body, ki_status *out, ki_error *err)
{
    ki_proto_typed typed = {0};
    ki_proto_reader reader;
    int rc = ki_proto_typed_read(body, 0, &typed, err);
    if (rc < 0)
        return rc;
    if (!ki_list_answer_is_status(typed.kind))
        return ki_fail(err, KI_ERR_TYPE, "the response is not a Status");
    ki_proto_reader_init(&reader, NULL, 0);
    rc = ki_proto_status_read(&reader, typed.raw, err);
    if (rc == 0)
        rc = ki_status_read((ki_json){ki_buf_str(&reader.sink.text)}, out);
    ki_proto_reader_fini(&reader);
    return rc;
}
