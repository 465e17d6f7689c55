/* Convert decimal digits to the nearest double, with ties to even.
 *
 * If the digits and the power of ten are exact as doubles, one rounded operation suffices. Otherwise integers of
 * 128 bits hold the product, or the quotient and whether there is a remainder, and are rounded here. The caller
 * handles numbers of more than 19 digits and powers beyond 10^19.
 */
#ifndef LITERATI_DECIMAL_H
#define LITERATI_DECIMAL_H
#include <math.h>
#include <stdint.h>

#define MAX_DIGITS 19 /* 10^19 - 1 fits 64 bits */

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide_t;

static inline uint64_t power_of_ten(int exponent) {
    uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

/* Return wide * 2^exponent, rounded; with `more` the exact value is slightly larger. wide has more than 53 bits. */
static inline double rounded(wide_t wide, int exponent, int more) {
    uint64_t high = (uint64_t)(wide >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)wide);
    int dropped = bits - 53;
    uint64_t kept = (uint64_t)(wide >> dropped);
    wide_t rest = wide & (((wide_t)1 << dropped) - 1), half = (wide_t)1 << (dropped - 1);
    if (rest > half || (rest == half && (more || (kept & 1)))) kept++;
    return ldexp((double)kept, dropped + exponent);
}
#endif

/* Write digits * 10^exponent to `out` and return 1; return 0 if the caller has to convert the number. */
static inline int decimal_to_double(uint64_t digits, int exponent, double *out) {
    if (digits <= (1ull << 53) && exponent >= -22 && exponent <= 22) {
        *out = exponent < 0 ? (double)digits / exact_powers[-exponent] : (double)digits * exact_powers[exponent];
        return 1;
    }
#ifdef __SIZEOF_INT128__
    if (digits == 0) {
        *out = 0.0;
        return 1;
    }
    if (exponent < 0 && exponent >= -MAX_DIGITS) {
        int shift = __builtin_clzll(digits);
        wide_t dividend = (wide_t)(digits << shift) << 63;
        uint64_t divisor = power_of_ten(-exponent);
        wide_t quotient = dividend / divisor; /* at least 2^126 / 10^19, so more than 62 bits */
        *out = rounded(quotient, -63 - shift, quotient * divisor != dividend);
        return 1;
    }
    if (exponent >= 0 && exponent <= MAX_DIGITS && digits > (1ull << 53)) {
        *out = rounded((wide_t)digits * power_of_ten(exponent), 0, 0);
        return 1;
    }
#endif
    return 0;
}
#endif
