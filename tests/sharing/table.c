/* A portal table that parent and child share: what one opens, the other can use; memory is not shared. */
#include <pebble.h>
#include <stdio.h>

static volatile int private_word = 1;

int main(void)
{
	int ready = sem_create(0), answer = sem_create(0);
	int child = domain_fork(0);
	if (child == 0) {
		private_word = 2;
		int made = sem_create(5); /* appears in the parent's table too */
		printf("child %d: word %d, semaphore %d\n", get_asid() != 0, private_word, made);
		fflush(stdout);
		sem_post(ready);
		sem_wait(answer);
		printf("child: gets on\n");
		exit(0);
	}
	sem_wait(ready);
	printf("parent: word %d\n", private_word);
	for (int i = 0; i < 5; i++)
		printf("parent: %d\n", sem_wait(answer + 2)); /* the child's semaphore */
	fflush(stdout);
	sem_post(answer);
	hrsleep(hrtime() + 20000000);
	printf("parent: the table outlives the child: %d %d\n", sem_post(answer + 2), sem_wait(answer + 2));
	printf("parent: the child is gone: %d\n", domain_kill(child));
	return 4;
}
