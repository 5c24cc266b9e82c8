/* SPDX-License-Identifier: Apache-2.0 */
/* A repeated part is compiled as often as it may stand: its text is read anew each time. Where a part ends is
 * found by its brackets alone, before it is read. */
#include <string.h>

#include "apiserver/pattern.h"

/* REPEAT_MAX: as in Go. READS_MAX: of parts; those that are empty make no instruction that could be
 * counted. */
enum { REPEAT_MAX = 1000, READS_MAX = 100000, NESTED_MAX = 100, LETTER_MAX = 0x10ffff };

/* CLASS_NAME_MAX: of "[:alpha:]" and the like. */
enum { CLASS_NAME_MAX = 16 };

struct compiler {
    const char *at;
    const char *end;
    struct ki_as_pattern_program *program;
    size_t *steps;
    uint32_t reads;
    uint32_t nested;
    enum ki_as_pattern_result result; /* what was found first */
};

static void read_alternatives(struct compiler *compiler);

static bool is_bad(const struct compiler *compiler)
{
    return compiler->result != KI_AS_PATTERN_GOOD;
}

static void refuse_if(struct compiler *compiler, bool is_so, enum ki_as_pattern_result result)
{
    if (is_so && !is_bad(compiler))
        compiler->result = result;
}

/* Also for what is only skipped: it may be skipped as often as something around it is repeated. */
static void charge(struct compiler *compiler, size_t steps)
{
    refuse_if(compiler, steps >= *compiler->steps, KI_AS_PATTERN_TOO_LONG);
    *compiler->steps -= steps < *compiler->steps ? steps : *compiler->steps;
}

uint32_t ki_as_pattern_letter(const char **at, const char *end)
{
    unsigned char first = (unsigned char)*(*at)++;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t letter = more == 0 ? first : first & (0x3fU >> more);
    for (; more > 0 && *at < end; more--)
        letter = letter << 6 | ((unsigned char)*(*at)++ & 0x3f);
    return letter;
}

static uint32_t emit(struct compiler *compiler, enum ki_as_pattern_operation operation, uint32_t first,
                     uint32_t count)
{
    struct ki_as_pattern_program *program = compiler->program;
    charge(compiler, 1);
    if (program->instruction_count == KI_AS_PATTERN_INSTRUCTIONS_MAX) {
        refuse_if(compiler, true, KI_AS_PATTERN_UNKNOWN);
        return 0;
    }
    program->instructions[program->instruction_count] =
        (struct ki_as_pattern_instruction){operation, first, count};
    return program->instruction_count++;
}

static void add_range(struct compiler *compiler, uint32_t low, uint32_t high)
{
    struct ki_as_pattern_program *program = compiler->program;
    refuse_if(compiler, low > high, KI_AS_PATTERN_WRONG);
    refuse_if(compiler, program->range_count == KI_AS_PATTERN_RANGES_MAX, KI_AS_PATTERN_UNKNOWN);
    if (!is_bad(compiler))
        program->ranges[program->range_count++] = (struct ki_as_pattern_range){low, high};
}

/* All ranges since `first` as one instruction. */
static void emit_class(struct compiler *compiler, uint32_t first, bool is_not)
{
    (void)emit(compiler, is_not ? KI_AS_PATTERN_NOT_CLASS : KI_AS_PATTERN_CLASS, first,
               compiler->program->range_count - first);
}

static void emit_letter(struct compiler *compiler, uint32_t letter)
{
    uint32_t first = compiler->program->range_count;
    add_range(compiler, letter, letter);
    emit_class(compiler, first, false);
}

/* ---- classes ----------------------------------------------------------------------------------------- */

/* Pairs in order; or what lies between them. */
static void add_pairs(struct compiler *compiler, const char *pairs, bool is_not)
{
    uint32_t next = 0;
    for (; *pairs != 0; pairs += 2) {
        uint32_t low = (uint32_t)pairs[0];
        uint32_t high = (uint32_t)pairs[1];
        if (!is_not)
            add_range(compiler, low, high);
        else if (low > next)
            add_range(compiler, next, low - 1);
        next = high + 1;
    }
    if (is_not)
        add_range(compiler, next, LETTER_MAX);
}

/* \d, \w, \s; or "alpha" and the like. False: there is none of that name. */
static bool add_named(struct compiler *compiler, ki_str name, bool is_not)
{
    static const struct {
        const char *name;
        const char *pairs;
    } classes[] = {
        {"d", "09"},         {"w", "09AZ__az"},    {"s", "\t\n\f\r  "},  {"alpha", "AZaz"},
        {"digit", "09"},     {"alnum", "09AZaz"},  {"upper", "AZ"},      {"lower", "az"},
        {"space", "\t\r  "}, {"xdigit", "09AFaf"}, {"word", "09AZ__az"}, {"punct", "!/:@[`{~"},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (!ki_str_equal(name, ki_str_of(classes[i].name)))
            continue;
        add_pairs(compiler, classes[i].pairs, is_not);
        return true;
    }
    return false;
}

