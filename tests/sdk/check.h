/* A check that says where it failed, and ends the program with status 1. */
#define CHECK(condition)                                                                  \
	do {                                                                              \
		if (!(condition)) {                                                       \
			printf("%s:%d: not so: %s\n", __FILE_NAME__, __LINE__, #condition); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)
