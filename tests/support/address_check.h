/* SPDX-License-Identifier: Apache-2.0 */
/* address_check - any text as the address of a proxy, of a server, and as a server's name.
 *
 *   From:     tests/unit/util/test_address_mutants.c, fuzz/fuzz_address.c
 *   To:       config/proxy.h, config/load.h, http/proxy_route.h, http/server_address.h
 */
#ifndef KI_TESTS_SUPPORT_ADDRESS_CHECK_H
#define KI_TESTS_SUPPORT_ADDRESS_CHECK_H

/* What every password in such a text is to be: no message may show it. */
#define ADDRESS_SECRET "s3cretpassword"

/* What is taken when it is loaded is what libcurl is told afterwards, and means the same to it; what is
 * refused is refused with a reason, in which nothing is secret. Returns NULL, or what is wrong. */
const char *address_check(const char *text);

/* Whether the last text was taken, as a proxy, a server and a name. */
typedef struct address_taken {
    int proxy, server, name;
} address_taken;

extern address_taken address_check_taken;

#endif
