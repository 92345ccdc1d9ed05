from pathlib import Path


def note(text):
    with Path(__file__).with_name("notes.txt").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
