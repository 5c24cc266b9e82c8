/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_watch_decoder - the watch decoder over any bytes.
 *
 * Input: a byte of options (support/decode_options.h), then the body. Every split must come to the same steps,
 * objects and errors; every object given out is valid and can be read.
 */
#include <stdlib.h>

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

static void compare(const decode_run *whole, unsigned char options, ki_str body, decode_split split)
{
    decode_run run;
    run_watch(&run, options, body, split);
    decode_options_check(whole, &run);
    decode_run_fini(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    ki_str body = {(const char *)data + 1, size - 1};
    decode_run whole;
    ki_random random;
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++)
        seed = seed * 31 + data[i];
    ki_random_init(&random, seed);
    run_watch(&whole, data[0], body, (decode_split){0});
    compare(&whole, data[0], body, (decode_split){.piece = 1});
    compare(&whole, data[0], body, (decode_split){.random = &random});
    decode_run_fini(&whole);
    return 0;
}
