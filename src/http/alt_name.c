/* SPDX-License-Identifier: Apache-2.0 */
#include "http/alt_name.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

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

void ki_alt_name_require(void *context)
{
    SSL_CTX_set_verify(context, SSL_CTX_get_verify_mode(context), verify);
}
