/* SPDX-License-Identifier: Apache-2.0 */
/* certificates - an authority of the test's own, and what it signs. */
#ifndef KI_TESTS_SUPPORT_CERTIFICATES_H
#define KI_TESTS_SUPPORT_CERTIFICATES_H

/* Texts to free with certificate_free(). */
typedef struct certificate {
    char *pem;
    char *key_pem;
} certificate;

/* `names` is a subjectAltName ("IP:127.0.0.1,DNS:server"), NULL: none. `authority` NULL: it signs itself, and
 * others. Fails the test when it cannot. */
certificate certificate_make(const char *common_name, const char *names, const certificate *authority);
void certificate_free(certificate *made);

/* What tests of TLS need, all signed by the first but the second. */
typedef struct certificates {
    certificate authority;
    certificate stranger; /* another authority */
    certificate for_address;
    certificate for_name; /* api.example */
    certificate client;
    certificate other_client;
} certificates;
extern certificates certs;

/* Set-up and end of a group of tests that uses `certs`. */
int certificates_set_up(void **state);
int certificates_tear_down(void **state);

#endif
