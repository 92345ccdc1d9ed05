"""A trajectory comes in, grades and a trial's verdict go out."""
