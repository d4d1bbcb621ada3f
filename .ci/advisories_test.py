#!/usr/bin/env python3
"""Tests of .ci/advisories, with a small made-up database."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import tempfile
import unittest
from pathlib import Path

LOADER = importlib.machinery.SourceFileLoader("advisories", str(Path(__file__).with_name("advisories")))
advisories = importlib.util.module_from_spec(importlib.util.spec_from_loader("advisories", LOADER))
LOADER.exec_module(advisories)

ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2026-0001"
package = "badcrate"
date = "2026-01-01"
{more}
[versions]
patched = [">= 1.2.3, < 2.0.0-0", "^2.4"]
unaffected = ["< 1.0.0"]
```

# A made-up fault
"""

LOCK = """version = 4

[[package]]
name = "badcrate"
version = "{version}"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "pleat"
version = "0.1.0"
"""


class Requirements(unittest.TestCase):
    def test_comparators_are_those_of_cargo(self):
        inside = [
            (">= 1.2.3", "1.2.3"), ("> 1.2", "1.3.0"), ("< 1.0.0", "0.9.9"), ("<= 1.2", "1.2.9"), ("=1.2", "1.2.7"),
            ("^1.2", "1.9.0"), ("^0.2.3", "0.2.9"), ("^0.0.3", "0.0.3"), ("~1.2.3", "1.2.9"), ("~1", "1.9.0"),
            ("1.2", "1.3.0"), (">= 1.0.0, < 2.0.0", "1.5.0"), ("< 2.0.0", "2.0.0-rc.1"), ("*", "3.0.0"),
            (">= 1.0.0-alpha.2", "1.0.0-alpha.10"),
        ]
        outside = [
            (">= 1.2.3", "1.2.2"), ("> 1.2", "1.2.9"), ("< 1.0.0", "1.0.0"), ("^1.2", "2.0.0"), ("^0.2.3", "0.3.0"),
            ("^0.0.3", "0.0.4"), ("~1.2.3", "1.3.0"), (">= 1.0.0, < 2.0.0", "2.0.0"), (">= 1.0.0", "1.0.0-rc.1"),
        ]
        for requirement, version in inside:
            self.assertTrue(advisories.fits(version, requirement), f"{version} in {requirement}")
        for requirement, version in outside:
            self.assertFalse(advisories.fits(version, requirement), f"{version} in {requirement}")


class Check(unittest.TestCase):
    def run_with(self, version, more="", arguments=None):
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            (place / "crates/badcrate").mkdir(parents=True)
            (place / "crates/badcrate/RUSTSEC-2026-0001.md").write_text(ADVISORY.format(more=more))
            (place / "Cargo.lock").write_text(LOCK.format(version=version))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = advisories.main([str(place), "--lock", str(place / "Cargo.lock")])
            return code, out.getvalue()

    def test_a_vulnerable_version_fails_and_is_named(self):
        code, out = self.run_with("1.2.2")
        self.assertEqual(code, 1)
        self.assertIn("badcrate 1.2.2: RUSTSEC-2026-0001", out)

    def test_patched_and_unaffected_versions_pass(self):
        for version in ["1.2.3", "2.4.0", "0.9.0"]:
            self.assertEqual(self.run_with(version)[0], 0, version)
        self.assertEqual(self.run_with("2.3.0")[0], 1)

    def test_a_withdrawn_advisory_is_silent_and_an_informational_one_warns(self):
        self.assertEqual(self.run_with("1.0.0", 'withdrawn = "2026-02-01"'), (0, "1 packages, 0 vulnerable\n"))
        code, out = self.run_with("1.0.0", 'informational = "unmaintained"')
        self.assertEqual(code, 0)
        self.assertIn("warning: ", out)

    def test_without_a_database_it_says_that_it_was_skipped(self):
        os.environ.pop("PLEAT_ADVISORY_DB", None)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(advisories.main([]), 0)
        self.assertIn("skipped: no advisory database", out.getvalue())

    def test_a_directory_that_is_no_database_is_an_error(self):
        with tempfile.TemporaryDirectory() as place, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(advisories.main([place]), 2)


if __name__ == "__main__":
    unittest.main()
