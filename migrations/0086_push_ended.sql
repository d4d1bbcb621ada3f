-- Why nothing is sent to a receiver any more. NULL: it is not dead.
ALTER TABLE push_configs ADD COLUMN ended text;
