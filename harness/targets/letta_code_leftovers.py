"""What a run of Letta Code that was killed has left on this machine, and how it goes.

All of it blocks; call it in a thread.
"""

from harness.system.child_environment import RUN_MARK
from harness.system.processes import kill_marked
from harness.system.scratch_folders import remove_folder
from harness.targets.letta_code_folders import forget_keys, run_folders
from harness.targets.letta_code_preparation import PREPARED


def clean_machine(run_id: str, keeps_files: bool) -> list[str]:  # noqa: FBT001  (of in_thread)
    """End the processes of a run and delete its folders; return a line for each thing.

    Folders that shall be kept lose the keys in them.

    Raises:
        OSError: a folder cannot be deleted.
    """
    ended = kill_marked(RUN_MARK, run_id)
    gone = [f"{ended} processes of Letta Code" if ended > 1 else "a process of Letta Code"]
    gone = gone if ended else []
    for folder in run_folders(run_id):
        kept = sorted(folder.glob("trial-*/home")) if keeps_files else []
        for home in kept:
            forget_keys(home)
        removed = folder / PREPARED if kept else folder
        if removed.exists():
            remove_folder(removed)
            gone.append(f"folder {removed}")
    return gone
