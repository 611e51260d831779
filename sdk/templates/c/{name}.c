/* {name}: a Pebble component in C. */
#include <pebble.h>

int main(int argc, char **argv)
{
	printf("%s: hello from domain %d\n", argv[0], get_asid());
	for (int i = 1; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	return 0;
}
