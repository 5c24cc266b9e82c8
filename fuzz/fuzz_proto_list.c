/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_proto_list - the decoder of lists in protobuf over any bytes, as decode_options_fuzz() says. */
#include "support/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_list(decode_run *run, unsigned char options, ki_str body, decode_split split)
{
    ki_proto_list decoder;
    ki_object_plan *plan = decode_options_plan(options);
    ki_proto_list_init(&decoder, plan);
    decode_run_proto_list(run, &decoder, body, split);
    ki_proto_list_fini(&decoder);
    ki_object_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_options_fuzz(data, size, run_list);
}
