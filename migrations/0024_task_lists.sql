-- A caller's list of tasks goes by the time of the last status, then by id: with the id in the index, a page is one
-- range of it in each partition.
DROP INDEX tasks_of_caller;
CREATE INDEX tasks_of_caller ON tasks (tenant_id, caller, updated_at DESC, id DESC);
