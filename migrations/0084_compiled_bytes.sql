-- The size of a version's compiled code, which its tenant is charged for while the version is active. Versions from before are
-- charged when they are deployed again.
ALTER TABLE function_versions ADD COLUMN compiled_bytes bigint NOT NULL DEFAULT 0;
