/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/tls.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <time.h>

#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/random.h"
#include "util/units.h"

enum { DAY_SECONDS = 24 * 3600, YEARS = 10, SERIAL_BYTES = 16 };

/* Sets the names of a certificate. Returns 0, or the first code that failed. */
static int name_it(gnutls_x509_crt_t certificate, const char *address)
{
    static const char common_name[] = "kinformer-apiserver";
    static const char *const addresses[] = {"127.0.0.1", "::1"};
    unsigned char raw[16];
    int rc = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, common_name,
                                           sizeof(common_name) - 1);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, "localhost", 9,
                                                  GNUTLS_FSAN_SET);
    for (size_t i = 0; i < 2 && rc >= 0; i++) {
        bool is_six = strchr(addresses[i], ':') != NULL;
        (void)inet_pton(is_six ? AF_INET6 : AF_INET, addresses[i], raw);
        rc = gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, raw, is_six ? 16 : 4,
                                                  GNUTLS_FSAN_APPEND);
    }
    if (rc < 0 || address == NULL)
        return rc;
    if (inet_pton(AF_INET, address, raw) == 1)
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, raw, 4,
                                                    GNUTLS_FSAN_APPEND);
    if (inet_pton(AF_INET6, address, raw) == 1)
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, raw, 16,
                                                    GNUTLS_FSAN_APPEND);
    return rc;
}

/* The certificate is self-signed but not a CA certificate, because some clients reject a CA certificate of a
 * server. */
static int fill(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *address)
{
    unsigned char serial[SERIAL_BYTES];
    time_t now = (time_t)(ki_clock_wall_ns(ki_clock_real()) / (int64_t)KI_NS_PER_S);
    if (ki_random_system_bytes(serial, sizeof(serial)) < 0)
        return GNUTLS_E_RANDOM_FAILED;
    serial[0] &= 0x7f;
    int rc = gnutls_x509_crt_set_version(certificate, 3);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
    if (rc >= 0)
        rc = gnutls_x509_crt_set_activation_time(certificate, now - DAY_SECONDS);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_expiration_time(certificate, now + (time_t)YEARS * 365 * DAY_SECONDS);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_key(certificate, key);
    if (rc >= 0)
        rc = name_it(certificate, address);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    return rc < 0 ? rc : gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
}

static char *copy_datum(gnutls_datum_t *datum)
{
    char *text = ki_malloc(datum->size + 1UL);
    if (text != NULL) {
        memcpy(text, datum->data, datum->size);
        text[datum->size] = 0;
    }
    gnutls_memset(datum->data, 0, datum->size);
    gnutls_free(datum->data);
    return text;
}

static int export_both(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, char **out_certificate,
                       char **out_key)
{
    gnutls_datum_t datum = {0};
    int rc = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &datum);
    if (rc < 0)
        return rc;
    char *first = copy_datum(&datum);
    rc = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &datum);
    char *second = rc < 0 ? NULL : copy_datum(&datum);
    if (first == NULL || second == NULL) {
        ki_free(first);
        ki_free(second);
        return rc < 0 ? rc : GNUTLS_E_MEMORY_ERROR;
    }
    *out_certificate = first;
    *out_key = second;
    return 0;
}

int ki_as_tls_make(const char *address, char **out_certificate, char **out_key, ki_error *err)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    int rc = gnutls_x509_crt_init(&certificate);
    if (rc >= 0)
        rc = gnutls_x509_privkey_init(&key);
    if (rc >= 0)
        rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                          GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (rc >= 0)
        rc = fill(certificate, key, address);
    if (rc >= 0)
        rc = export_both(certificate, key, out_certificate, out_key);
    if (key != NULL)
        gnutls_x509_privkey_deinit(key);
    if (certificate != NULL)
        gnutls_x509_crt_deinit(certificate);
    if (rc == GNUTLS_E_MEMORY_ERROR)
        return ki_fail_no_memory(err);
    return rc < 0 ? ki_fail(err, KI_ERR_SYSTEM, "no certificate: %s", gnutls_strerror(rc)) : 0;
}

int ki_as_tls_check(const char *certificate, const char *key, ki_error *err)
{
    const gnutls_datum_t first = {(unsigned char *)certificate, (unsigned)strlen(certificate)};
    const gnutls_datum_t second = {(unsigned char *)key, (unsigned)strlen(key)};
    gnutls_certificate_credentials_t credentials = NULL;
    int rc = gnutls_certificate_allocate_credentials(&credentials);
    if (rc >= 0)
        rc = gnutls_certificate_set_x509_key_mem(credentials, &first, &second, GNUTLS_X509_FMT_PEM);
    if (credentials != NULL)
        gnutls_certificate_free_credentials(credentials);
    if (rc == GNUTLS_E_MEMORY_ERROR)
        return ki_fail_no_memory(err);
    return rc < 0 ? ki_fail(err, KI_ERR_INVALID, "%s", gnutls_strerror(rc)) : 0;
}
