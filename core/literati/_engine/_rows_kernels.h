/* The filter of presorted rows for AVX-512: what keep_side in _rows.pyx does, sixteen entries at a time. */
#define FILTER_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,bmi2")))

/* See keep_side_fn. A kept entry is flagged if any entry from it up to the next kept one was. The flag of an entry is
 * seen as one before the next entry: the sum of a run of dropped entries and the flags before them carries into the
 * next kept entry exactly if there is a flag. So the last kept row waits in `pending` until the next one is known. */
static FILTER_TARGET int32_t keep_side_avx512(const uint32_t *entries, int32_t n, const uint8_t *side, uint8_t target,
                                              uint32_t *out) {
    const uint32_t wrong_side = target ? 0 : 0xffff;
    __m512i pending = _mm512_setzero_si512();
    uint32_t carry = 0, behind = 0;
    int32_t kept = 0, block = 0;
    for (; block < n; block += 16) {
        const int rows = n - block < 16 ? n - block : 16;
        const uint32_t valid = (1u << rows) - 1;
        const __m512i entry = _mm512_maskz_loadu_epi32((__mmask16)valid, entries + block);
        const __m512i row = _mm512_and_si512(entry, _mm512_set1_epi32((int)ROW_MASK));
        const uint32_t flags = _mm512_movepi32_mask(entry), before = (flags << 1 | behind) & valid;
        uint32_t right = 0;
        /* Faster than a gather. */
        if (rows == 16) {
            for (int i = 0; i < 16; i++) right |= (uint32_t)side[entries[block + i] & ROW_MASK] << i;
        } else {
            for (int i = 0; i < rows; i++) right |= (uint32_t)side[entries[block + i] & ROW_MASK] << i;
        }
        const uint32_t take = (right ^ wrong_side) & valid, drop = take ^ valid, sum = (before & drop) + drop + carry;
        const int count = __builtin_popcount(take);
        const __m512i taken = _mm512_maskz_compress_epi32((__mmask16)take, row);
        const __m512i ready = _mm512_alignr_epi32(taken, pending, 15);
        const __mmask16 legal = (__mmask16)_pext_u32(sum | before, take);
        carry = sum >> rows;
        behind = flags >> (rows - 1);
        _mm512_mask_storeu_epi32(out + kept - 1, (__mmask16)_bzhi_u32(0xffff, (uint32_t)count),
                                 _mm512_mask_or_epi32(ready, legal, ready, _mm512_set1_epi32((int)LEGAL_CUT)));
        pending = _mm512_mask_permutexvar_epi32(pending, take ? 0xffff : 0, _mm512_set1_epi32(count - 1), taken);
        kept += count;
    }
    out[kept - 1] = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(pending)) | (carry | behind) << 31;
    return kept;
}
#undef FILTER_TARGET