static uint32_t read_hex(struct compiler *compiler)
{
    uint32_t number = 0;
    bool is_braced = compiler->at < compiler->end && *compiler->at == '{';
    int digits = 0;
    for (compiler->at += is_braced; compiler->at < compiler->end && digits < (is_braced ? 6 : 2); digits++) {
        char c = *compiler->at;
        char lower = (char)(c | 0x20);
        int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0)
            break;
        number = number * 16 + (uint32_t)digit;
        compiler->at++;
    }
    bool is_closed = !is_braced || (compiler->at < compiler->end && *compiler->at == '}');
    compiler->at += is_braced && is_closed;
    refuse_if(compiler, digits == 0 || !is_closed || number > LETTER_MAX, KI_AS_PATTERN_WRONG);
    return number;
}

/* Behind a backslash: the letter that it stands for. */
static uint32_t read_escaped(struct compiler *compiler)
{
    static const char names[] = "tnrfva";
    static const char specials[] = "01234567pPQEC";
    static const char letters[] = "\t\n\r\f\v\a";
    if (compiler->at == compiler->end) {
        refuse_if(compiler, true, KI_AS_PATTERN_WRONG);
        return 0;
    }
    uint32_t letter = ki_as_pattern_letter(&compiler->at, compiler->end);
    const char *name = letter < 0x80 ? memchr(names, (int)letter, sizeof(names) - 1) : NULL;
    bool is_word = ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') || letter == '8' || letter == '9';
    if (name != NULL)
        return (uint32_t)letters[name - names];
    if (letter == 'x')
        return read_hex(compiler);
    bool is_special = letter < 0x80 && memchr(specials, (int)letter, sizeof(specials) - 1) != NULL;
    refuse_if(compiler, is_special, KI_AS_PATTERN_UNKNOWN);
    refuse_if(compiler, is_word || letter >= 0x80, KI_AS_PATTERN_WRONG);
    return letter;
}

static bool is_class_name(char c)
{
    return c == 'd' || c == 'w' || c == 's';
}

/* Within brackets: a letter, or a class that was added, then false. */
static bool read_member(struct compiler *compiler, uint32_t *out)
{
    const char *at = compiler->at;
    size_t left = (size_t)(compiler->end - at);
    if (left >= 2 && at[0] == '[' && at[1] == ':') {
        const char *stop = memchr(at + 2, ':', left - 2);
        bool is_known = stop != NULL && compiler->end - stop >= 2 && stop[1] == ']' &&
                        add_named(compiler, (ki_str){at + 2, (size_t)(stop - at - 2)}, false);
        compiler->at = is_known ? stop + 2 : compiler->end;
        refuse_if(compiler, !is_known,
                  left > 2 && at[2] == '^' ? KI_AS_PATTERN_UNKNOWN : KI_AS_PATTERN_WRONG);
        return false;
    }
    char lower = left >= 2 ? (char)(at[1] | 0x20) : 0;
    if (left >= 2 && at[0] == '\\' && is_class_name(lower)) {
        (void)add_named(compiler, (ki_str){&lower, 1}, at[1] != lower);
        compiler->at += 2;
        return false;
    }
    compiler->at += at[0] == '\\';
    *out = at[0] == '\\' ? read_escaped(compiler) : ki_as_pattern_letter(&compiler->at, compiler->end);
    return true;
}

/* Behind its opening bracket. */
static void read_brackets(struct compiler *compiler)
{
    uint32_t first = compiler->program->range_count;
    bool is_not = compiler->at < compiler->end && *compiler->at == '^';
    compiler->at += is_not;
    for (bool is_first = true; compiler->at < compiler->end && !is_bad(compiler); is_first = false) {
        uint32_t low = 0;
        uint32_t high = 0;
        charge(compiler, 1);
        if (*compiler->at == ']' && !is_first) {
            compiler->at++;
            emit_class(compiler, first, is_not);
            return;
        }
        if (!read_member(compiler, &low))
            continue;
        bool is_range = compiler->end - compiler->at >= 2 && compiler->at[0] == '-' && compiler->at[1] != ']';
        compiler->at += is_range;
        if (is_range && !read_member(compiler, &high))
            refuse_if(compiler, true, KI_AS_PATTERN_WRONG);
        add_range(compiler, low, is_range ? high : low);
    }
    refuse_if(compiler, true, KI_AS_PATTERN_WRONG);
}

