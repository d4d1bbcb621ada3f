-- A step of a run is a task below it: `step` says which attempt at which step. `run` is what a run is pinned to.
ALTER TABLE tasks ADD COLUMN step text, ADD COLUMN run json;
