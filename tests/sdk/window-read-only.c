/* A window for writing on memory that may only be read is refused. */
#include <pebble.h>

#include "check.h"

int main(void)
{
	int input = portal_open(CONSOLE_READ);
	CHECK(input > 0);
	CHECK(invoke_portal(input, (long)main, 4, 0, 0, 0) == -EFAULT);
	static const char constant[] = "constant";
	CHECK(invoke_portal(input, (long)constant, 4, 0, 0, 0) == -EFAULT);
	puts("refused");
	return 0;
}
