/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/pattern.h"

#include <string.h>

#include "util/alloc.h"

/* Where the ways through the pattern stand, each place once. */
struct places {
    uint32_t at[KI_AS_PATTERN_INSTRUCTIONS_MAX];
    uint32_t count;
};

struct ki_as_pattern {
    struct ki_as_pattern_program program;
    struct places now;
    struct places next;
    uint32_t seen[KI_AS_PATTERN_INSTRUCTIONS_MAX]; /* the round in which a place was taken up last */
    uint32_t waiting[2 * KI_AS_PATTERN_INSTRUCTIONS_MAX];
    uint32_t round;
    size_t *steps;
};

/* Between which letters it stands; UINT32_MAX: none. */
struct gap {
    uint32_t before;
    uint32_t after;
};

static bool is_of_word(uint32_t letter)
{
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
           (letter >= 'a' && letter <= 'z');
}

static bool is_here(enum ki_as_pattern_operation operation, struct gap gap)
{
    switch (operation) {
    case KI_AS_PATTERN_BEGIN:
        return gap.before == UINT32_MAX;
    case KI_AS_PATTERN_END:
        return gap.after == UINT32_MAX;
    case KI_AS_PATTERN_EDGE:
        return is_of_word(gap.before) != is_of_word(gap.after);
    default:
        return is_of_word(gap.before) == is_of_word(gap.after);
    }
}

/* Follows a way up to the letters that it may go on with. True: it has got to the end. */
static bool follow(struct ki_as_pattern *pattern, struct places *places, uint32_t from, struct gap gap)
{
    uint32_t count = 0;
    pattern->waiting[count++] = from;
    while (count > 0) {
        uint32_t at = pattern->waiting[--count];
        const struct ki_as_pattern_instruction *instruction = &pattern->program.instructions[at];
        if (pattern->seen[at] == pattern->round || *pattern->steps == 0)
            continue;
        pattern->seen[at] = pattern->round;
        (*pattern->steps)--;
        switch (instruction->operation) {
        case KI_AS_PATTERN_FOUND:
            return true;
        case KI_AS_PATTERN_CLASS:
        case KI_AS_PATTERN_NOT_CLASS:
            places->at[places->count++] = at;
            break;
        case KI_AS_PATTERN_SPLIT:
            pattern->waiting[count++] = instruction->count;
            pattern->waiting[count++] = instruction->first;
            break;
        case KI_AS_PATTERN_JUMP:
            pattern->waiting[count++] = instruction->first;
            break;
        default:
            if (is_here(instruction->operation, gap))
                pattern->waiting[count++] = at + 1;
        }
    }
    return false;
}

static bool takes(struct ki_as_pattern *pattern, const struct ki_as_pattern_instruction *instruction,
                  uint32_t letter)
{
    bool is_in = false;
    for (uint32_t i = 0; i < instruction->count && !is_in; i++) {
        const struct ki_as_pattern_range *range = &pattern->program.ranges[instruction->first + i];
        is_in = letter >= range->low && letter <= range->high;
        *pattern->steps -= *pattern->steps > 0;
    }
    return is_in == (instruction->operation == KI_AS_PATTERN_CLASS);
}

static uint32_t peek(const char *at, const char *end)
{
    return at == end ? UINT32_MAX : ki_as_pattern_letter(&at, end);
}

/* Rounds go on from text to text, so that a short one costs no more than it is long. */
static void begin_round(struct ki_as_pattern *pattern)
{
    if (++pattern->round == 0) {
        memset(pattern->seen, 0, pattern->program.instruction_count * sizeof(uint32_t));
        pattern->round = 1;
    }
}

/* A match may begin at every letter. */
static bool run(struct ki_as_pattern *pattern, ki_str text)
{
    const char *at = text.len == 0 ? "" : text.ptr;
    const char *end = at + text.len;
    struct gap gap = {UINT32_MAX, peek(at, end)};
    pattern->now.count = 0;
    begin_round(pattern);
    bool is_found = follow(pattern, &pattern->now, 0, gap);
    while (!is_found && at<end && * pattern->steps> 0) {
        uint32_t letter = ki_as_pattern_letter(&at, end);
        gap = (struct gap){letter, peek(at, end)};
        begin_round(pattern);
        pattern->next.count = 0;
        for (uint32_t i = 0; i < pattern->now.count && !is_found; i++)
            if (takes(pattern, &pattern->program.instructions[pattern->now.at[i]], letter))
                is_found = follow(pattern, &pattern->next, pattern->now.at[i] + 1, gap);
        is_found = is_found || follow(pattern, &pattern->next, 0, gap);
        pattern->now.count = pattern->next.count;
        memcpy(pattern->now.at, pattern->next.at, pattern->next.count * sizeof(uint32_t));
    }
    return is_found;
}

enum ki_as_pattern_result ki_as_pattern_new(const char *text, size_t *steps, struct ki_as_pattern **out)
{
    struct ki_as_pattern *pattern = ki_malloc(sizeof(*pattern));
    if (pattern == NULL)
        return KI_AS_PATTERN_OUT_OF_MEMORY;
    enum ki_as_pattern_result result = ki_as_pattern_compile(text, steps, &pattern->program);
    if (result != KI_AS_PATTERN_GOOD) {
        ki_free(pattern);
        return result;
    }
    pattern->round = UINT32_MAX;
    *out = pattern;
    return result;
}

void ki_as_pattern_free(struct ki_as_pattern *pattern)
{
    ki_free(pattern);
}

enum ki_as_pattern_result ki_as_pattern_match(struct ki_as_pattern *pattern, ki_str text, size_t *steps)
{
    pattern->steps = steps;
    bool is_found = run(pattern, text);
    return is_found ? KI_AS_PATTERN_MATCHES : *steps == 0 ? KI_AS_PATTERN_TOO_LONG : KI_AS_PATTERN_DIFFERS;
}
