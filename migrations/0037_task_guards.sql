-- What guardrails noted on a task: the rules its caller is warned of, and which hash has which placeholder.
ALTER TABLE tasks ADD COLUMN guard json;
