"""The backend of Django for SQLite, recorded."""
