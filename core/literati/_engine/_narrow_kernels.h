/* Kernels of the CART on narrow entries, for AVX-512 with 16-bit compression (VBMI2) and population counts.
 *
 * A narrow entry has 16 bits: the row's number within the state and, in the highest bit, whether a cut may lie before
 * the row. Numbers are given class by class, so a class is a range of numbers and no table of labels is read. Entries
 * are taken 32 at a time: the rows of a class are a mask, and those before an entry are the bits below it.
 */
#define NARROW_TARGET \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,avx512vpopcntdq,popcnt,bmi2")))
#define NARROW_INLINE static inline __attribute__((always_inline)) NARROW_TARGET

/* Bits of the entries of a block. */
NARROW_INLINE uint32_t narrow_block(int32_t block, int32_t n) {
    return n - block >= 32 ? 0xffffffffu : (1u << (n - block)) - 1;
}

/* What both passes of a scan need of a block: the sums over classes of (a n - t na)^2 / (na nb) for the cut before each
 * entry, where a of the t rows of a class and na of all n rows lie before the cut. That is n times the gain; with two
 * classes both terms are equal, so that one of them is enough. The sums are approximate, but off by less than
 * NARROW_ERROR of their value: the differences are exact, vrcp14ps is good for 6.2e-5, the rest rounds floats.
 */
#define NARROW_ERROR 1e-4

typedef struct {
    __m512 low, high;        /* sums for the cuts before the first and the last sixteen entries */
    uint32_t legal;          /* where a cut may lie */
} narrow_sums;

typedef struct {
    __m512i start[NARROW_CLASSES];   /* [class] a n - t na before each of the first sixteen entries, if all a were 0 */
    uint32_t mask[NARROW_CLASSES];   /* [class] its rows in the last block */
    __m512 na;
} narrow_scan;

NARROW_INLINE void narrow_begin(narrow_scan *scan, const narrow_class *classes, const int n_classes) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int c = 0; c < n_classes; c++)
        scan->start[c] = _mm512_mullo_epi32(_mm512_set1_epi32(-classes[c].total), lane);
    scan->na = _mm512_cvtepi32_ps(lane);
}

NARROW_INLINE narrow_sums narrow_next(narrow_scan *scan, const uint16_t *entries, int32_t block, int32_t n,
                                      const narrow_class *classes, const int n_classes) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i one = _mm512_set1_epi32(1), rows = _mm512_set1_epi32(n);
    const __m512i below_low = _mm512_sub_epi32(_mm512_sllv_epi32(one, lane), one);
    const __m512i below_high = _mm512_or_si512(_mm512_slli_epi32(below_low, 16), _mm512_set1_epi32(0xffff));
    const __m512 all = _mm512_set1_ps((float)n), sixteen = _mm512_set1_ps(16.0f);
    const __m512i entry = _mm512_loadu_si512(entries + block);
    const __m512i number = _mm512_and_si512(entry, _mm512_set1_epi16(0x7fff));
    __m512 low = _mm512_setzero_ps(), high = low, na = scan->na;
    for (int c = 0; c < n_classes; c++) {
        const __m512i from_first = _mm512_sub_epi16(number, _mm512_set1_epi16((short)classes[c].first));
        const uint32_t mask = _mm512_cmplt_epu16_mask(from_first, _mm512_set1_epi16((short)classes[c].length));
        const __m512i bits = _mm512_set1_epi32((int)mask), start = scan->start[c];
        const __m512i start_high = _mm512_sub_epi32(start, _mm512_set1_epi32(16 * classes[c].total));
        /* A product of 16-bit numbers in 32 bits: n is less than 2^15. */
        const __m512i a_low = _mm512_madd_epi16(_mm512_popcnt_epi32(_mm512_and_si512(bits, below_low)), rows);
        const __m512i a_high = _mm512_madd_epi16(_mm512_popcnt_epi32(_mm512_and_si512(bits, below_high)), rows);
        const __m512 d_low = _mm512_cvtepi32_ps(_mm512_add_epi32(a_low, start));
        const __m512 d_high = _mm512_cvtepi32_ps(_mm512_add_epi32(a_high, start_high));
        low = _mm512_fmadd_ps(d_low, d_low, low);
        high = _mm512_fmadd_ps(d_high, d_high, high);
        scan->mask[c] = mask;
        scan->start[c] =
            _mm512_add_epi32(start, _mm512_set1_epi32(n * __builtin_popcount(mask) - 32 * classes[c].total));
    }
    narrow_sums sums;
    sums.low = _mm512_mul_ps(low, _mm512_rcp14_ps(_mm512_mul_ps(na, _mm512_sub_ps(all, na))));
    na = _mm512_add_ps(na, sixteen);
    sums.high = _mm512_mul_ps(high, _mm512_rcp14_ps(_mm512_mul_ps(na, _mm512_sub_ps(all, na))));
    scan->na = _mm512_add_ps(na, sixteen);
    /* There is no cut before the first row. */
    sums.legal = _mm512_movepi16_mask(entry) & narrow_block(block, n) & (block ? 0xffffffffu : ~1u);
    return sums;
}

