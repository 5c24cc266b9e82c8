/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_address - any text as the address of a proxy or a server, and as the name in a certificate.
 *
 * Input: a text, up to its first NUL. tests/support/client/address_check.h describes what must hold.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/client/address_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    const char *wrong = address_check(text);
    if (wrong != NULL) {
        fprintf(stderr, "%s: %s\n", wrong, text);
        abort();
    }
    free(text);
    return 0;
}
