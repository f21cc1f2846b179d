"""A run as one HTML page that needs nothing else: no script, no font, no request."""