/* The largest sum of all cuts, negative if there is none. */
NARROW_INLINE float narrow_highest(const uint16_t *entries, int32_t n, const narrow_class *classes,
                                   const int n_classes) {
    narrow_scan scan;
    __m512 best = _mm512_set1_ps(-1.0f);
    narrow_begin(&scan, classes, n_classes);
    for (int32_t block = 0; block < n; block += 32) {
        const narrow_sums sums = narrow_next(&scan, entries, block, n, classes, n_classes);
        best = _mm512_mask_max_ps(best, (__mmask16)sums.legal, best, sums.low);
        best = _mm512_mask_max_ps(best, (__mmask16)(sums.legal >> 16), best, sums.high);
    }
    return _mm512_reduce_max_ps(best);
}

/* Scores the cuts whose sum is at least `cutoff` as _gini_body.h does; the first of the best ones wins. */
NARROW_INLINE double narrow_exact(const uint16_t *entries, int32_t n, const narrow_class *classes, const int n_classes,
                                  float cutoff, double min_score, int32_t *at, int32_t *before) {
    narrow_scan scan;
    int32_t seen[NARROW_CLASSES] = {0};
    int64_t other = n; /* rows of the second class, which is not listed where there are two */
    narrow_begin(&scan, classes, n_classes);
    for (int c = 0; c < n_classes; c++) other -= classes[c].total;
    for (int32_t block = 0; block < n; block += 32) {
        const narrow_sums sums = narrow_next(&scan, entries, block, n, classes, n_classes);
        uint32_t close = _mm512_cmp_ps_mask(sums.low, _mm512_set1_ps(cutoff), _CMP_GE_OQ)
                         | (uint32_t)_mm512_cmp_ps_mask(sums.high, _mm512_set1_ps(cutoff), _CMP_GE_OQ) << 16;
        for (close &= sums.legal; close; close &= close - 1) {
            const uint32_t bits = (close & -close) - 1;
            const int64_t na = block + __builtin_popcount(bits), nb = n - na;
            int64_t below = 0, above = 0, a_other = na;
            for (int c = 0; c < n_classes; c++) {
                const int64_t a = seen[c] + __builtin_popcount(scan.mask[c] & bits), b = classes[c].total - a;
                below += a * a;
                above += b * b;
                a_other -= a;
            }
            below += a_other * a_other;
            above += (other - a_other) * (other - a_other);
            const double score = (double)(below * nb + above * na) / (double)(na * nb);
            if (score > min_score) {
                min_score = score;
                *at = (int32_t)na;
                for (int c = 0; c < n_classes; c++) before[c] = seen[c] + __builtin_popcount(scan.mask[c] & bits);
            }
        }
        for (int c = 0; c < n_classes; c++) seen[c] += __builtin_popcount(scan.mask[c]);
    }
    return min_score;
}

NARROW_INLINE double narrow_gini_of(const uint16_t *entries, int32_t n, const narrow_class *classes,
                                    const int n_classes, double base, double min_score, int32_t *at, int32_t *before) {
    /* A score is at most n; `slack` is more than its rounding, in units of the sums. */
    const double slack = 1e-13 * n * n, unit = n_classes == 1 ? 0.5 * n : n;
    const double highest = narrow_highest(entries, n, classes, n_classes);
    *at = -1;
    if (highest < 0.0 || highest * (1.0 + NARROW_ERROR) + slack <= (min_score - base) * unit) return min_score;
    return narrow_exact(entries, n, classes, n_classes, (float)(highest * (1.0 - 3.0 * NARROW_ERROR) - slack),
                        min_score, at, before);
}

/* See narrow_gini_fn. */
static NARROW_TARGET double narrow_gini(const uint16_t *entries, int32_t n, const narrow_class *classes,
                                        int32_t n_classes, double base, double min_score, int32_t *at,
                                        int32_t *before) {
    if (n_classes == 1) return narrow_gini_of(entries, n, classes, 1, base, min_score, at, before);
    return narrow_gini_of(entries, n, classes, n_classes, base, min_score, at, before);
}

