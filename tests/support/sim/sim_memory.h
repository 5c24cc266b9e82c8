/* SPDX-License-Identifier: Apache-2.0 */
/* sim_memory - growable arrays and text for the simulated server; with memory from malloc. */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_MEMORY_H
#define KI_TESTS_SUPPORT_SIM_SIM_MEMORY_H

#include <kinformer/common.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is empty. */
typedef struct sim_text {
    char *data;
    size_t len;
    size_t cap; /* bytes */
} sim_text;

void sim_text_fini(sim_text *text);

/* Only %s, PRIu64 and PRIu32 are allowed. No NUL is added. */
void sim_text_put(sim_text *text, const char *format, ...) KI_PRINTF(2, 3);
void sim_text_append(sim_text *text, const char *bytes, size_t n);
void sim_text_fill(sim_text *text, char c, size_t count);

/* Writes a decimal number without a NUL. Returns its length, at most SIM_NUMBER_BYTES. */
#define SIM_NUMBER_BYTES 20
size_t sim_write_number(char *out, uint64_t number);

/* A zeroed array of `count` elements; free it with free(). */
void *sim_array(size_t count, size_t size);

/* Grows an array that has space for *cap elements to hold `count` elements of `size` bytes.
 * Returns its new address. */
void *sim_array_grow(void *array, size_t *cap, size_t count, size_t size);

#endif
