/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/micro_time.h"

#include <assert.h>
#include <kinformer/timestamp.h>
#include <stdio.h>

#include "util/units.h"

typedef struct moment {
    char whole[KI_TIMESTAMP_BYTES];
    int len;
    int nanos;
} moment;

static moment moment_of(int64_t wall_ns)
{
    moment m = {.nanos = (int)(wall_ns % (int64_t)KI_NS_PER_S)};
    m.len = ki_timestamp_format((ki_timestamp){.seconds = wall_ns / (int64_t)KI_NS_PER_S}, m.whole);
    if (wall_ns < 0 || m.len <= 0) /* the clock is out of range */
        m.len = ki_timestamp_format((ki_timestamp){0}, m.whole), m.nanos = 0;
    assert(m.len > 1 && m.nanos >= 0 && m.nanos < (int)KI_NS_PER_S);
    return m;
}

void ki_write_time(ki_json_writer *writer, ki_str name, int64_t wall_ns)
{
    moment m = moment_of(wall_ns);
    ki_json_write_name(writer, name);
    ki_json_write_string(writer, (ki_str){m.whole, (size_t)m.len});
}

/* Writes exactly six digits after the decimal point; servers reject any other number. */
void ki_write_micro_time(ki_json_writer *writer, ki_str name, int64_t wall_ns)
{
    moment m = moment_of(wall_ns);
    char text[KI_TIMESTAMP_BYTES + 8];
    int n = snprintf(text, sizeof(text), "%.*s.%06dZ", m.len - 1, m.whole, m.nanos / 1000);
    ki_json_write_name(writer, name);
    ki_json_write_string(writer, (ki_str){text, (size_t)n});
}
