/* SPDX-License-Identifier: Apache-2.0 */
/* address_check - any text as the address of a proxy or a server, and as a server's name.
 *
 *   From:     tests/unit/http/test_address_mutants.c, fuzz/fuzz_address.c
 *   To:       config/proxy.h, config/load.h, http/proxy_route.h, http/server_address.h
 */
#ifndef KI_TESTS_SUPPORT_CLIENT_ADDRESS_CHECK_H
#define KI_TESTS_SUPPORT_CLIENT_ADDRESS_CHECK_H

/* The password to use in such texts: no message may show it. */
#define ADDRESS_SECRET "s3cretpassword"

/* An address that is accepted when it is loaded is passed to libcurl, and means the same there. A refusal has
 * a reason, which contains no secret. Returns NULL, or a description of what is wrong. */
const char *address_check(const char *text);

/* Whether the last text was accepted, as a proxy, a server and a name. */
typedef struct address_taken {
    int proxy, server, name;
} address_taken;

extern address_taken address_check_taken;

#endif
