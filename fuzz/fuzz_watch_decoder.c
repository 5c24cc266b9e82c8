/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_watch_decoder - the watch decoder over any bytes, as decode_options_fuzz() says. */
#include "support/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_watch(decode_run *run, unsigned char options, ki_str body, decode_split split)
{
    ki_watch_decoder decoder;
    ki_object_plan *plan = decode_options_plan(options);
    ki_watch_decoder_init(&decoder, plan);
    decode_run_watch(run, &decoder, body, split);
    ki_watch_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_options_fuzz(data, size, run_watch);
}
