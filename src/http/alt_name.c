/* SPDX-License-Identifier: Apache-2.0 */
#include "http/alt_name.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static bool has_alt_name(const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool is_found = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !is_found; i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        is_found = type == GEN_DNS || type == GEN_IPADD;
    }
    GENERAL_NAMES_free(names);
    return is_found;
}

/* No other code uses this error, so that it can be recognised. */
static int verify(int is_good, X509_STORE_CTX *store)
{
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    bool is_own = X509_STORE_CTX_get_error_depth(store) == 0;
    if (!is_good || !is_own || certificate == NULL || has_alt_name(certificate))
        return is_good;
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

/* With an https proxy, the handshake before CONNECT is that of the proxy. */
static bool is_proxy(CURL *easy, const ki_proxy_route *proxy)
{
    long answer = 0;
    return proxy->is_tls &&
           (curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &answer) != CURLE_OK || answer == 0);
}

static CURLcode on_context(CURL *easy, void *context, void *user)
{
    if (!is_proxy(easy, user))
        SSL_CTX_set_verify(context, SSL_CTX_get_verify_mode(context), verify);
    return CURLE_OK;
}

/* libcurl's OpenSSL objects may only be used if both use the same library: "OpenSSL/3.0.15". */
static bool is_our_openssl(void)
{
    static const char name[] = "OpenSSL/";
    const char *backend = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return backend != NULL && strncmp(backend, name, sizeof(name) - 1) == 0 &&
           strtoul(backend + sizeof(name) - 1, NULL, 10) == OPENSSL_version_major();
}

bool ki_alt_name_require(CURL *easy, const ki_proxy_route *proxy)
{
    if (!is_our_openssl())
        return true;
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, proxy) == CURLE_OK;
}
