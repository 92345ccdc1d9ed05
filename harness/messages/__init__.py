"""Foreign message shapes come in, events go out, and the other way round."""
