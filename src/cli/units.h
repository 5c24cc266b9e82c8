/* SPDX-License-Identifier: Apache-2.0 */
/* units - units of time; the program does not use the library's internal headers.
 *
 *   From:     cli/duration.c, cli/moment.h, cli/moment.c, cli/signals.c
 */
#ifndef KI_CLI_UNITS_H
#define KI_CLI_UNITS_H

#define CLI_NS_PER_US 1000
#define CLI_NS_PER_MS (1000 * CLI_NS_PER_US)
#define CLI_NS_PER_S (1000 * CLI_NS_PER_MS)
#define CLI_MS_PER_S 1000

#endif
