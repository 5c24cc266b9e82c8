/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside the project: prints the library's version and one word of an error. */
#include <kinformer.h>
#include <stdio.h>

int main(void)
{
    printf("%s %s\n", ki_version(), ki_error_name(KI_ERR_INVALID));
    return 0;
}
