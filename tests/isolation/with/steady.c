/* Goes on counting, and looks after its memory and registers at every step. */
#include "../../portals/registers.h"
#include "../../servers/protocol.h"

static uint64_t memory[8192];
static volatile long steps, errors;

static long report(int c, int which)
{
	(void)c;
	return which ? errors : steps;
}

int main(void)
{
	uint64_t value = 1;
	for (int i = 0; i < 8192; i++)
		memory[i] = i * 0x9e3779b97f4a7c15;
	if (portal_register("/test/steady/report", "nmci", 0, report) < 0)
		return 1;
	int s = sem_create(0);
	for (;;) {
		struct state after;
		held_over(SYS_YIELD, &after, 0, 0, 0);
		errors += wrong_integers(&after) + wrong_floats(&after, 1) + (after.fcsr != 0x61);
		for (int i = 0; i < 8192; i++)
			errors += memory[i] != i * 0x9e3779b97f4a7c15;
		for (int i = 0; i < 1000; i++)
			value = value * 6364136223846793005 + 1442695040888963407;
		errors += sem_post(s) != 0 || sem_wait(s) != 0;
		steps++;
	}
}
