/* A component that does with names what it is asked to, in its own name: the program under test drives several of
   them, each with other rights. Its argument is its name: it listens at /agent/ARGUMENT. */
#include "agent.h"

#include <string.h>

static long answer(long constant)
{
	return constant;
}

/* do(constant, operation, text, number): the text lies in a window. */
static long serve(long constant, long operation, const char *window, long number)
{
	static struct text copy;
	(void)constant;
	strncpy(copy.text, window, sizeof copy.text - 1);
	switch (operation) {
	case OPEN:
		return portal_open(copy.text);
	case REGISTER:
		return portal_register(copy.text, "nmc", number, answer);
	case CALL:
		return invoke_portal(number, 0, 0, 0, 0, 0);
	case GRANT:
		return invoke_portal(portal_open(NAME_GRANT), number, (long)&copy, 0, 0, 0);
	case DELEGATE:
		return invoke_portal(portal_open(NAME_DELEGATE), number, (long)&copy, 0, 0, 0);
	case NUMBER:
		return get_asid();
	case END:
		invoke_portal(SYS_EXIT, 0, 0, 0, 0, 0);
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	char name[NAMELEN];
	if (argc < 2)
		return 1;
	snprintf(name, sizeof name, "/agent/%s", argv[1]);
	if (portal_register(name, AGENT_SPECIFICATION, 0, serve) < 0)
		return 2;
	for (;;)
		sem_wait(sem_create(0));
}
