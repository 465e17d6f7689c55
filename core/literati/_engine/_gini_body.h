/* One build of the Gini scan of unit-weight rows, for one instruction set: see _lanes_table.h for the macros.
 *
 * The class counts before each row are a serial sum; the scores that follow from them are not, so they are computed
 * four at a time. There is no branch, because whether a cut has to be scored cannot be predicted.
 */
typedef double NAME(real4) __attribute__((vector_size(32)));
typedef int64_t NAME(long4) __attribute__((vector_size(32)));
typedef uint32_t NAME(word4) __attribute__((vector_size(16)));
typedef int32_t NAME(int4) __attribute__((vector_size(16)));

/* The best cut so far of four interleaved sequences of cuts; ties go to the first. */
typedef struct {
    NAME(real4) score, na;
    NAME(long4) at, here;
} NAME(best4);

#define BEST4(min) {{min, min, min, min}, {1.0, 2.0, 3.0, 4.0}, {-1, -1, -1, -1}, {1, 2, 3, 4}}

/* Four more cuts, from the squares of the class counts on both sides of each. */
static inline __attribute__((always_inline)) TARGET void NAME(best4_step)(
        NAME(best4) *best, const uint32_t *entries, const NAME(real4) *below, const NAME(real4) *above, int32_t n) {
    NAME(word4) word;
    memcpy(&word, entries, sizeof word);
    const NAME(long4) legal = -(__builtin_convertvector(word, NAME(long4)) >> 31);
    const NAME(real4) na = best->na, nb = (double)n - na;
    const NAME(real4) score = (*below * nb + *above * na) / (na * nb);
    const NAME(long4) better = (score > best->score) & legal & (best->here < (int64_t)n);
    best->score = (NAME(real4))(((NAME(long4))score & better) | ((NAME(long4))best->score & ~better));
    best->at = (best->here & better) | (best->at & ~better);
    best->na += 4.0;
    best->here += 4;
}

static inline __attribute__((always_inline)) TARGET double NAME(best4_end)(
        const NAME(best4) *best, double min_score, int32_t *at) {
    *at = -1;
    for (int lane = 0; lane < 4; lane++) {
        const double score = best->score[lane];
        const int32_t here = (int32_t)best->at[lane];
        if (here >= 0 && (score > min_score || (score == min_score && *at >= 0 && here < *at))) {
            min_score = score;
            *at = here;
        }
    }
    return min_score;
}

/* The scans read up to three entries and sums behind the last one; all arrays have that many more. */
static TARGET double NAME(gini_two)(const uint32_t *entries, int32_t n, const int32_t *label, const double *counts,
                                    double *scratch, double min_score, int32_t *at) {
    const double t0 = counts[0], t1 = counts[1];
    int32_t *ones = (int32_t *)scratch, sum = 0;
    for (int32_t i = 0; i < n; i++) ones[i] = sum += label[entries[i] & ROW_MASK];
    NAME(best4) best = BEST4(min_score);
    for (int32_t i = 0; i + 1 < n; i += 4) {
        NAME(int4) one;
        memcpy(&one, ones + i, sizeof one);
        const NAME(real4) a1 = __builtin_convertvector(one, NAME(real4)), a0 = best.na - a1;
        const NAME(real4) b1 = t1 - a1, b0 = t0 - a0;
        const NAME(real4) below = a0 * a0 + a1 * a1, above = b0 * b0 + b1 * b1;
        NAME(best4_step)(&best, entries + i, &below, &above, n);
    }
    return NAME(best4_end)(&best, min_score, at);
}

static TARGET double NAME(gini_many)(const uint32_t *entries, int32_t n, const int32_t *label, const double *counts,
                                     int32_t n_classes, double *scratch, double min_score, int32_t *at) {
    double *below = scratch, *above = scratch + n + 4, total = 0.0, both = 0.0;
    int64_t *seen = (int64_t *)(above + n + 4), squares = 0;
    for (int c = 0; c < n_classes; c++) {
        seen[c] = 0;
        total += counts[c] * counts[c];
    }
    /* Whole numbers, because the count of a class waits for its last increment: 30 % faster than doubles. */
    for (int32_t i = 0; i < n; i++) {
        const int32_t c = label[entries[i] & ROW_MASK];
        const int64_t had = seen[c]++;
        squares += 2 * had + 1;
        both += counts[c];
        below[i] = (double)squares;
        above[i] = total - 2.0 * both + (double)squares; /* sum of (count - seen) squared */
    }
    NAME(best4) best = BEST4(min_score);
    for (int32_t i = 0; i + 1 < n; i += 4) {
        NAME(real4) sa, sb;
        memcpy(&sa, below + i, sizeof sa);
        memcpy(&sb, above + i, sizeof sb);
        NAME(best4_step)(&best, entries + i, &sa, &sb, n);
    }
    return NAME(best4_end)(&best, min_score, at);
}
#undef BEST4
