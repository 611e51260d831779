/* see Section 6.1 for explanations */

#include <pebble.h>

#define N 10000

int child_asid;
int count[NPORTALS];

/* child domain runs this routine */
void measure(void)
{
	int code, i;
	unsigned long long start, elapsed;
	int sem_id1, sem_id2;

	/* create semaphores */
	sem_id1 = sem_create(0);
	sem_id2 = sem_create(0);

	/* create child thread in the same domain */
	if ((code = fork()) == 0) {
		/* child thread wakes parent */
		sem_post(sem_id1);

		for (i = 0;; i++) {
			sem_wait(sem_id2);
			sem_post(sem_id1);
		}

		/* never reached */
	}

	/* parent thread waits until child is active for accurate timing */
	sem_wait(sem_id1);

	/* time semaphore ping-pong with child */
	start = hrtime();

	for (i = 0; i < N; i++) {
		sem_post(sem_id2);
		sem_wait(sem_id1);
	}
	elapsed = 2*(hrtime() - start);

	printf("each iteration: %d cycles\n", (int)(elapsed/N));
}

void dump_counters(void)
{
	int i;

	for (i = 1; i < NPORTALS; i++)
		if (count[i] != 0)
			printf("portal %d called %d times\n", i, count[i]);
}

/* parent domain intercepts child portal call */
int intercept(int id, int p1, int p2,
			int p3, int p4, int p5)
{
	count[id]++;
	if (id == SYS_EXIT)
		dump_counters();

	return invoke_portal(id, p1, p2, p3, p4, p5);
}

/* parent domain gets notification */
int notify(int asid, int id, char *template)
{
	char s[NAMELEN];

	sprintf(s, "sm=%s", template+3);
	portal_create_child(child_asid,
		id, s, 0, intercept);
	return 0;
}

void main(void)
{
	portal_notify(notify);
	child_asid = domain_fork(intercept);
	if (child_asid == 0) {
		/* child domain */
		measure();
		exit(0);
	}

	/* parent waits here until child exits */
	sem_wait(sem_create(0));
}
