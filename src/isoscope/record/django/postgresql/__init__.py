"""The backend of Django for PostgreSQL, recorded."""
