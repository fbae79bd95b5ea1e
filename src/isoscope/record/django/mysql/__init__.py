"""The backend of Django for MariaDB and MySQL, recorded."""
