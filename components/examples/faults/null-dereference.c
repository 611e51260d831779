/* Ends by a load from address 0: exit status 139, and a message that names this line. */
#include <stdio.h>

int main(void)
{
	int *volatile nowhere = NULL;
	puts("before");
	return *nowhere;
}
