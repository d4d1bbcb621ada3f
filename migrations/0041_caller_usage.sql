-- What callers with limits by the day have used, so that every node knows it and a restart does not give it back. Written
-- and read by nodes alone, and kept for two days.
CREATE TABLE caller_usage (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    caller text NOT NULL,
    cpu_us bigint NOT NULL,
    stored_bytes bigint NOT NULL,
    CONSTRAINT caller_usage_pkey PRIMARY KEY (tenant_id, day, caller)
);
CREATE INDEX caller_usage_by_day ON caller_usage (day);

ALTER TABLE caller_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE caller_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY of_writer ON caller_usage TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON caller_usage TO pleat_writer;
