-- What was used, by tenant, day and skill. Nodes sum it up in memory and add it here every few seconds.
CREATE TABLE usage (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    skill text NOT NULL,
    calls bigint NOT NULL,
    failures bigint NOT NULL,
    cpu_us bigint NOT NULL,
    wall_us bigint NOT NULL,
    input_bytes bigint NOT NULL,
    output_bytes bigint NOT NULL,
    upload_bytes bigint NOT NULL,
    CONSTRAINT usage_pkey PRIMARY KEY (tenant_id, day, skill)
);
CREATE INDEX usage_by_day ON usage (day);

ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON usage FOR SELECT TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON usage TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON usage TO pleat_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage TO pleat_writer;
