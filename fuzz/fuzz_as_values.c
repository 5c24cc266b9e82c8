/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_values - what the embedded server reads in strings, from any bytes: amounts and
 * times. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/value/quantity.h"
#include "apiserver/value/timestamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* An amount is worth the same as it is kept, and is kept so from then on. */
static void check_quantity(ki_str text)
{
    struct ki_as_quantity first;
    struct ki_as_quantity again;
    char kept[KI_AS_QUANTITY_BYTES];
    char kept_again[KI_AS_QUANTITY_BYTES];
    if (ki_as_quantity_parse(text, &first) != 0)
        return;
    ki_as_quantity_write(&first, kept);
    require(ki_as_quantity_parse(ki_str_of(kept), &again) == 0);
    require(ki_as_quantity_compare(&first, &again) == 0);
    ki_as_quantity_write(&again, kept_again);
    require(strcmp(kept, kept_again) == 0);
}

/* What is wrong begins somewhere in the text, or behind its end. */
static void check_time(ki_str text, bool is_micro)
{
    struct ki_as_time_fault fault = ki_as_time_check(text, is_micro);
    require(fault.wanted == NULL || fault.rest.len <= text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_quantity((ki_str){text, size});
    check_time((ki_str){text, size}, false);
    check_time((ki_str){text, size}, true);
    free(text);
    return 0;
}
