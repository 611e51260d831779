/* Every byte value on standard output, the escape of the serial line's framing among them; words on standard error. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	fputs("to the errors\n", stderr);
	for (int index = 1; index < argc; index++)
		printf("%s\n", argv[index]);
	printf("a\020b\0201c\020\020d\n");
	return 300;
}