/* ---- parts ------------------------------------------------------------------------------------------- */

/* Behind "[:alpha:]"; NULL: there is no such name here. */
static const char *skip_class_name(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '[' || at[1] != ':')
        return NULL;
    for (int i = 2; i < CLASS_NAME_MAX && end - at > i + 1; i++)
        if (at[i] == ':' && at[i + 1] == ']')
            return at + i + 2;
    return NULL;
}

/* Behind the bracket that opens a class: where it ends. */
static const char *skip_brackets(const char *at, const char *end)
{
    at += at < end && *at == '^';
    at += at < end && *at == ']';
    while (at < end && *at != ']') {
        const char *behind = skip_class_name(at, end);
        at = behind != NULL ? behind : at + (*at == '\\' && at + 1 < end ? 2 : 1);
    }
    return at < end ? at + 1 : end;
}

/* Behind a backslash. */
static const char *skip_escape(const char *at, const char *end)
{
    bool is_hex = *at == 'x';
    (void)ki_as_pattern_letter(&at, end);
    if (!is_hex)
        return at;
    if (at < end && *at == '{') {
        const char *stop = memchr(at, '}', (size_t)(end - at));
        return stop == NULL ? end : stop + 1;
    }
    return end - at < 2 ? end : at + 2;
}

/* The end of the part that begins here: a letter, a class, a group. */
static const char *skip_part(struct compiler *compiler, const char *at)
{
    const char *start = at;
    const char *end = compiler->end;
    int depth = 0;
    do {
        char c = *at++;
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '[')
            at = skip_brackets(at, end);
        else if (c == '\\' && at < end)
            at = skip_escape(at, end);
    } while (at < end && (depth > 0 || ((unsigned char)*at & 0xc0) == 0x80));
    charge(compiler, (size_t)(at - start));
    return at;
}

static void read_group(struct compiler *compiler)
{
    const char *at = compiler->at;
    if (compiler->end - at >= 2 && at[0] == '?' && at[1] == ':')
        compiler->at += 2;
    else
        refuse_if(compiler, at < compiler->end && at[0] == '?', KI_AS_PATTERN_UNKNOWN);
    refuse_if(compiler, ++compiler->nested > NESTED_MAX, KI_AS_PATTERN_UNKNOWN);
    if (!is_bad(compiler))
        read_alternatives(compiler);
    compiler->nested--;
    refuse_if(compiler, compiler->at == compiler->end || *compiler->at != ')', KI_AS_PATTERN_WRONG);
    compiler->at++;
}

static void read_escape(struct compiler *compiler)
{
    char c = compiler->at < compiler->end ? *compiler->at : 0;
    char lower = (char)(c | 0x20);
    uint32_t first = compiler->program->range_count;
    if (is_class_name(lower) && c != 0) {
        compiler->at++;
        (void)add_named(compiler, (ki_str){&lower, 1}, false);
        emit_class(compiler, first, c != lower);
    } else if (c == 'b' || c == 'B' || c == 'A' || c == 'z') {
        compiler->at++;
        (void)emit(compiler,
                   c == 'b'   ? KI_AS_PATTERN_EDGE
                   : c == 'B' ? KI_AS_PATTERN_NO_EDGE
                   : c == 'A' ? KI_AS_PATTERN_BEGIN
                              : KI_AS_PATTERN_END,
                   0, 0);
    } else {
        emit_letter(compiler, read_escaped(compiler));
    }
}

static void read_part(struct compiler *compiler)
{
    uint32_t first = compiler->program->range_count;
    charge(compiler, 1);
    refuse_if(compiler, ++compiler->reads > READS_MAX, KI_AS_PATTERN_UNKNOWN);
    if (is_bad(compiler))
        return;
    uint32_t letter = ki_as_pattern_letter(&compiler->at, compiler->end);
    if (letter == '(')
        read_group(compiler);
    else if (letter == '[')
        read_brackets(compiler);
    else if (letter == '\\')
        read_escape(compiler);
    else if (letter == '^' || letter == '$')
        (void)emit(compiler, letter == '^' ? KI_AS_PATTERN_BEGIN : KI_AS_PATTERN_END, 0, 0);
    else if (letter == '.') {
        add_range(compiler, '\n', '\n');
        emit_class(compiler, first, true);
    } else if (letter == '*' || letter == '+' || letter == '?')
        refuse_if(compiler, true, KI_AS_PATTERN_WRONG);
    else
        emit_letter(compiler, letter);
}

/* ---- how often --------------------------------------------------------------------------------------- */

struct times {
    uint32_t low;
    uint32_t high; /* UINT32_MAX: no end */
};

