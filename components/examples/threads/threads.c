/* Threads in one domain: fork() as in the paper, thread_create() with an argument, semaphores between them. */
#include <pebble.h>

#define ROUNDS 1000

static int ready, done;
static int total; /* guarded by `guard` */
static int guard;

static void add(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(guard);
		total += (int)(intptr_t)argument;
		sem_post(guard);
	}
	sem_post(done);
}

int main(void)
{
	ready = sem_create(0);
	done = sem_create(0);
	guard = sem_create(1);

	/* A local variable of the new thread is its own copy; a static one is shared. */
	int local = 7;
	int *pointer = &local;
	int thread = fork();
	if (thread < 0) {
		fprintf(stderr, "fork: error %d\n", thread);
		return 1;
	}
	if (thread == 0) {
		*pointer = 8;
		printf("child: local %d at %s address\n", local, pointer == &local ? "its own" : "a foreign");
		sem_post(ready);
		thread_exit();
	}
	sem_wait(ready);
	printf("parent: local %d\n", local);

	for (int i = 1; i <= 3; i++) {
		int result = thread_create(add, (void *)(intptr_t)i);
		if (result < 0) {
			fprintf(stderr, "thread_create: error %d\n", result);
			return 1;
		}
	}
	for (int i = 1; i <= 3; i++)
		sem_wait(done);
	printf("total %d\n", total);
	return total == 6 * ROUNDS ? 0 : 1;
}
