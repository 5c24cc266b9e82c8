/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/pattern.h"

#include <string.h>

#include "util/alloc.h"

/* Where the ways through the pattern stand, each place once. */
struct places {
    uint32_t at[KI_AS_PATTERN_INSTRUCTIONS_MAX];
    uint32_t count;
};

struct matcher {
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
static bool follow(struct matcher *matcher, struct places *places, uint32_t from, struct gap gap)
{
    uint32_t count = 0;
    matcher->waiting[count++] = from;
    while (count > 0) {
        uint32_t at = matcher->waiting[--count];
        const struct ki_as_pattern_instruction *instruction = &matcher->program.instructions[at];
        if (matcher->seen[at] == matcher->round || *matcher->steps == 0)
            continue;
        matcher->seen[at] = matcher->round;
        (*matcher->steps)--;
        switch (instruction->operation) {
        case KI_AS_PATTERN_FOUND:
            return true;
        case KI_AS_PATTERN_CLASS:
        case KI_AS_PATTERN_NOT_CLASS:
            places->at[places->count++] = at;
            break;
        case KI_AS_PATTERN_SPLIT:
            matcher->waiting[count++] = instruction->count;
            matcher->waiting[count++] = instruction->first;
            break;
        case KI_AS_PATTERN_JUMP:
            matcher->waiting[count++] = instruction->first;
            break;
        default:
            if (is_here(instruction->operation, gap))
                matcher->waiting[count++] = at + 1;
        }
    }
    return false;
}

static bool takes(struct matcher *matcher, const struct ki_as_pattern_instruction *instruction,
                  uint32_t letter)
{
    bool is_in = false;
    for (uint32_t i = 0; i < instruction->count && !is_in; i++) {
        const struct ki_as_pattern_range *range = &matcher->program.ranges[instruction->first + i];
        is_in = letter >= range->low && letter <= range->high;
        *matcher->steps -= *matcher->steps > 0;
    }
    return is_in == (instruction->operation == KI_AS_PATTERN_CLASS);
}

static uint32_t peek(const char *at, const char *end)
{
    return at == end ? UINT32_MAX : ki_as_pattern_letter(&at, end);
}

/* A match may begin at every letter. */
static bool run(struct matcher *matcher, ki_str text)
{
    const char *at = text.len == 0 ? "" : text.ptr;
    const char *end = at + text.len;
    struct gap gap = {UINT32_MAX, peek(at, end)};
    matcher->now.count = 0;
    matcher->round = 1;
    bool is_found = follow(matcher, &matcher->now, 0, gap);
    while (!is_found && at<end && * matcher->steps> 0) {
        uint32_t letter = ki_as_pattern_letter(&at, end);
        gap = (struct gap){letter, peek(at, end)};
        matcher->round++;
        matcher->next.count = 0;
        for (uint32_t i = 0; i < matcher->now.count && !is_found; i++)
            if (takes(matcher, &matcher->program.instructions[matcher->now.at[i]], letter))
                is_found = follow(matcher, &matcher->next, matcher->now.at[i] + 1, gap);
        is_found = is_found || follow(matcher, &matcher->next, 0, gap);
        matcher->now.count = matcher->next.count;
        memcpy(matcher->now.at, matcher->next.at, matcher->next.count * sizeof(uint32_t));
    }
    return is_found;
}

enum ki_as_pattern_result ki_as_pattern_match(const char *pattern, ki_str text, size_t *steps)
{
    struct matcher *matcher = ki_malloc(sizeof(*matcher));
    if (matcher == NULL)
        return KI_AS_PATTERN_OUT_OF_MEMORY;
    enum ki_as_pattern_result result = KI_AS_PATTERN_UNKNOWN;
    if (ki_as_pattern_compile(pattern, &matcher->program)) {
        matcher->steps = steps;
        memset(matcher->seen, 0, matcher->program.instruction_count * sizeof(uint32_t));
        bool is_found = run(matcher, text);
        result = is_found      ? KI_AS_PATTERN_MATCHES
                 : *steps == 0 ? KI_AS_PATTERN_TOO_LONG
                               : KI_AS_PATTERN_DIFFERS;
    }
    ki_free(matcher);
    return result;
}
