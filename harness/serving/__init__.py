"""A script comes in, an OpenAI-compatible model server on loopback goes out."""
