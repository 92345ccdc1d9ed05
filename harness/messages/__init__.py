"""Foreign message shapes come in, events go out."""
