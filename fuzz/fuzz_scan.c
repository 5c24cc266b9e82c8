/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_scan - the scanner over any bytes.
 *
 * Input: the text. Every kernel and every split must give the same result. The text is accepted if and only
 *        if another strict parser accepts it (support/json/json_strict.h).
 *        Scanning the kept text keeps all of it.
 */
#include <kinformer/json.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_strict.h"
#include "support/json/scan_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* The splits are derived from the text, so that an input gives the same run each time. */
static uint64_t seed_of(ki_str text)
{
    uint64_t seed = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        seed = (seed ^ (uint8_t)text.ptr[i]) * UINT64_C(0x100000001b3);
    return seed;
}

/* Leaves in `first` the result of the best kernel for the whole text. */
static void run_all(scan_run *first, ki_str text)
{
    scan_run other;
    scan_run_init(&other);
    other.limits = first->limits;
    other.is_lenient = first->is_lenient;
    require(scan_run_all_agree(first, &other, text, seed_of(text)));
    scan_run_fini(&other);
}

static void check_kept(const scan_run *run)
{
    scan_run again;
    scan_run_init(&again);
    require(scan_run_text(&again, scan_run_kept(run), (scan_split){0}) == 0 && again.values == 1);
    require(ki_str_equal(scan_run_kept(&again), scan_run_kept(run)));
    scan_run_fini(&again);
}

static void check_lenient(const scan_run *strict, ki_str text)
{
    scan_run run;
    scan_run_init(&run);
    run.limits = strict->limits;
    run.is_lenient = 1;
    run_all(&run, text);
    require(scan_run_lenient_agrees(strict, &run));
    scan_run_fini(&run);
}

/* Small limits, which are reached at unusual places. */
static void check_limits(ki_str text)
{
    scan_run run;
    scan_run_init(&run);
    uint64_t seed = seed_of(text);
    run.limits = (ki_json_limits){.depth_max = 1 + (uint32_t)(seed >> 8) % 70,
                                  .value_bytes_max = 1 + (seed >> 16) % 300};
    run_all(&run, text);
    check_lenient(&run, text);
    scan_run_fini(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ki_str text = {(const char *)data, size};
    scan_run run;
    ki_error err = {0};
    scan_run_init(&run);
    run_all(&run, text);
    int accepted = run.code == 0 && run.values == 1;
    require(accepted == json_strict_accepts(text));
    require((ki_json_validate(text, &err) == 0) == accepted && (accepted || err.offset <= size));
    if (run.values > 0)
        check_kept(&run);
    check_limits(text);
    scan_run_fini(&run);
    return 0;
}
