/* SPDX-License-Identifier: Apache-2.0 */
#include "http_tls.h"

#include <openssl/ec.h>
#include <openssl/x509.h>

enum { VALID_SECONDS = 24 * 3600 };

static X509 *sign_own(EVP_PKEY *key)
{
    X509 *made = key == NULL ? NULL : X509_new();
    if (made == NULL) {
        return NULL;
    }
    X509_NAME *name = X509_get_subject_name(made);
    if (X509_set_version(made, 2) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(made), 1) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(made), 0) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(made), VALID_SECONDS) != NULL &&
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"bench", -1, -1, 0) ==
            1 &&
        X509_set_issuer_name(made, name) == 1 && X509_set_pubkey(made, key) == 1 &&
        X509_sign(made, key, EVP_sha256()) > 0) {
        return made;
    }
    X509_free(made);
    return NULL;
}

SSL_CTX *http_tls_new(void)
{
    SSL_CTX *made = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = sign_own(key);
    if (made != NULL &&
        (certificate == NULL || SSL_CTX_use_certificate(made, certificate) != 1 ||
         SSL_CTX_use_PrivateKey(made, key) != 1 || SSL_CTX_set_ciphersuites(made, HTTP_TLS_SUITE) != 1)) {
        SSL_CTX_free(made);
        made = NULL;
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return made;
}

SSL *http_tls_accept(SSL_CTX *context, int fd)
{
    SSL *made = SSL_new(context);
    if (made == NULL || SSL_set_fd(made, fd) != 1 || SSL_accept(made) != 1) {
        SSL_free(made);
        return NULL;
    }
    return made;
}

bool http_tls_send(SSL *ssl, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t part = n < HTTP_TLS_RECORD_BYTES ? n : HTTP_TLS_RECORD_BYTES;
        if (SSL_write(ssl, bytes, (int)part) != (int)part) {
            return false;
        }
        bytes += part;
        n -= part;
    }
    return true;
}
