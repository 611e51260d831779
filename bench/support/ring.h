/* A ring of protection domains, one thread in each, as the papers' yield, semaphore and pipe measurements have it.

   The members are made by domain_fork(0): memory of their own, a portal table shared with the program, so that all
   use the same semaphores and pipes with the same portals. */
#ifndef RING_H
#define RING_H

#include "measure.h"

#define RING_MOST 8

static int ring_size;              /* domains, the program's own included */
static int ring_place;             /* of this domain: 0 is the program */
static int ring_domain[RING_MOST]; /* numbers; a member knows those before it */

/* Makes the members 1 to size - 1, each of which runs `member()`, which never returns. */
static inline void ring_make(int size, void (*member)(void))
{
	ring_size = size;
	ring_place = 0;
	ring_domain[0] = get_asid();
	for (int place = 1; place < size; place++) {
		int child = measure_good("domain_fork", domain_fork(0));
		if (child == 0) {
			ring_place = place;
			member();
			exit(1);
		}
		ring_domain[place] = child;
	}
}

static inline void ring_end(void)
{
	for (int place = 1; place < ring_size; place++)
		measure_good("domain_kill", domain_kill(ring_domain[place]));
}
#endif
