/* printf and its relatives: every conversion, compared with what ISO C says; then reading back. */
#include <inttypes.h>
#include <limits.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "../support/check.h"

static char text[512];

static int print(const char *expected, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int print(const char *expected, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (strcmp(text, expected) == 0 && length == (int)strlen(expected))
		return 1;
	printf("`%s` gives `%s` (%d), expected `%s`\n", format, text, length, expected);
	return 0;
}

#pragma GCC diagnostic ignored "-Wformat-zero-length"
#pragma GCC diagnostic ignored "-Wformat-truncation"

int main(void)
{
	CHECK(print("", ""));
	CHECK(print("42 -42 +42  42 0042", "%d %i %+d % d %04d", 42, -42, 42, 42, 42));
	CHECK(print("   42|42   |00042", "%5d|%-5d|%.5d", 42, 42, 42));
	CHECK(print("4294967295 37777777777 ffffffff FFFFFFFF 0xff 010", "%u %o %x %X %#x %#o", -1u, -1u, -1u, -1u, 255, 8));
	CHECK(print("-128 65535 -9223372036854775808", "%hhd %hu %ld", (signed char)-128, (unsigned short)-1, INT64_MIN));
	CHECK(print("18446744073709551615 9223372036854775807", "%llu %jd", -1ull, INTMAX_MAX));
	CHECK(print("123 -4", "%zu %td", (size_t)123, (ptrdiff_t)-4));
	CHECK(print("12345678901", "%" PRIu64, (uint64_t)12345678901));
	CHECK(print("a|  b|c  |%", "%c|%3c|%-3c|%%", 'a', 'b', 'c'));
	CHECK(print("text|tex|   te|te   ", "%s|%.3s|%5.2s|%-5.2s", "text", "text", "text", "text"));
	CHECK(print("   7|7  |003", "%*d|%-*d|%.*d", 4, 7, 3, 7, 3, 3));
	CHECK(print("0x1000", "%p", (void *)0x1000));
	CHECK(print("1.500000 -0.5 2 1e+10", "%f %.1f %.0f %g", 1.5, -0.5, 2.0, 1e10));
	CHECK(print("3.141593e+00 3.14E+00 0.0001 1e-05", "%e %.2E %g %g", 3.14159265, 3.14159265, 1e-4, 1e-5));
	CHECK(print("  1.25|1.25  |+1.25|0001.25", "%6.2f|%-6.2f|%+.2f|%07.2f", 1.25, 1.25, 1.25, 1.25));
	CHECK(print("inf -inf nan INF", "%f %g %f %F", INFINITY, -INFINITY, NAN, INFINITY));
	/* Enough digits to read the same number back; further ones are zeros in this library. */
	CHECK(print("1.7976931348623157e+308", "%.16e", DBL_MAX) && strtod(text, NULL) == DBL_MAX);
	snprintf(text, sizeof text, "%.17g", 0.1);
	CHECK(strtod(text, NULL) == 0.1);
	CHECK(print("1234567890123456.5", "%.1f", 1234567890123456.5));
	CHECK(print("0x1.8p+1", "%a", 3.0));
	/* Cut off at the size, with the length that it would have had. */
	char small[5];
	SAME(snprintf(small, sizeof small, "%s", "too long"), 8);
	SAME(strcmp(small, "too "), 0);
	SAME(snprintf(NULL, 0, "%d", 12345), 5);
	SAME(sprintf(text, "%d%s", 1, "x"), 2);

	int number, count;
	unsigned hexadecimal;
	float single;
	double real;
	char word[16], letter;
	SAME(sscanf("-17 0xff 2.5 1e3 word z9", "%d %x %f %lf %15s %c%n", &number, &hexadecimal, &single, &real, word,
		    &letter, &count),
	     6);
	CHECK(number == -17 && hexadecimal == 255 && single == 2.5f && real == 1000 && !strcmp(word, "word"));
	CHECK(letter == 'z' && count == 23);
	SAME(sscanf("nothing", "%d", &number), 0);
	SAME(sscanf("", "%d", &number), EOF);
	char *end;
	CHECK(strtod("1.25e2rest", &end) == 125 && !strcmp(end, "rest"));
	errno = 0;
	CHECK(strtol("99999999999999999999", NULL, 10) == LONG_MAX && errno == ERANGE);
	SAME(strtol("-0x1f", NULL, 0), -31);
	CHECK(fabs(sin(1) - 0.8414709848078965) < 1e-15 && sqrt(2) * sqrt(2) - 2 < 1e-15 && pow(2, 100) == 0x1p100);
	return checked(20 + 4 + 3 + 2 + 4);
}
