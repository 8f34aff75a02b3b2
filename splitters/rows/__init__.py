"""The rows of the table, by family, each beside the functions that name its declarations."""
