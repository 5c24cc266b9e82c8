/* SPDX-License-Identifier: Apache-2.0 */
#include "reference_contender.h"

#include <stdio.h>

static bool read_documents(reference_cb read, const struct documents *documents, uint64_t *out_checksum)
{
    struct reference_result result = {0};
    for (size_t i = 0; i < documents->count; i++) {
        if (!read(documents->items[i].data, documents->items[i].length, &result)) {
            return false;
        }
    }
    *out_checksum = result.checksum;
    return result.objects == documents->objects || read == reference_memcpy;
}

static bool run(void *context, uint64_t *out_checksum)
{
    const struct reference_contender *contender = context;
    return read_documents(contender->read, contender->documents, out_checksum);
}

struct bench_contender reference_contender_row(struct reference_contender *contender)
{
    return (struct bench_contender){
        .name = contender->name,
        .run = run,
        .context = contender,
        .bytes = contender->documents->bytes,
        .objects = contender->documents->objects,
    };
}

bool reference_contenders_agree(const struct reference_contender *contenders, size_t count,
                                const struct documents *sample)
{
    const struct reference_contender *first = NULL;
    uint64_t expected = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t checksum = 0;
        if (!contenders[i].is_compared) {
            continue;
        }
        if (!read_documents(contenders[i].read, sample, &checksum)) {
            fprintf(stderr, "%s failed\n", contenders[i].name);
            return false;
        }
        if (first == NULL) {
            first = &contenders[i];
            expected = checksum;
        } else if (checksum != expected) {
            fprintf(stderr, "%s and %s have different checksums\n", first->name, contenders[i].name);
            return false;
        }
    }
    return true;
}
