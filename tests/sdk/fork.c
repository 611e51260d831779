/* fork(): deep stacks, pointers in registers and on the stack, floating point, thread-local data, many times. */
#include <pebble.h>
#include <string.h>

#include "check.h"

static int done, failures;
static _Thread_local int own = 1;

struct node {
	struct node *up;
	int value;
};

static int sum(const struct node *node)
{
	int total = 0;
	for (; node; node = node->up)
		total += node->value;
	return total;
}

/* A list through the frames of a recursion; at the bottom the thread forks, and both walk it. */
static int descend(struct node *up, int depth, double scale)
{
	struct node here = { up, depth };
	char text[32];
	double scaled = scale * depth;
	if (depth < 100) {
		int below = descend(&here, depth + 1, scale);
		sprintf(text, "%d", depth);
		return below + (here.up == up && here.value == depth && atoi(text) == depth && scaled == 0.5 * depth ? 0 : 1);
	}
	int before = sum(&here);
	own = 7;
	int thread = fork();
	if (thread < 0)
		return 1000;
	if (thread == 0) {
		if (own != 7)
			failures++;
		own = 8;
		for (struct node *node = &here; node; node = node->up)
			node->value *= 2;
		if (sum(&here) != 2 * before || scaled != 50.0)
			failures++;
		for (struct node *node = &here; node; node = node->up)
			node->value /= 2;
	} else {
		sem_wait(done);
		if (own != 7 || sum(&here) != before)
			failures++;
	}
	return 0;
}

int main(void)
{
	done = sem_create(0);
	int main_thread = get_thread();
	int wrong = descend(NULL, 1, 0.5);
	if (get_thread() != main_thread) {
		/* The new thread came back through a hundred copied frames. */
		failures += wrong;
		sem_post(done);
		thread_exit();
	}
	CHECK(wrong == 0 && failures == 0);

	/* Slots are used again: many more threads than there are slots, a few at a time. */
	static int count;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++) {
			int thread = fork();
			CHECK(thread >= 0);
			if (thread == 0) {
				__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
				sem_post(done);
				thread_exit();
			}
		}
		for (int i = 0; i < 4; i++)
			sem_wait(done);
	}
	CHECK(count == 200);
	puts("forked");
	return 0;
}
