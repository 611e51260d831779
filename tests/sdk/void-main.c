/* As printed in the paper: a main that answers nothing, here with an explicit end. */
#include <pebble.h>

void main(void)
{
	printf("void\n");
	exit(9);
}
