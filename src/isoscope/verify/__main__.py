"""`python -m isoscope.verify`."""

import sys

from isoscope.verify.command import main

sys.exit(main())
