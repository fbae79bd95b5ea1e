"""What `import isoscope` offers: check, search, shrink and watch, whatever the history is in."""

from isoscope.api.checking import check, history_of, search
from isoscope.api.shrinking import Question, shrink
from isoscope.api.watching import Watch, watch

__all__ = ["Question", "Watch", "check", "history_of", "search", "shrink", "watch"]
