/* SPDX-License-Identifier: Apache-2.0 */
/* bench_apiserver - the embedded API server: loading it, listing it in pages,
 * and watching it with many clients. */
#include <stdio.h>
#include <stdlib.h>

#include "apiserver_load.h"
#include "apiserver_pages.h"
#include "apiserver_watchers.h"
#include "bench.h"

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 12};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    ki_error err = {0};
    bool met = true;
    apiserver_raise_limit();
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    if (server == NULL) {
        fprintf(stderr, "server: %s\n", err.message);
        return EXIT_FAILURE;
    }
    bool is_done = apiserver_load_bench(server, &options, &met) &&
                   apiserver_pages_bench(server, &options, &met) &&
                   apiserver_watchers_bench(server, &options, &met);
    ki_apiserver_free(server);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
