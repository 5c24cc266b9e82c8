/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_values - quantities and times as the embedded server reads them, from any bytes. */
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

/* The stored form of a quantity has the same value. Stored again, it does not change any more: the first
 * time, as in Go, a binary quantity such as 1002937.5Ki becomes 1027008000, and that 1027008k. */
static void check_quantity(ki_str text)
{
    ki_quantity_text first;
    ki_quantity_text last;
    char kept[KI_QUANTITY_TEXT_BYTES];
    char before[KI_QUANTITY_TEXT_BYTES] = "";
    if (ki_quantity_text_parse(text, &first) != 0)
        return;
    ki_quantity_text_write(&first, kept);
    for (int i = 0; i < 2; i++) {
        memcpy(before, kept, sizeof(kept));
        require(ki_quantity_text_parse(ki_str_of(kept), &last) == 0);
        require(ki_as_quantity_compare(&first, &last) == 0);
        ki_quantity_text_write(&last, kept);
    }
    require(strcmp(kept, before) == 0);
}

/* An error is reported at a position in the text or at its end. */
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
