"""A summary or a trial comes in, text goes out; nothing is computed here."""
