/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as people write them. Tests: tests/unit/scan_*.c.
 */
#include "runtime/base/scan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The parts of "12.50kB": the digits before the point, those after it, and the rest. */
struct number {
    const char *whole, *fraction, *rest;
    size_t      whole_digits, fraction_digits;
};

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

static const char *split_number(const char *text, struct number *out)
{
    if (text[0] == '\0') return "it is empty";
    if (text[0] == '-') return "it is negative";

    struct number parts = {.whole = text, .whole_digits = count_digits(text)};
    parts.fraction = parts.rest = text + parts.whole_digits;
    if (*parts.rest == '.') {
        parts.fraction++;
        parts.fraction_digits = count_digits(parts.fraction);
        parts.rest            = parts.fraction + parts.fraction_digits;
    }
    if (parts.whole_digits + parts.fraction_digits == 0) return "it does not begin with a decimal number";
    *out = parts;
    return NULL;
}

/* false if the digits make more than max. */
static bool read_digits(const char *digits, size_t count, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (value > (max - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool has_nonzero(const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (digits[i] != '0') return true;
    }
    return false;
}

/* digits is the fraction 0.ddd: double it in place and return what comes out before the point, 0 or 1. */
static uint64_t double_fraction(char *digits, size_t count)
{
    int carry = 0;
    for (size_t i = count; i-- > 0;) {
        int twice = 2 * (digits[i] - '0') + carry;
        carry     = twice >= 10;
        digits[i] = (char)('0' + twice % 10);
    }
    return (uint64_t)carry;
}

/* ceil(0.ddd * 2^shift): schoolbook doubling, so exact for any number of digits. */
static const char *scale_fraction(const struct number *number, unsigned shift, uint64_t *out)
{
    char *digits = strndup(number->fraction, number->fraction_digits);
    if (!digits) return "there is no memory left to read it";
    uint64_t value = 0;
    for (unsigned i = 0; i < shift; i++) value = 2 * value + double_fraction(digits, number->fraction_digits);
    *out = value + has_nonzero(digits, number->fraction_digits);
    free(digits);
    return NULL;
}

const char *shmemi_scan_size(const char *text, size_t *bytes_out)
{
    struct number number;
    const char   *why = split_number(text, &number);
    if (why) return why;

    static const char units[] = "kKmMgGtT";
    unsigned          shift   = 0;
    if (*number.rest != '\0') {
        const char *unit = strchr(units, *number.rest);
        if (!unit) return "what follows the number is not one of k K m M g G t T";
        shift = 10 * ((unsigned)(unit - units) / 2 + 1);
    }

    uint64_t whole = 0, fraction = 0;
    if (!read_digits(number.whole, number.whole_digits, (uint64_t)PTRDIFF_MAX >> shift, &whole))
        return "it is larger than any memory can be";
    why = scale_fraction(&number, shift, &fraction);
    if (why) return why;
    /* whole << shift is at most PTRDIFF_MAX and fraction at most 2^40: the sum fits in 64 bits. */
    uint64_t bytes = (whole << shift) + fraction;
    if (bytes > (uint64_t)PTRDIFF_MAX) return "it is larger than any memory can be";
    *bytes_out = (size_t)bytes;
    return NULL;
}

/* ceil(0.ddd * unit_ns), unit_ns being a power of ten. */
static uint64_t scale_fraction_decimal(const struct number *number, uint64_t unit_ns)
{
    uint64_t value = 0;
    size_t   i     = 0;
    for (; unit_ns > 1; unit_ns /= 10, i++)
        value = 10 * value + (i < number->fraction_digits ? (uint64_t)(number->fraction[i] - '0') : 0);
    return value + (i < number->fraction_digits && has_nonzero(number->fraction + i, number->fraction_digits - i));
}

const char *shmemi_scan_time(const char *text, int64_t plain_ns, int64_t *ns_out)
{
    static const struct {
        const char *name;
        uint64_t    ns;
    } units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", 1000000000},
    };
    struct number number;
    const char   *why = split_number(text, &number);
    if (why) return why;

    uint64_t unit_ns = *number.rest == '\0' ? (uint64_t)plain_ns : 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(number.rest, units[i].name) == 0) unit_ns = units[i].ns;
    }
    if (unit_ns == 0) return "what follows the number is not one of s ms us ns";

    uint64_t whole = 0;
    if (!read_digits(number.whole, number.whole_digits, (uint64_t)INT64_MAX / unit_ns, &whole))
        return "it is longer than 292 years";
    uint64_t ns = whole * unit_ns + scale_fraction_decimal(&number, unit_ns);
    if (ns > (uint64_t)INT64_MAX) return "it is longer than 292 years";
    *ns_out = (int64_t)ns;
    return NULL;
}

/* Whole text, with an optional '-'. */
static bool read_long(const char *text, size_t length, long *out)
{
    bool     negative = length > 0 && text[0] == '-';
    uint64_t value    = 0;
    if (negative) text++, length--;
    if (length == 0 || count_digits(text) < length || !read_digits(text, length, (uint64_t)INT64_MAX, &value)) return false;
    int64_t number = negative ? -(int64_t)value : (int64_t)value;
    if (number != (long)number) return false;
    *out = (long)number;
    return true;
}

const char *shmemi_scan_int(const char *text, const char *range, long *out)
{
    long        min = 0, max = 0, value = 0;
    const char *dots = strstr(range, "..");
    if (!dots || !read_long(range, (size_t)(dots - range), &min) || !read_long(dots + 2, strlen(dots + 2), &max))
        return "its limits are not known";
    if (text[0] == '\0') return "it is empty";
    if (text[text[0] == '-'] == '\0' || count_digits(text + (text[0] == '-')) < strlen(text + (text[0] == '-')))
        return "it is not a decimal number";
    if (!read_long(text, strlen(text), &value) || value < min || value > max) return "it is not within the limits";
    *out = value;
    return NULL;
}

const char *shmemi_scan_choice(const char *text, const char *words, int *index_out)
{
    if (text[0] == '\0') return "it is empty";
    size_t length = strlen(text);
    for (int index = 0;; index++) {
        size_t word_length = strcspn(words, "|");
        if (word_length == length && strncasecmp(words, text, length) == 0) {
            *index_out = index;
            return NULL;
        }
        if (words[word_length] == '\0') return "it is none of the words";
        words += word_length + 1;
    }
}

const char *shmemi_scan_bool(const char *text, bool *out)
{
    int         index = 0;
    const char *why   = shmemi_scan_choice(text, "0|no|off|false|1|yes|on|true", &index);
    if (!why) *out = index >= 4;
    return why;
}

unsigned shmemi_scan_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t a_length = strnlen(a, LONGEST), b_length = strnlen(b, LONGEST);
    /* row[j]: distance between the first i letters of a and the first j of b. */
    unsigned row[LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0]            = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j]   = best;
        }
    }
    return row[b_length];
}
