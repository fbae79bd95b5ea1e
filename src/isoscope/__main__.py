"""`python -m isoscope` is the command line."""

from isoscope.cli import main

main()