/* Which of 32 rows go right, from a table with one bit for each row: words of 16 bits, 1,024 bits at a time. */
NARROW_INLINE uint32_t narrow_sides(__m512i number, const uint16_t *right, const int n_tables) {
    const __m512i word = _mm512_srli_epi16(number, 4);
    __m512i found = _mm512_permutex2var_epi16(_mm512_loadu_si512(right), word, _mm512_loadu_si512(right + 32));
    if (n_tables > 1) {
        const __m512i table = _mm512_srli_epi16(number, 10);
        for (int t = 1; t < n_tables; t++) {
            const __m512i more = _mm512_permutex2var_epi16(_mm512_loadu_si512(right + 64 * t), word,
                                                           _mm512_loadu_si512(right + 64 * t + 32));
            found = _mm512_mask_mov_epi16(found, _mm512_cmpeq_epi16_mask(table, _mm512_set1_epi16((short)t)), more);
        }
    }
    const __m512i bit = _mm512_and_si512(number, _mm512_set1_epi16(15));
    return _mm512_test_epi16_mask(_mm512_srlv_epi16(found, bit), _mm512_set1_epi16(1));
}

/* The entries of one side of a block, with the flags that a part of the rows has. A cut may lie between two kept rows
 * if one could lie between them before: the sum of a run of dropped rows and the flags among them carries into the next
 * kept row exactly if there is a flag. */
NARROW_INLINE __m512i narrow_kept(__m512i number, uint32_t flags, uint32_t kept, uint64_t *carry) {
    const uint64_t sum = (uint64_t)(flags & ~kept) + (uint32_t)~kept + *carry;
    const __m512i flagged = _mm512_or_si512(number, _mm512_set1_epi16((short)0x8000));
    *carry = sum >> 32;
    return _mm512_maskz_compress_epi16(kept, _mm512_mask_mov_epi16(number, ((uint32_t)sum | flags) & kept, flagged));
}

NARROW_INLINE int32_t narrow_partition_of(const uint16_t *entries, int32_t n, const uint16_t *right_bits,
                                          const int n_tables, uint16_t *left, uint16_t *right) {
    int32_t n_left = 0;
    uint64_t left_carry = 0, right_carry = 0;
    for (int32_t block = 0; block < n; block += 32) {
        const __m512i entry = _mm512_loadu_si512(entries + block);
        const __m512i number = _mm512_and_si512(entry, _mm512_set1_epi16(0x7fff));
        const uint32_t flags = _mm512_movepi16_mask(entry), valid = narrow_block(block, n);
        const uint32_t goes_right = narrow_sides(number, right_bits, n_tables) & valid, goes_left = valid & ~goes_right;
        const int count = __builtin_popcount(goes_left), valid_count = n - block < 32 ? n - block : 32;
        /* Only the entries themselves are written: others may lie behind them. */
        _mm512_mask_storeu_epi16(left + n_left, _bzhi_u32(0xffffffffu, count),
                                 narrow_kept(number, flags, goes_left, &left_carry));
        _mm512_mask_storeu_epi16(right + (block - n_left), _bzhi_u32(0xffffffffu, valid_count - count),
                                 narrow_kept(number, flags, goes_right, &right_carry));
        n_left += count;
    }
    return n_left;
}

/* See narrow_partition_fn. */
static NARROW_TARGET int32_t narrow_partition(const uint16_t *entries, int32_t n, const uint16_t *right_bits,
                                              int32_t n_numbers, uint16_t *left, uint16_t *right) {
    const int n_tables = (n_numbers + 1023) / 1024;
    switch (n_tables) { /* the loop over few tables is unrolled */
        case 1: return narrow_partition_of(entries, n, right_bits, 1, left, right);
        case 2: return narrow_partition_of(entries, n, right_bits, 2, left, right);
        case 3: return narrow_partition_of(entries, n, right_bits, 3, left, right);
        case 4: return narrow_partition_of(entries, n, right_bits, 4, left, right);
        default: return narrow_partition_of(entries, n, right_bits, n_tables, left, right);
    }
}
/* The alternating-segment programs of _lanes_body.h, for both sides in one vector. */
typedef struct {
    __m512i walk, high[MAX_K], low[MAX_K];
} narrow_walks;

NARROW_INLINE void narrow_cut(narrow_walks *w, const int K) {
    for (int k = K - 1; k > 0; k--) {
        if (k & 1) {
            w->high[k] = _mm512_max_epi16(w->high[k], _mm512_sub_epi16(w->high[k - 1], w->walk));
            w->low[k] = _mm512_min_epi16(w->low[k], _mm512_sub_epi16(w->low[k - 1], w->walk));
        } else {
            w->high[k] = _mm512_max_epi16(w->high[k], _mm512_add_epi16(w->high[k - 1], w->walk));
            w->low[k] = _mm512_min_epi16(w->low[k], _mm512_add_epi16(w->low[k - 1], w->walk));
        }
    }
    w->high[0] = _mm512_max_epi16(w->high[0], w->walk);
    w->low[0] = _mm512_min_epi16(w->low[0], w->walk);
}

