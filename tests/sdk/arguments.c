/* Prints each argument between brackets, and checks what a C program may rely on. */
#include <string.h>

#include "../support/check.h"

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("[%s]\n", argv[i]);
	SAME((long)argv[argc], 0);
	/* They may be written to. */
	for (int i = 0; i < argc; i++)
		memset(argv[i], 'x', strlen(argv[i]));
	return checked(1);
}
