/* SPDX-License-Identifier: Apache-2.0 */
#include "support/client/certificates.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

enum { VALID_SECONDS = 3600 };

static char *text_of(BIO *bio)
{
    char *data = NULL;
    long n = BIO_get_mem_data(bio, &data);
    char *text = calloc(1, (size_t)n + 1);
    assert_non_null(text);
    memcpy(text, data, (size_t)n);
    BIO_free(bio);
    return text;
}

static void extend(X509 *x509, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(x509, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

static X509 *make_unsigned(const char *common_name, EVP_PKEY *key)
{
    static long serial;
    X509 *x509 = X509_new();
    assert_non_null(x509);
    (void)X509_set_version(x509, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
    (void)X509_gmtime_adj(X509_getm_notBefore(x509), -VALID_SECONDS);
    (void)X509_gmtime_adj(X509_getm_notAfter(x509), VALID_SECONDS);
    (void)X509_set_pubkey(x509, key);
    (void)X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                                     (const unsigned char *)common_name, -1, -1, 0);
    return x509;
}

static void sign(X509 *x509, EVP_PKEY *own_key, const certificate *authority)
{
    if (authority == NULL) {
        extend(x509, NID_basic_constraints, "critical,CA:TRUE");
        (void)X509_set_issuer_name(x509, X509_get_subject_name(x509));
        assert_true(X509_sign(x509, own_key, EVP_sha256()) > 0);
        return;
    }
    BIO *pem = BIO_new_mem_buf(authority->pem, -1);
    BIO *key_pem = BIO_new_mem_buf(authority->key_pem, -1);
    X509 *issuer = PEM_read_bio_X509(pem, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_pem, NULL, NULL, NULL);
    (void)X509_set_issuer_name(x509, X509_get_subject_name(issuer));
    assert_true(X509_sign(x509, key, EVP_sha256()) > 0);
    X509_free(issuer);
    EVP_PKEY_free(key);
    BIO_free(pem);
    BIO_free(key_pem);
}

certificate certificate_make(const char *common_name, const char *names, const certificate *authority)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    assert_non_null(key);
    X509 *x509 = make_unsigned(common_name, key);
    if (names != NULL)
        extend(x509, NID_subject_alt_name, names);
    sign(x509, key, authority);
    BIO *pem = BIO_new(BIO_s_mem());
    BIO *key_pem = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_X509(pem, x509), 1);
    assert_int_equal(PEM_write_bio_PrivateKey(key_pem, key, NULL, NULL, 0, NULL, NULL), 1);
    X509_free(x509);
    EVP_PKEY_free(key);
    return (certificate){text_of(pem), text_of(key_pem)};
}

void certificate_free(certificate *made)
{
    free(made->pem);
    free(made->key_pem);
    *made = (certificate){0};
}

certificates certs;

int certificates_set_up(void **state)
{
    (void)state;
    certs.authority = certificate_make("authority", NULL, NULL);
    certs.stranger = certificate_make("stranger", NULL, NULL);
    certs.for_address = certificate_make("server", "IP:127.0.0.1", &certs.authority);
    certs.for_name = certificate_make("server", "DNS:api.example", &certs.authority);
    certs.client = certificate_make("client", NULL, &certs.authority);
    certs.other_client = certificate_make("other", NULL, &certs.authority);
    return 0;
}

int certificates_tear_down(void **state)
{
    (void)state;
    certificate *const all[] = {&certs.authority, &certs.stranger, &certs.for_address,
                                &certs.for_name,  &certs.client,   &certs.other_client};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        certificate_free(all[i]);
    return 0;
}
