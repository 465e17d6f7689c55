/* The kernels of _lanes_min_rows.h for this machine. */
#ifndef LITERATI_LANES_MIN_ROWS_TABLE_H
#define LITERATI_LANES_MIN_ROWS_TABLE_H

static const long_lanes_t *long_lanes_table(void) {
    static const long_lanes_t plain = {{long_walk2_plain16, long_walk2_plain32, long_walk2_plain64},
                                       {long_classes_plain16, long_classes_plain32, long_classes_plain64}};
#ifdef LITERATI_X86
    static const long_lanes_t avx2 = {{long_walk2_avx2_16, long_walk2_avx2_32, long_walk2_avx2_64},
                                      {long_classes_avx2_16, long_classes_avx2_32, long_classes_avx2_64}};
    static const long_lanes_t avx512 = {{long_walk2_avx512_16, long_walk2_avx512_32, long_walk2_avx512_64},
                                        {long_classes_avx512_16, long_classes_avx512_32, long_classes_avx512_64}};
    const char *name = lanes_table()->name;
    if (!strcmp(name, "avx2")) return &avx2;
    if (strcmp(name, "none")) return &avx512; /* every other level has these instructions */
#endif
    return &plain;
}
#endif
