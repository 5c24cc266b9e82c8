/* SPDX-License-Identifier: Apache-2.0 */
/* open_files - whether a connection failed because no more files can be opened, and how to fix it.
 *
 *   From:     http/transfer.c, http/curl_reason.c
 *   Locks:    none.
 *   Not here: opening sockets (http/transfer_send.c).
 */
#ifndef KI_HTTP_OPEN_FILES_H
#define KI_HTTP_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this is EMFILE or ENFILE. */
bool ki_open_files_is_limit(long os_error);

/* Opens and closes a file. Returns EMFILE or ENFILE if that fails, else 0. */
int ki_open_files_probe(void);

/* Names the limit, its value and how to raise it. */
void ki_open_files_explain(long os_error, char *text, size_t size);

#endif