/* A row of the first class adds 1 to the walks of its children, another one -1: unit[0] and unit[1]. */
NARROW_INLINE void narrow_step(narrow_walks *w, const uint16_t *entry, const uint32_t *children, int32_t n_first,
                               const __m512i *unit) {
    const int32_t number = *entry & 0x7fff;
    w->walk = _mm512_mask_add_epi16(w->walk, children[number], w->walk, unit[number >= n_first]);
}

NARROW_INLINE void narrow_walk_of(const uint16_t *entries, int32_t n, const uint32_t *children, int32_t n_first,
                                  const int K, int16_t *best) {
    const __m512i unit[2] = {_mm512_set1_epi16(1), _mm512_set1_epi16(-1)};
    narrow_walks w;
    uint32_t legal_before = 1, first_before = 0;
    w.walk = _mm512_setzero_si512();
    for (int k = 0; k < K; k++) w.high[k] = w.low[k] = _mm512_setzero_si512();
    for (int32_t block = 0; block < n; block += 32) {
        const int rows = n - block < 32 ? n - block : 32;
        const __m512i entry = _mm512_loadu_si512(entries + block);
        const __m512i number = _mm512_and_si512(entry, _mm512_set1_epi16(0x7fff));
        const uint32_t legal = _mm512_movepi16_mask(entry) | (block == 0), valid = narrow_block(block, n);
        const uint32_t first = _mm512_cmplt_epu16_mask(number, _mm512_set1_epi16((short)n_first));
        const uint32_t last = block + rows < n ? entries[block + 32] >> 15 : 1;
        const uint32_t legal_next = rows == 32 ? legal >> 1 | last << 31 : legal >> 1 | 1u << (rows - 1);
        /* A cut between two rows of one class gains nothing over one before or behind both, if both can be cut off. */
        const uint32_t turn = first ^ (first << 1 | first_before);
        uint32_t cuts = legal & valid & (turn | ~legal_next | ~(legal << 1 | legal_before));
        const uint16_t *row = entries + block, *end = row + rows;
        legal_before = legal >> 31;
        first_before = first >> 31;
        /* Cuts that are not needed do no harm, and many unpredictable branches cost more than they save. */
        if (__builtin_popcount(cuts) > (K == 1 ? 4 : 12) && (legal & valid) == 0xffffffffu) {
            for (int i = 0; i < 32; i++) {
                narrow_cut(&w, K);
                narrow_step(&w, row + i, children, n_first, unit);
            }
            continue;
        }
        for (; cuts; cuts &= cuts - 1) {
            const uint16_t *cut = entries + block + __builtin_ctz(cuts);
            for (; row < cut; row++) narrow_step(&w, row, children, n_first, unit);
            narrow_cut(&w, K);
        }
        for (; row < end; row++) narrow_step(&w, row, children, n_first, unit);
    }
    narrow_cut(&w, K);
    for (int k = 0; k < K; k++) {
        const __m512i tail = k & 1 ? w.walk : _mm512_setzero_si512();
        const __m512i up = _mm512_add_epi16(w.high[k], tail), down = _mm512_add_epi16(w.low[k], tail);
        const __m512i found = _mm512_max_epi16(_mm512_sub_epi16(_mm512_add_epi16(up, up), w.walk),
                                               _mm512_sub_epi16(w.walk, _mm512_add_epi16(down, down)));
        __m256i *left = (__m256i *)(best + k * LANES), *right = (__m256i *)(best + (MAX_K + k) * LANES);
        _mm256_storeu_si256(left, _mm256_max_epi16(_mm256_loadu_si256(left), _mm512_castsi512_si256(found)));
        _mm256_storeu_si256(right, _mm256_max_epi16(_mm256_loadu_si256(right), _mm512_extracti64x4_epi64(found, 1)));
    }
}

/* See narrow_walk_fn. */
static NARROW_TARGET void narrow_walk(const uint16_t *entries, int32_t n, const uint32_t *children, int32_t n_first, int K,
                                      void *best) {
    switch (K) {
        case 1: narrow_walk_of(entries, n, children, n_first, 1, (int16_t *)best); break;
        case 2: narrow_walk_of(entries, n, children, n_first, 2, (int16_t *)best); break;
        case 3: narrow_walk_of(entries, n, children, n_first, 3, (int16_t *)best); break;
        default: narrow_walk_of(entries, n, children, n_first, K, (int16_t *)best); break;
    }
}
#undef NARROW_TARGET
#undef NARROW_INLINE
#undef NARROW_ERROR
