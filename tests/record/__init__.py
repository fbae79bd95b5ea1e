"""Recording programs: SQL, drivers, interpretation, stress."""
