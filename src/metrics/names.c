/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/names.h"

#include "util/units.h"

/* ---- buckets ------------------------------------------------------------------------------------------- */

#define MICROSECONDS(n) (KI_NS_PER_US * (n))
#define MILLISECONDS(n) (KI_NS_PER_MS * (n))
#define SECONDS(n) (KI_NS_PER_S * (n))

#define BOUNDS(name, ...)                                                                                    \
    static const uint64_t name##_upper[] = {__VA_ARGS__};                                                    \
    static const ki_metric_bounds name##_bounds = {name##_upper,                                             \
                                                   sizeof(name##_upper) / sizeof(name##_upper[0])}

/* The buckets of client-go. */
BOUNDS(processing, MILLISECONDS(1), MILLISECONDS(5), MILLISECONDS(10), MILLISECONDS(25), MILLISECONDS(50),
       MILLISECONDS(100), MILLISECONDS(250), MILLISECONDS(500), SECONDS(1), MILLISECONDS(2500), SECONDS(5),
       SECONDS(10));
BOUNDS(queue, 10, 100, MICROSECONDS(1), MICROSECONDS(10), MICROSECONDS(100), MILLISECONDS(1),
       MILLISECONDS(10), MILLISECONDS(100), SECONDS(1), SECONDS(10));
BOUNDS(request, MILLISECONDS(5), MILLISECONDS(25), MILLISECONDS(100), MILLISECONDS(250), MILLISECONDS(500),
       SECONDS(1), SECONDS(2), SECONDS(4), SECONDS(8), SECONDS(15), SECONDS(30), SECONDS(60));
BOUNDS(resolution, MILLISECONDS(5), MILLISECONDS(25), MILLISECONDS(100), MILLISECONDS(250), MILLISECONDS(500),
       SECONDS(1), SECONDS(2), SECONDS(4), SECONDS(8), SECONDS(15), SECONDS(30));
BOUNDS(size, 64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216);

/* Buckets of metrics that client-go does not have. A watch lasts five to ten minutes unless something ends
 * it. */
BOUNDS(list, MILLISECONDS(5), MILLISECONDS(25), MILLISECONDS(100), MILLISECONDS(250), MILLISECONDS(500),
       SECONDS(1), MILLISECONDS(2500), SECONDS(5), SECONDS(10), SECONDS(30), SECONDS(60), SECONDS(120));
BOUNDS(watch, MILLISECONDS(100), SECONDS(1), SECONDS(10), SECONDS(30), SECONDS(60), SECONDS(120),
       SECONDS(300), SECONDS(420), SECONDS(600), SECONDS(900));
BOUNDS(handler, MICROSECONDS(1), MICROSECONDS(10), MICROSECONDS(100), MILLISECONDS(1), MILLISECONDS(10),
       MILLISECONDS(100), SECONDS(1), SECONDS(10));

/* ---- metrics ------------------------------------------------------------------------------------------- */

#define COUNTER .type = KI_METRIC_COUNTER
#define GAUGE .type = KI_METRIC_GAUGE
#define GAUGE_SECONDS .type = KI_METRIC_GAUGE, .unit = KI_METRIC_NANOSECONDS
#define HISTOGRAM(buckets) .type = KI_METRIC_HISTOGRAM, .bounds = &buckets##_bounds
#define HISTOGRAM_SECONDS(buckets) HISTOGRAM(buckets), .unit = KI_METRIC_NANOSECONDS

#define LABELS(...) .labels = {__VA_ARGS__}
#define INFORMER LABELS("name", "group", "version", "resource")
#define INFORMER_AND(label) LABELS("name", "group", "version", "resource", label)

#define DEFINE(name_, kind_, labels_, help_)                                                                 \
    const ki_metric_desc ki_metric_##name_ = {.name = #name_, .help = help_, kind_, labels_};
KI_METRIC_NAMES(DEFINE)
#undef DEFINE
