/* Never waits. */
int main(void)
{
	for (volatile unsigned long n = 0;; n++)
		;
}
