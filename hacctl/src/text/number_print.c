/* SPDX-License-Identifier: Apache-2.0 */
#include "number_print.h"

#include <math.h>
#include <stdio.h>

/* Digits after the point for three significant digits; the whole number is never cut. */
static int decimals(double value)
{
    if (value >= 99.95 || value == floor(value))
        return 0;
    return value >= 9.995 ? 1 : 2;
}

static const char *none(char buffer[HAC_NUMBER_PRINT_MAX])
{
    buffer[0] = '-';
    buffer[1] = '\0';
    return buffer;
}

static const char *scaled(double value, double base, const char *const *units, size_t n_units,
                          const char *tail, char buffer[HAC_NUMBER_PRINT_MAX])
{
    if (!isfinite(value) || value < 0)
        return none(buffer);
    size_t unit = 0;
    /* Goes on to the next unit where rounding would show four digits: 999.6 would print as 1000. */
    while (unit + 1 < n_units && value >= (base < 1010 ? 999.5 : base)) {
        value /= base;
        unit++;
    }
    snprintf(buffer, HAC_NUMBER_PRINT_MAX, "%.*f%s%s%s", decimals(value), value,
             *units[unit] != '\0' ? " " : "", units[unit], tail);
    return buffer;
}

const char *hac_number_print_bytes(double bytes, char buffer[HAC_NUMBER_PRINT_MAX])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return scaled(bytes, 1024, units, sizeof units / sizeof *units, "", buffer);
}

static const char *const thousands[] = {"", "K", "M", "G", "T", "P"};

const char *hac_number_print_count(double count, char buffer[HAC_NUMBER_PRINT_MAX])
{
    return scaled(count, 1000, thousands, sizeof thousands / sizeof *thousands, "", buffer);
}

const char *hac_number_print_rate(double rate, char buffer[HAC_NUMBER_PRINT_MAX])
{
    return scaled(rate, 1000, thousands, sizeof thousands / sizeof *thousands, " items/s", buffer);
}

static const char *minutes_and_more(double seconds, char buffer[HAC_NUMBER_PRINT_MAX])
{
    if (seconds >= 1e15)
        return none(buffer);
    unsigned long long whole = (unsigned long long)(seconds + 0.5);
    if (whole < 3600)
        snprintf(buffer, HAC_NUMBER_PRINT_MAX, "%llu min %llu s", whole / 60, whole % 60);
    else if (whole < 172800)
        snprintf(buffer, HAC_NUMBER_PRINT_MAX, "%llu h %llu min", whole / 3600, whole / 60 % 60);
    else
        snprintf(buffer, HAC_NUMBER_PRINT_MAX, "%llu d %llu h", whole / 86400, whole / 3600 % 24);
    return buffer;
}

const char *hac_number_print_seconds(double seconds, char buffer[HAC_NUMBER_PRINT_MAX])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    if (!isfinite(seconds) || seconds < 0)
        return none(buffer);
    if (seconds >= 99.5)
        return minutes_and_more(seconds, buffer);
    if (seconds == 0) {
        snprintf(buffer, HAC_NUMBER_PRINT_MAX, "0 s");
        return buffer;
    }
    return scaled(seconds * 1e9, 1000, units, sizeof units / sizeof *units, "", buffer);
}

const char *hac_number_print_percent(double fraction, char buffer[HAC_NUMBER_PRINT_MAX])
{
    if (!isfinite(fraction) || fraction < 0)
        return none(buffer);
    snprintf(buffer, HAC_NUMBER_PRINT_MAX, "%.*f %%", fraction < 0.0995 && fraction > 0 ? 1 : 0,
             fraction * 100);
    return buffer;
}