static uint32_t read_count(const char **at, const char *end)
{
    uint32_t number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        number = number > REPEAT_MAX ? number : number * 10 + (uint32_t)(**at - '0');
    return number;
}

/* "{2}", "{2,}", "{2,3}" at `at`; anything else in braces is letters. */
static bool read_braces(const char **at, const char *end, struct times *out)
{
    const char *next = *at + 1;
    const char *digits = next;
    out->low = read_count(&next, end);
    bool is_good = next > digits && next < end;
    out->high = out->low;
    if (is_good && *next == ',') {
        digits = ++next;
        out->high = read_count(&next, end);
        out->high = next == digits ? UINT32_MAX : out->high;
    }
    if (!is_good || next >= end || *next != '}')
        return false;
    *at = next + 1;
    return true;
}

static struct times read_times(struct compiler *compiler, const char **at)
{
    struct times times = {1, 1};
    char c = *at < compiler->end ? **at : 0;
    bool is_repeated = true;
    if (c == '*' || c == '+' || c == '?') {
        times = (struct times){c == '+' ? 1 : 0, c == '?' ? 1 : UINT32_MAX};
        (*at)++;
    } else if (c != '{' || !read_braces(at, compiler->end, &times)) {
        times = (struct times){1, 1};
        is_repeated = false;
    }
    if (is_repeated && *at < compiler->end && **at == '?')
        (*at)++; /* lazy: whether something matches is the same */
    bool is_too_often = times.low > REPEAT_MAX || (times.high > REPEAT_MAX && times.high != UINT32_MAX);
    refuse_if(compiler, is_too_often || times.low > times.high, KI_AS_PATTERN_WRONG);
    return times;
}

static void read_repeated(struct compiler *compiler)
{
    const char *start = compiler->at;
    const char *behind = skip_part(compiler, start);
    struct times times = read_times(compiler, &behind);
    struct ki_as_pattern_instruction *instructions = compiler->program->instructions;
    uint32_t last = UINT32_MAX; /* of the splits that lead behind all: each knows the one before */
    for (uint32_t i = 0; i < times.low && !is_bad(compiler); i++) {
        compiler->at = start;
        read_part(compiler);
    }
    bool is_endless = times.high == UINT32_MAX;
    for (uint32_t i = times.low; i < (is_endless ? times.low + 1 : times.high) && !is_bad(compiler); i++) {
        uint32_t split = emit(compiler, KI_AS_PATTERN_SPLIT, 0, last);
        instructions[split].first = split + 1;
        last = split;
        compiler->at = start;
        read_part(compiler);
        if (is_endless)
            (void)emit(compiler, KI_AS_PATTERN_JUMP, split, 0);
    }
    while (last != UINT32_MAX && !is_bad(compiler)) {
        uint32_t before = instructions[last].count;
        instructions[last].count = compiler->program->instruction_count;
        last = before;
    }
    compiler->at = behind;
}

/* Up to a closing bracket or the end. */
static void read_alternatives(struct compiler *compiler)
{
    struct ki_as_pattern_instruction *instructions = compiler->program->instructions;
    uint32_t last = UINT32_MAX;
    for (;;) {
        const char *stop = compiler->at;
        while (stop < compiler->end && *stop != '|' && *stop != ')')
            stop = skip_part(compiler, stop);
        bool is_more = stop < compiler->end && *stop == '|';
        uint32_t split = is_more ? emit(compiler, KI_AS_PATTERN_SPLIT, 0, 0) : 0;
        while (compiler->at < stop && !is_bad(compiler))
            read_repeated(compiler);
        if (!is_more || is_bad(compiler))
            break;
        last = emit(compiler, KI_AS_PATTERN_JUMP, last, 0);
        instructions[split].first = split + 1;
        instructions[split].count = compiler->program->instruction_count;
        compiler->at++;
    }
    while (last != UINT32_MAX && !is_bad(compiler)) {
        uint32_t before = instructions[last].first;
        instructions[last].first = compiler->program->instruction_count;
        last = before;
    }
}

/* The steps are counted down by charge(). NOLINTNEXTLINE(readability-non-const-parameter) */
enum ki_as_pattern_result ki_as_pattern_compile(const char *pattern, size_t *steps,
                                                struct ki_as_pattern_program *out)
{
    struct compiler compiler = {.at = pattern,
                                .end = pattern + strlen(pattern),
                                .program = out,
                                .steps = steps,
                                .result = KI_AS_PATTERN_GOOD};
    out->instruction_count = 0;
    out->range_count = 0;
    read_alternatives(&compiler);
    refuse_if(&compiler, compiler.at != compiler.end, KI_AS_PATTERN_WRONG);
    (void)emit(&compiler, KI_AS_PATTERN_FOUND, 0, 0);
    return compiler.result;
}
