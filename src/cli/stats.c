/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stats.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void cli_stats_add(cli_stats *stats, const ki_informer_status *status)
{
    stats->objects += status->objects;
    stats->lists += status->lists;
    stats->watches += status->watches;
    stats->events += status->events;
    stats->bytes_read += status->bytes_read;
    stats->wires |= status->wire == KI_WIRE_AUTO ? 0 : 1U << status->wire;
}

/* getrusage() is only the fallback: it also counts the program that ran in this process before exec. */
uint64_t cli_stats_peak_rss_bytes(void)
{
    static const char label[] = "VmHWM:";
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && kib == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, label, sizeof(label) - 1) == 0)
            kib = strtoull(line + sizeof(label) - 1, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    struct rusage usage = {0};
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = (uint64_t)usage.ru_maxrss;
    return kib * 1024;
}

/* Returns a JSON value. */
static const char *wire_text(unsigned wires)
{
    if (wires == 0)
        return "null";
    if (wires == 1U << KI_WIRE_JSON)
        return "\"json\"";
    return wires == 1U << KI_WIRE_PROTOBUF ? "\"protobuf\"" : "\"mixed\"";
}

void cli_stats_write(const cli_stats *stats, cli_output *output)
{
    char line[512];
    char seconds[32] = "null";
    if (stats->sync_ms != UINT64_MAX)
        snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%03u", stats->sync_ms / 1000,
                 (unsigned)(stats->sync_ms % 1000));
    int n = snprintf(line, sizeof(line),
                     "{\"objects\":%" PRIu64 ",\"sync_seconds\":%s,\"lists\":%" PRIu64 ",\"watches\":%" PRIu64
                     ",\"events\":%" PRIu64 ",\"bytes_read\":%" PRIu64
                     ",\"wire\":%s,\"peak_rss_bytes\":%" PRIu64 "}\n",
                     stats->objects, seconds, stats->lists, stats->watches, stats->events, stats->bytes_read,
                     wire_text(stats->wires), stats->peak_rss_bytes);
    assert(n > 0 && (size_t)n < sizeof(line));
    cli_output_put(output, (ki_str){line, (size_t)n});
    cli_output_flush(output);
}
