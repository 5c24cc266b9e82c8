/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a separate project: prints the library's version and the name of an error. */
#include <kinformer.h>
#include <stdio.h>

int main(void)
{
    printf("%s %s\n", ki_version(), ki_error_name(KI_ERR_INVALID));
    return 0;
}
