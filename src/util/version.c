/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/common.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *ki_version(void)
{
    return TEXT(KI_VERSION_MAJOR) "." TEXT(KI_VERSION_MINOR) "." TEXT(KI_VERSION_PATCH);
}

int ki_version_number(void)
{
    return KI_VERSION_NUMBER;
}
