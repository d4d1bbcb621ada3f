-- The calls that a task has made, for its owner.
CREATE INDEX tasks_of_parent ON tasks (tenant_id, parent_id) WHERE parent_id IS NOT NULL;
