/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer - the command line. */
#include "cli/commands.h"

int main(int argc, char **argv)
{
    return cli_run(argc, argv);
}
