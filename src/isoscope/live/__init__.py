"""Online checking: batches in, a journal on disk, verdicts while the database runs."""
