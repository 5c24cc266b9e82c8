/* SPDX-License-Identifier: Apache-2.0 */
/* bench_http - informers and a server over loopback HTTP: how long a sync takes, compared with curl, which
 * discards the same bytes; what TLS adds to it; how many events per second a watch delivers, in protobuf
 * compared with client-go; how long an event takes from the server to the handler;
 * and the cost of a thousand idle informers. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "http_child.h"
#include "http_keep.h"
#include "http_many.h"
#include "http_material.h"
#include "http_rival.h"
#include "http_server.h"
#include "http_sync.h"
#include "http_tls_sync.h"
#include "http_watch.h"

static const struct http_role roles[] = {
    {"sync", http_sync_role},
    {"sync_tls", http_tls_sync_role},
    {"decrypt", http_tls_decrypt_role},
    {"keep", http_keep_role},
    {"read", http_keep_read_role},
    {"burst", http_burst_role},
    {"ticks", http_ticks_role},
    {"many", http_many_role},
    {"ticks_plain", http_ticks_plain_role},
    {NULL, NULL},
};

static bool run(const struct bench_options *options, bool *out_met)
{
    struct http_material material;
    struct http_server server = {0};
    bool is_done = http_material_init(&material, options->pods) && http_server_start(&server, &material);
    is_done = is_done && http_sync_bench(&material.pages, server.port, options, out_met) &&
              http_tls_sync_bench(&material, server.port, options, out_met) &&
              http_burst_bench(&material.burst, server.port, options) &&
              http_rival_bench(&material.proto_burst, &server, out_met) &&
              http_ticks_bench(server.port, options) && http_many_bench(server.port, options);
    http_server_stop(&server);
    http_material_fini(&material);
    return is_done;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 12};
    int code = 0;
    if (http_child_is_role(count, arguments, roles, &code)) {
        return code;
    }
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    bool met = true;
    return run(&options, &met) && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
