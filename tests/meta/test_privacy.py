"""The repository speaks of the project alone: of no machine it was written on."""

import re

PLACES = re.compile(
    rb"(?<![\w./-])/(?:root|work|home/(?!user\b|me\b)[\w.-]+|Users/(?!me\b)[\w.-]+)/[\w.]"
    rb"|\b[A-Z]:\\Users\\\w"
)
HOSTS = re.compile(
    rb"(?:pypi|npmjs|pythonhosted|yarnpkg|crates|rubygems|anaconda)\.(?:org|com|io)\b"
    rb"|\bdeb\.debian\.|\barchive\.ubuntu\.|\bproxy\.golang\."
)


def lines_with(pattern, files, root):
    return [
        f"{file.relative_to(root).as_posix()}:{number}: {line[:160]!r}"
        for file in files
        for number, line in enumerate(file.read_bytes().splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_holds_a_path_of_a_developers_machine(repository_files, root):
    assert lines_with(PLACES, repository_files, root) == []


def test_no_file_names_the_host_of_a_package_registry(repository_files, root):
    assert lines_with(HOSTS, repository_files, root) == []
