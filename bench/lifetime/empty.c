/* The least that a C component can do: it is started and ends. */
int main(void)
{
	return 0;
}
