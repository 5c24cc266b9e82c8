/* SPDX-License-Identifier: Apache-2.0 */
#include "json/literal.h"

enum { OTHER, ZERO, DIGIT, POINT, PLUS, MINUS, LOWER_E, UPPER_E, A, F, L, N, R, S, T, U };

const uint8_t ki_literal_kind[256] = {
    ['0'] = ZERO,  ['1'] = DIGIT,   ['2'] = DIGIT,   ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT,
    ['6'] = DIGIT, ['7'] = DIGIT,   ['8'] = DIGIT,   ['9'] = DIGIT, ['.'] = POINT, ['+'] = PLUS,
    ['-'] = MINUS, ['e'] = LOWER_E, ['E'] = UPPER_E, ['a'] = A,     ['f'] = F,     ['l'] = L,
    ['n'] = N,     ['r'] = R,       ['s'] = S,       ['t'] = T,     ['u'] = U,
};

const uint8_t ki_literal_next[KI_LITERAL_STATES][16] = {
    [KI_LITERAL_START] = {[ZERO] = KI_LITERAL_ZERO,
                          [DIGIT] = KI_LITERAL_DIGITS,
                          [MINUS] = KI_LITERAL_MINUS,
                          [T] = KI_LITERAL_T,
                          [F] = KI_LITERAL_F,
                          [N] = KI_LITERAL_N},
    [KI_LITERAL_MINUS] = {[ZERO] = KI_LITERAL_ZERO, [DIGIT] = KI_LITERAL_DIGITS},
    [KI_LITERAL_ZERO] = {[POINT] = KI_LITERAL_POINT, [LOWER_E] = KI_LITERAL_E, [UPPER_E] = KI_LITERAL_E},
    [KI_LITERAL_DIGITS] = {[ZERO] = KI_LITERAL_DIGITS,
                           [DIGIT] = KI_LITERAL_DIGITS,
                           [POINT] = KI_LITERAL_POINT,
                           [LOWER_E] = KI_LITERAL_E,
                           [UPPER_E] = KI_LITERAL_E},
    [KI_LITERAL_POINT] = {[ZERO] = KI_LITERAL_FRACTION, [DIGIT] = KI_LITERAL_FRACTION},
    [KI_LITERAL_FRACTION] = {[ZERO] = KI_LITERAL_FRACTION,
                             [DIGIT] = KI_LITERAL_FRACTION,
                             [LOWER_E] = KI_LITERAL_E,
                             [UPPER_E] = KI_LITERAL_E},
    [KI_LITERAL_E] = {[ZERO] = KI_LITERAL_EXPONENT,
                      [DIGIT] = KI_LITERAL_EXPONENT,
                      [PLUS] = KI_LITERAL_E_SIGN,
                      [MINUS] = KI_LITERAL_E_SIGN},
    [KI_LITERAL_E_SIGN] = {[ZERO] = KI_LITERAL_EXPONENT, [DIGIT] = KI_LITERAL_EXPONENT},
    [KI_LITERAL_EXPONENT] = {[ZERO] = KI_LITERAL_EXPONENT, [DIGIT] = KI_LITERAL_EXPONENT},
    [KI_LITERAL_T] = {[R] = KI_LITERAL_TR},
    [KI_LITERAL_TR] = {[U] = KI_LITERAL_TRU},
    [KI_LITERAL_TRU] = {[LOWER_E] = KI_LITERAL_WORD},
    [KI_LITERAL_F] = {[A] = KI_LITERAL_FA},
    [KI_LITERAL_FA] = {[L] = KI_LITERAL_FAL},
    [KI_LITERAL_FAL] = {[S] = KI_LITERAL_TRU},
    [KI_LITERAL_N] = {[U] = KI_LITERAL_NU},
    [KI_LITERAL_NU] = {[L] = KI_LITERAL_NUL},
    [KI_LITERAL_NUL] = {[L] = KI_LITERAL_WORD},
};
