/* SPDX-License-Identifier: Apache-2.0 */
/* pattern - regular expressions of schemas, in time that grows with the text and the pattern, and no faster.
 *
 *   From:     validate_schema.c, validate_patterns.c
 *   Locks:    none of its own; the caller may hold the storage's, which is why nothing here may take long
 *   Not here: what is said about a text that does not match
 *
 * Whoever defines a resource writes its patterns. Those of the C library can be written so that one short
 * text keeps it busy for ever; here all ways through the pattern are followed at once, letter by letter,
 * as in Kubernetes (RE2).
 */
#ifndef KI_APISERVER_PATTERN_H
#define KI_APISERVER_PATTERN_H

#include <kinformer/common.h>
#include <stdbool.h>

enum ki_as_pattern_result {
    KI_AS_PATTERN_OUT_OF_MEMORY = -1,
    KI_AS_PATTERN_DIFFERS = 0,
    KI_AS_PATTERN_MATCHES = 1,
    KI_AS_PATTERN_GOOD,     /* it is compiled */
    KI_AS_PATTERN_WRONG,    /* no regular expression */
    KI_AS_PATTERN_UNKNOWN,  /* what the pattern means is not known here, or it is too large */
    KI_AS_PATTERN_TOO_LONG, /* the steps were not enough */
};

/* A compiled one, with what it takes to follow it: for one thread. */
struct ki_as_pattern;

/* Each step of compiling counts `*steps` down. `*out` is set if it is good. */
enum ki_as_pattern_result ki_as_pattern_new(const char *text, size_t *steps, struct ki_as_pattern **out);
void ki_as_pattern_free(struct ki_as_pattern *pattern); /* takes NULL */

/* Whether some part of `text` (UTF-8) matches. Each step counts `*steps` down. */
enum ki_as_pattern_result ki_as_pattern_match(struct ki_as_pattern *pattern, ki_str text, size_t *steps);

/* ---- between pattern_compile.c and pattern.c --------------------------------------------------------- */

enum ki_as_pattern_operation {
    KI_AS_PATTERN_CLASS,     /* a letter of `count` ranges from `first` on */
    KI_AS_PATTERN_NOT_CLASS, /* a letter of none of them */
    KI_AS_PATTERN_BEGIN,
    KI_AS_PATTERN_END,
    KI_AS_PATTERN_EDGE, /* of a word */
    KI_AS_PATTERN_NO_EDGE,
    KI_AS_PATTERN_SPLIT, /* both ways: `first` and `count` */
    KI_AS_PATTERN_JUMP,
    KI_AS_PATTERN_FOUND
};

struct ki_as_pattern_instruction {
    uint32_t operation;
    uint32_t first;
    uint32_t count;
};

struct ki_as_pattern_range {
    uint32_t low;
    uint32_t high;
};

enum { KI_AS_PATTERN_INSTRUCTIONS_MAX = 8192, KI_AS_PATTERN_RANGES_MAX = 4096 };

struct ki_as_pattern_program {
    struct ki_as_pattern_instruction instructions[KI_AS_PATTERN_INSTRUCTIONS_MAX];
    struct ki_as_pattern_range ranges[KI_AS_PATTERN_RANGES_MAX];
    uint32_t instruction_count;
    uint32_t range_count;
};

enum ki_as_pattern_result ki_as_pattern_compile(const char *pattern, size_t *steps,
                                                struct ki_as_pattern_program *out);
/* The letter at `*at`, which is passed. */
uint32_t ki_as_pattern_letter(const char **at, const char *end);

#endif
