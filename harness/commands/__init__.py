"""Arguments come in, an exit code goes out: one module a command."""
