/* Ends with the status that its argument says, in the way that its second argument says. */
#include <pebble.h>
#include <string.h>

static int status;

static void exit_late(void)
{
	_exit(status);
}

int main(int argc, char **argv)
{
	status = argc > 1 ? atoi(argv[1]) : 0;
	const char *way = argc > 2 ? argv[2] : "return";
	printf("unended");
	if (!strcmp(way, "exit"))
		exit(status);
	if (!strcmp(way, "portal")) {
		fflush(stdout);
		invoke_portal(SYS_EXIT, status, 0, 0, 0, 0);
	}
	if (!strcmp(way, "atexit"))
		atexit(exit_late);
	if (!strcmp(way, "thread")) {
		if (fork() == 0)
			exit(status);
		for (;;)
			yield();
	}
	return status;
}
