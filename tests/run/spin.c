/* Runs for ever: the report names the function that the processor was in. */
static volatile int turns;

__attribute__((noinline)) static void spin(void)
{
	for (;;)
		turns++;
}

int main(void)
{
	spin();
}
