/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_watch_decoder - the watch decoder over any bytes; see decode_options_fuzz(). */
#include "support/decode/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_options_fuzz(data, size, KI_BODY_JSON_WATCH);
}
