/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_proto_watch - the decoder of watches in protobuf over any bytes, as decode_options_fuzz() says. */
#include "support/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_watch(decode_run *run, unsigned char options, ki_str body, decode_split split)
{
    ki_proto_watch decoder;
    ki_object_plan *plan = decode_options_plan(options);
    ki_proto_watch_init(&decoder, plan);
    decode_run_proto_watch(run, &decoder, body, split);
    ki_proto_watch_fini(&decoder);
    ki_object_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_options_fuzz(data, size, run_watch);
}
