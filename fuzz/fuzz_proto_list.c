/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_proto_list - the decoder of lists in protobuf over any bytes; see decode_options_fuzz(). */
#include "support/decode/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_options_fuzz(data, size, KI_BODY_PROTO_LIST);
}
