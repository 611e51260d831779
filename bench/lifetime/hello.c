/* The component that row 10 starts: it says one line and ends. */
#include <pebble.h>

int main(void)
{
	puts("hello, world");
	return 0;
}
