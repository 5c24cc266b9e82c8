/* SPDX-License-Identifier: Apache-2.0 */
#include "http_tls_sync.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>

#include "http_curl.h"
#include "http_informer.h"
#include "http_server.h"
#include "http_sync.h"
#include "http_tls.h"

enum { ROUNDS_MIN = 3 };

/* ---- the roles -------------------------------------------------------------------------------------- */

bool http_tls_sync_role(const struct http_task *task, struct http_report *out_report)
{
    return http_sync_run(http_client_new_tls(task->port), task, out_report);
}

/* The output and the tag do not matter: both cost the same for any bytes. */
bool http_tls_decrypt_role(const struct http_task *task, struct http_report *out_report)
{
    static const unsigned char key[16], nonce[12];
    static unsigned char in[HTTP_TLS_RECORD_BYTES], out[HTTP_TLS_RECORD_BYTES], tag[16];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool is_good = EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce) == 1;
    double start = http_cpu_seconds();
    for (uint64_t left = task->numbers[0]; is_good && left > 0;) {
        int part = left < sizeof(in) ? (int)left : (int)sizeof(in);
        int n = 0;
        is_good = EVP_DecryptInit_ex(context, NULL, NULL, NULL, nonce) == 1 &&
                  EVP_DecryptUpdate(context, out, &n, in, part) == 1 &&
                  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1;
        (void)EVP_DecryptFinal_ex(context, out, &n);
        left -= (uint64_t)part;
    }
    http_report_fill(out_report);
    out_report->cpu_seconds -= start;
    EVP_CIPHER_CTX_free(context);
    return is_good;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

/* One contender. */
struct side {
    struct http_task task;
    struct http_best best;
    struct http_report report; /* of the last round */
};

struct contest {
    struct side plain;
    struct side tls;
    struct side cipher;
    uint64_t bytes;
    uint64_t pods;
    unsigned rounds;
};

static bool run_side(struct side *side)
{
    return http_best_run(&side->best, &side->task, &side->report);
}

static bool run_round(struct contest *contest)
{
    contest->rounds++;
    return run_side(&contest->plain) && run_side(&contest->tls) && run_side(&contest->cipher);
}

/* ---- the figures ------------------------------------------------------------------------------------ */

static void print_row(const char *name, const struct contest *contest, const struct side *side)
{
    double mb = (double)contest->bytes / 1e6;
    printf("%-34s %8.1f %9.1f %9.1f %10.0f %9.1f\n", name, mb, side->best.wall * 1e3, side->best.cpu * 1e3,
           side->best.cpu * 1e9 / (double)contest->pods, (double)side->report.system_calls / mb);
}

static void print_figures(const struct contest *contest, bool *out_met)
{
    double limit = 1.5 * contest->plain.best.cpu + contest->cipher.best.cpu;
    printf("\nsync of %" PRIu64 " pods over TLS, in records of %d bytes: %u rounds, the best of each\n",
           contest->pods, HTTP_TLS_RECORD_BYTES, contest->rounds);
    printf("%-34s %8s %9s %9s %10s %9s\n", "", "MB", "wall ms", "CPU ms", "CPU ns/pod", "calls/MB");
    print_row("kinformer, plain HTTP", contest, &contest->plain);
    print_row("kinformer, TLS", contest, &contest->tls);
    print_row("the cipher, from memory", contest, &contest->cipher);
    printf("calls/MB: recv, poll, epoll_wait and epoll_ctl\n");
    *out_met &= bench_target("sync over TLS: CPU time, times 1.5 x plain HTTP's plus the cipher's",
                             contest->tls.best.cpu / limit, "<=", 1);
    fflush(stdout);
}

static bool run_contest(struct contest *contest, const struct bench_options *options, bool *out_met)
{
    bool is_done = true;
    double start = bench_now_seconds();
    while (is_done && (contest->rounds < ROUNDS_MIN || bench_now_seconds() - start < options->seconds)) {
        is_done = run_round(contest);
    }
    if (is_done) {
        print_figures(contest, out_met);
    }
    return is_done;
}

bool http_tls_sync_bench(const struct http_material *material, unsigned plain_port,
                         const struct bench_options *options, bool *out_met)
{
    const struct http_pages *pages = &material->pages;
    struct http_server server = {0};
    if (!http_server_start_tls(&server, material)) {
        return false;
    }
    struct contest contest = {.bytes = pages->starts[pages->count], .pods = pages->pods};
    contest.plain.task = (struct http_task){.role = "sync", .port = plain_port, .numbers = {pages->pods}};
    contest.tls.task = (struct http_task){.role = "sync_tls", .port = server.port, .numbers = {pages->pods}};
    contest.cipher.task = (struct http_task){.role = "decrypt", .numbers = {contest.bytes}};
    bool is_done = run_contest(&contest, options, out_met);
    http_server_stop(&server);
    return is_done;
}
