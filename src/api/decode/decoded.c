/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/decoded.h"

#include <assert.h>

void ki_decoded_init(ki_decoded *decoded)
{
    assert(decoded != NULL);
    decoded->metadata.remaining_items = -1;
    ki_buf_init(&decoded->refused.key, KI_REFUSED_KEY_BYTES_MAX);
}

void ki_decoded_fini(ki_decoded *decoded)
{
    assert(decoded != NULL);
    decoded->object = ki_object_unref(decoded->object);
    ki_status_fini(&decoded->status);
    ki_buf_fini(&decoded->refused.key);
}

void ki_decoded_clear_event(ki_decoded *decoded)
{
    assert(decoded != NULL);
    decoded->refused.key.len = 0;
    decoded->refused_type = 0;
    decoded->resource_version = (ki_str){0};
    decoded->ends_initial_events = 0;
    ki_status_fini(&decoded->status);
    decoded->object = ki_object_unref(decoded->object);
}

ki_object *ki_decoded_take_object(ki_decoded *decoded)
{
    assert(decoded != NULL);
    ki_object *object = decoded->object;
    decoded->object = NULL;
    return object;
}
