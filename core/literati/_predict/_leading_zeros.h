/* A quick test whether any cell of a CSV may begin with a zero and a digit. */
#ifndef LITERATI_LEADING_ZEROS_H
#define LITERATI_LEADING_ZEROS_H

#include <stddef.h>

/* Return whether "0" and a digit follow a delimiter, a line break, a blank or a quotation mark anywhere. The inner
   loop has no branch and works on bytes only, so that the compiler can use vector instructions. */
static int lit_may_have_leading_zeros(const unsigned char *data, ptrdiff_t size, unsigned char delimiter)
{
    const ptrdiff_t last = size - 2, step = 1 << 14;
    for (ptrdiff_t start = 0; start < last; start += step) {
        const unsigned char *at = data + start;
        const ptrdiff_t length = last - start < step ? last - start : step;
        unsigned char found = 0;
        for (ptrdiff_t i = 0; i < length; i++) {
            const unsigned char edge = (unsigned char)((at[i] == delimiter) | (at[i] <= '"'));
            const unsigned char zero = (unsigned char)(at[i + 1] == '0');
            const unsigned char digit = (unsigned char)((unsigned char)(at[i + 2] - '0') < 10);
            found |= (unsigned char)(edge & zero & digit);
        }
        if (found)
            return 1;
    }
    return 0;
}

#endif
