/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/common.h>

/* KI_VERSION comes from the build, so that the number is defined in one place. */
const char *ki_version(void)
{
    return KI_VERSION;
}
