"""Applications of the papers as SQL programs, which are recorded like any other program."""
