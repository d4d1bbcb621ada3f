-- A repeated message that continued a task is told what its own turn brought: what follows this event.
ALTER TABLE task_keys ADD COLUMN after_seq integer NOT NULL DEFAULT 0;
