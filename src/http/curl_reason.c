/* SPDX-License-Identifier: Apache-2.0 */
#include "http/curl_reason.h"

#include <errno.h>
#include <string.h>

#include "http/alt_name.h"
#include "http/open_files.h"

/* A handshake that the network interrupted is not a matter of trust. */
static int is_cut(long os_error)
{
    return os_error == ECONNRESET || os_error == EPIPE || os_error == ETIMEDOUT;
}

ki_reason ki_curl_reason(CURLcode code, long os_error)
{
    switch (code) {
    case CURLE_OK:
        return KI_REASON_NONE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return ki_open_files_is_limit(os_error) ? KI_REASON_TOO_MANY_OPEN_FILES : KI_REASON_DNS;
    case CURLE_COULDNT_CONNECT:
        if (ki_open_files_is_limit(os_error))
            return KI_REASON_TOO_MANY_OPEN_FILES;
        return os_error == 0 || os_error == ECONNREFUSED ? KI_REASON_CONNECTION_REFUSED
                                                         : KI_REASON_CONNECTION_LOST;
    case CURLE_OPERATION_TIMEDOUT:
        return KI_REASON_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
        return is_cut(os_error) ? KI_REASON_CONNECTION_LOST : KI_REASON_TLS;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_USE_SSL_FAILED:
        return KI_REASON_TLS;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_PROXY:
    case CURLE_NO_CONNECTION_AVAILABLE:
        return KI_REASON_CONNECTION_LOST;
    case CURLE_OUT_OF_MEMORY:
        return KI_REASON_NO_MEMORY;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 */
    case CURLE_BAD_CONTENT_ENCODING:
        return KI_REASON_MALFORMED;
    default:
        return KI_REASON_OTHER;
    }
}

/* CURLE_TOO_LARGE, which the headers of libcurl 7.88 do not define; that version reports out of memory. */
bool ki_curl_is_too_large(CURLcode code)
{
    enum { TOO_LARGE = 100 };
    return (int)code == TOO_LARGE || code == CURLE_OUT_OF_MEMORY;
}

/* OpenSSL's message for this differs from version to version. */
bool ki_curl_is_plaintext(CURLcode code, const char *message)
{
    if (code != CURLE_SSL_CONNECT_ERROR)
        return false;
    return strstr(message, "wrong version number") != NULL ||
           strstr(message, "packet length too long") != NULL || strstr(message, "http request") != NULL;
}

/* The first message is for a key of the certificate's type, the second for a key of another type. */
bool ki_curl_is_other_key(const char *message)
{
    return strstr(message, "unable to set private key") != NULL ||
           strstr(message, "Private key does not match") != NULL;
}

CURLcode ki_curl_settle(CURLcode code, const char *message, bool is_tunnel_refused)
{
    if (code == CURLE_BAD_FUNCTION_ARGUMENT && ki_curl_is_other_key(message))
        return CURLE_SSL_CERTPROBLEM;
    if (code == CURLE_COULDNT_CONNECT && is_tunnel_refused)
        return CURLE_RECV_ERROR;
    return code;
}

const char *ki_curl_hint(CURLcode code, const char *message, ki_curl_scene scene)
{
    bool is_tls = scene.is_tls;
    if (is_tls && ki_curl_is_plaintext(code, message))
        return "the server does not use TLS; its address may have to begin with http://";
    if (code == CURLE_PEER_FAILED_VERIFICATION && strstr(message, KI_ALT_NAME_MESSAGE) != NULL)
        return "the certificate of the server has no subject alternative name, and its common name does not "
               "count";
    if (!is_tls && (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY))
        return "the server does not respond with HTTP; its address may have to begin with https://";
    if (!is_tls && !scene.was_answered && (code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR))
        return "the server closed the connection without a response; its address may have to begin with "
               "https://";
    return NULL;
}
