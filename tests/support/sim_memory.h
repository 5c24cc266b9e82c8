/* SPDX-License-Identifier: Apache-2.0 */
/* sim_memory - arrays and text that grow, for the simulated server; malloc's memory and not the library's. */
#ifndef KI_TESTS_SUPPORT_SIM_MEMORY_H
#define KI_TESTS_SUPPORT_SIM_MEMORY_H

#include <kinformer/common.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed one is empty. */
typedef struct sim_text {
    char *data;
    size_t len;
    size_t cap; /* bytes */
} sim_text;

void sim_text_fini(sim_text *text);

/* Knows %s, PRIu64 and PRIu32, and nothing else. Puts no 0 at the end. */
void sim_text_put(sim_text *text, const char *format, ...) KI_PRINTF(2, 3);
void sim_text_append(sim_text *text, const char *bytes, size_t n);
void sim_text_fill(sim_text *text, char c, size_t count);

/* In decimal, without a 0 at the end. Returns the length, SIM_NUMBER_BYTES at the most. */
#define SIM_NUMBER_BYTES 20
size_t sim_write_number(char *out, uint64_t number);

/* A zeroed array of `count` elements, to be given to free(). */
void *sim_array(size_t count, size_t size);

/* Room for `count` elements of `size` bytes in an array that has room for *cap. Returns where it is now. */
void *sim_array_grow(void *array, size_t *cap, size_t count, size_t size);

#endif
