-- What functions logged: one row per commit, several lines each. Belongs to the tenant, never to a caller.
CREATE TABLE task_logs (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    seq integer NOT NULL,
    skill text NOT NULL,
    version integer NOT NULL,
    at timestamptz NOT NULL,
    lines json NOT NULL,
    CONSTRAINT task_logs_pkey PRIMARY KEY (task_id, seq)
) PARTITION BY RANGE (task_id);
CREATE INDEX task_logs_of_tenant ON task_logs (tenant_id, at DESC);

ALTER TABLE task_logs ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_logs FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON task_logs TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON task_logs TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON task_logs TO pleat_app;
GRANT SELECT, INSERT ON task_logs TO pleat_writer;
