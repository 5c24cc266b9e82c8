/* SPDX-License-Identifier: Apache-2.0 */
#include "http/curl_reason.h"

#include <errno.h>

/* A handshake that the network cut is no question of trust. */
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
        return KI_REASON_DNS;
    case CURLE_COULDNT_CONNECT:
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
