/* What a counting pager writes into each page that it gives. */
#ifndef COUNTING_PAGER_H
#define COUNTING_PAGER_H

struct given {
	long mark;      /* whose page it is */
	long number;    /* how many it had given with this one */
	long address;   /* where the fault was, */
	long access;    /* in which way, */
	long cookie;    /* and what the region's owner wanted the handler to be told */
};

/* A region with this cookie ends the pager. */
#define FATAL 666

#endif
