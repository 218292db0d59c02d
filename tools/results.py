"""The result of a test run."""

import dataclasses


@dataclasses.dataclass
class Results:
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)  # names
    skipped: list[str] = dataclasses.field(default_factory=list)  # "name: reason"

    def add(self, other: "Results") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        line = f"{self.passed} passed, {len(self.failed)} failed"
        return f"{line}, {len(self.skipped)} skipped" if self.skipped else line
