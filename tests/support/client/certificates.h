/* SPDX-License-Identifier: Apache-2.0 */
/* certificates - a CA for tests, and certificates that it signs. */
#ifndef KI_TESTS_SUPPORT_CLIENT_CERTIFICATES_H
#define KI_TESTS_SUPPORT_CLIENT_CERTIFICATES_H

/* Free the texts with certificate_free(). */
typedef struct certificate {
    char *pem;
    char *key_pem;
} certificate;

/* `names` is a subjectAltName ("IP:127.0.0.1,DNS:server"); NULL: none. `authority` NULL: the certificate is
 * self-signed, and can sign others. Fails the test on an error. */
certificate certificate_make(const char *common_name, const char *names, const certificate *authority);
void certificate_free(certificate *made);

/* The certificates for tests of TLS; all but the second are signed by the first. */
typedef struct certificates {
    certificate authority;
    certificate stranger; /* another authority */
    certificate for_address;
    certificate for_name; /* api.example */
    certificate client;
    certificate other_client;
} certificates;
extern certificates certs;

/* Group setup and teardown for tests that use `certs`. */
int certificates_set_up(void **state);
int certificates_tear_down(void **state);

#endif
